"""The driver of Python: runs the code that comes over descriptor 3, one piece after the other, in
one namespace. `run ID SIZE FLAGS` comes; `ready 0 SIZE`, `part ID SIZE` and `done ID SIZE` go, each
with JSON behind it. Descriptors 1 and 2 are the user's alone.

Everything that is needed later is imported here: once user code runs, a file that is called json.py
in its directory would be found first."""
import __future__
import ast
import atexit
import base64
import builtins
import fcntl
import gc
import importlib.machinery
import importlib.util
import io
import json
import linecache
import os
import resource
import stat
import sys
import traceback
import types
import _io
import _signal as signal  # without its enumerations, which cost more than all else in a small run

KEPT_SOURCES = 100  # runs whose lines later tracebacks can quote
MAX_VALUE = 10_000  # characters of a value's repr
MAX_PART = 8 << 20  # bytes of a part
CODE_FILE = sys.argv[1] if len(sys.argv) > 1 else "main.py"  # of code that is a whole program
c_library = None  # once somebody may use it
to_json = json.JSONEncoder(ensure_ascii=False, default=str).encode
FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


class Control:
    """The channel to the host, on a number that no child inherits."""

    def __init__(self, fd):
        self.fd = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
        self.come = bytearray()  # and not taken yet
        os.close(fd)
        self.recognize()

    def recognize(self):
        self.identity = os.fstat(self.fd)[1:3]

    def is_open(self):
        """Not after user code closed all descriptors; the number may even be another file's now."""
        try:
            return os.fstat(self.fd)[1:3] == self.identity
        except OSError:
            return False

    def leave(self):  # in a fork; once, for in a fork of that one the number may be the user's
        if self.fd >= 0:
            self.fd = os.close(self.fd) or -1

    def read_more(self):
        try:
            piece = os.read(self.fd, 1 << 16 if self.come else 1 << 12)
        except Exception as error:  # from a signal handler of the user's: nothing was read yet
            return report(error) if self.is_open() else os._exit(1)
        if not piece:
            os._exit(0)  # the host has gone
        self.come += piece

    def read_order(self):
        while (begin := self.come.find(b"\n", 0, 300) + 1) == 0:
            if len(self.come) >= 300:
                os._exit(1)
            self.read_more()
        word, number, size, flags = self.come[:begin].decode().split()
        if word not in ("run", "fork", "reap", "copied"):
            os._exit(1)
        end = begin + int(size)
        while len(self.come) < end:
            self.read_more()
        code = self.come[begin:end]
        del self.come[:end]
        return word, number, code, flags.split(",")

    def send(self, kind, number, payload):
        data = to_json(payload).encode(errors="replace")  # half a surrogate pair is no text
        data = memoryview(f"{kind} {number} {len(data)}\n".encode() + data)
        while data:
            data = data[os.write(self.fd, data):]


class Display:
    """Turns objects into parts. It knows libraries by name and never imports one."""

    TYPES = {"_repr_png_": "image/png", "_repr_jpeg_": "image/jpeg", "_repr_html_": "text/html",
             "_repr_json_": "application/json"}

    def __init__(self):
        self.control = None  # until there is a session
        self.number = "0"

    def send(self, mime, data):
        encoding = "utf-8"
        if isinstance(data, (bytes, bytearray)):
            data, encoding = base64.b64encode(data).decode(), "base64"
        elif mime.startswith("image/"):
            encoding = "base64"  # Jupyter's objects may give it ready
        elif not isinstance(data, str):
            data = to_json(data)
        if len(data) > MAX_PART - 4096:
            mime, encoding = "text/plain", "utf-8"
            data = f"[a part of {len(data)} bytes was left out: at most {MAX_PART} fit]"
        self.control.send("part", self.number, {"type": mime, "data": data, "encoding": encoding})

    def show(self, value):
        """Every rich form of a value; returns whether there was one."""
        figure = sys.modules.get("matplotlib.figure")
        if figure and isinstance(value, figure.Figure):
            self.figure(value)
            return True
        shown = False
        for name, mime in self.TYPES.items():
            # On the type, as Python does itself: a mock object has every attribute.
            method = getattr(type(value), name, None)
            try:
                data = method(value) if callable(method) else None
                if isinstance(data, tuple):  # with metadata
                    data = data[0]
                if data is not None:
                    self.send(mime, data)
                    shown = True
            except Exception:  # a broken picture is no reason to fail a run that went well
                traceback.print_exc(limit=-1)
        return shown

    def display(self, *values):
        for value in values:
            if not self.show(value):
                print(value if isinstance(value, str) else repr(value))

    def figure(self, figure):
        data = io.BytesIO()
        figure.savefig(data, format="png", bbox_inches="tight")
        self.send("image/png", data.getvalue())
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot:
            pyplot.close(figure)  # shown is shown: not again at the end

    def figures(self):
        """All figures that are open: plt.show(), and the end of a run."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        for number in pyplot.get_fignums() if hasattr(pyplot, "get_fignums") else []:
            self.figure(pyplot.figure(number))

    # A finder (sys.meta_path) that finds nothing itself: it sees the two modules come whose way of
    # showing would look for a screen.
    def find_spec(self, name, path=None, target=None):
        if name not in ("matplotlib.pyplot", "PIL.ImageShow"):
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec and hasattr(spec.loader, "exec_module"):
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                if name == "PIL.ImageShow":
                    module.register(self.Viewer(self), 0)
                else:
                    module.show = lambda *_, **__: self.figures()  # pyplot wants a plain function

            spec.loader.exec_module = exec_module
        return spec

    class Viewer:
        def __init__(self, display):
            self.display = display

        def show(self, image, **_):
            return self.display.show(image)


class Waiting:
    """The event loop of awaits at the top level. A KeyboardInterrupt in the midst of the loop's own
    code would break it: a task that was about to go on never would, or the loop would be "already
    running" for ever. So SIGINT raises only where user code runs. Elsewhere it cancels the task,
    which then stops where it waits."""

    def __init__(self):
        import asyncio  # costs more than all the rest together
        self.asyncio = asyncio
        self.loop = asyncio.new_event_loop()
        # Wakes the loop even from a wait that began between a signal and its handler.
        self.woken, self.wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.loop.add_reader(self.woken, os.read, self.woken, 4096)

    def usable(self):
        """Not after user code closed it, or a signal handler of its own raised in the midst of it."""
        if not self.loop.is_closed() and not self.loop.is_running():
            return True
        self.asyncio._set_running_loop(None)
        os.close(self.woken)
        os.close(self.wake)
        return False

    def run(self, begin):
        self.asyncio.set_event_loop(self.loop)
        self.asked = self.stops = 0
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return self.loop.run_until_complete(begin())  # the user's own handler: theirs to decide
        signal.signal(signal.SIGINT, self.on_interrupt)
        if (wake := signal.set_wakeup_fd(self.wake)) != -1:  # the loop's own: it will do as well
            signal.set_wakeup_fd(wake)
        try:
            self.task = self.loop.create_task(begin())
            value = self.finish()
        except self.asyncio.CancelledError as cancelled:
            if not self.asked:
                raise
            raise KeyboardInterrupt().with_traceback(cancelled.__traceback__) from None
        finally:
            if (wake := signal.set_wakeup_fd(-1)) != self.wake:
                signal.set_wakeup_fd(wake)
            if signal.getsignal(signal.SIGINT) == self.on_interrupt:
                signal.signal(signal.SIGINT, signal.default_int_handler)
        if self.asked:  # too late to be noticed, or cancelled in vain
            raise KeyboardInterrupt
        return value

    def finish(self):
        try:
            return self.loop.run_until_complete(self.task)
        except KeyboardInterrupt:
            if self.task.done():
                raise
            # It struck another task, or this one takes its time: the last chance to end well.
            self.task.cancel()
            return self.loop.run_until_complete(self.task)

    def on_interrupt(self, _signal, frame):
        self.asked += 1
        user = self.asyncio.current_task(self.loop)
        while frame and not user:
            user = frame.f_code.co_filename.startswith("<run ")
            frame = frame.f_back
        if user:
            raise KeyboardInterrupt
        self.loop.call_soon_threadsafe(self.stop)

    def stop(self):
        """In the loop, between two steps of anything."""
        self.stops += 1
        if self.stops > 1:
            raise KeyboardInterrupt
        self.task.cancel()


class Session:
    """The user's side: a module that is __main__, and what runs in it."""

    def __init__(self, display):
        self.display = display
        self.make_module()
        self.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self.sources = []
        self.waiting = None
        self.mask, self.place = 0o022, "/workspace"
        self.on_interrupt = signal.default_int_handler

    def make_module(self):
        sys.modules["__main__"] = module = types.ModuleType("__main__")
        self.names = module.__dict__
        self.names.update(__annotations__={}, __builtins__=builtins)

    def arm(self):
        signal.signal(signal.SIGINT, self.on_interrupt)

    def disarm(self):
        """SIGINT does nothing from here on. A function and not SIG_IGN: children would inherit that."""
        while signal.getsignal(signal.SIGINT) is not ignore:
            try:
                handler = signal.getsignal(signal.SIGINT)
                if handler is not None:
                    self.on_interrupt = handler
                signal.signal(signal.SIGINT, ignore)
            except BaseException:  # one more SIGINT, at this very moment: the run is over in any case
                pass

    def remember_place(self):
        self.mask = os.umask(0o022)
        os.umask(self.mask)
        try:
            self.place = os.getcwd()
        except OSError:  # it was removed
            self.place = "/workspace"

    def become_copy(self):
        """Memory was copied from another process; what the kernel knew of that one was not."""
        os.umask(self.mask)
        try:
            os.chdir(self.place)
        except OSError as error:
            report(error)
        self.waiting = None  # its descriptors are placeholders
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if callable(handler) or handler is signal.SIG_IGN:
                signal.signal(number, handler)

    def compile(self, name, code, echo):
        """The code, and its last expression for itself."""
        # A program is a file, where a comment may name an encoding: Python itself is to look.
        text = code.decode(errors="replace" if name == CODE_FILE else "strict").removeprefix("\ufeff")
        # As Python itself divides lines, and each with an end: carets are counted from there.
        lines = io.StringIO(text if text.endswith("\n") else text + "\n", None).readlines()
        linecache.cache[name] = (len(text), None, lines, name)
        self.sources.append(name)
        if len(self.sources) > KEPT_SOURCES:
            linecache.cache.pop(self.sources.pop(0), None)
        tree, last = bytes(code) if name == CODE_FILE else text, None
        if echo:
            tree = compile(text, name, "exec", self.flags | ast.PyCF_ONLY_AST, True)
        if echo and tree.body and isinstance(tree.body[-1], ast.Expr) and not text.rstrip().endswith(";"):
            last = ast.Expression(tree.body.pop().value)
        body = compile(tree, name, "exec", self.flags, True)
        self.flags |= body.co_flags & FUTURES  # from __future__ import ... holds on, as at a prompt
        return body, last and compile(last, name, "eval", self.flags, True)

    def evaluate(self, codes):
        """The value of the last one. One await (CO_COROUTINE) puts all of them into the event loop."""
        if not any(code.co_flags & 0x80 for code in codes):
            return [eval(code, self.names) for code in codes][-1]
        if self.waiting is None or not self.waiting.usable():
            self.waiting = Waiting()
        return self.waiting.run(lambda: self.evaluate_waiting(codes))

    async def evaluate_waiting(self, codes):
        for code in codes:
            value = eval(code, self.names)
            if code.co_flags & 0x80:
                value = await value
        return value

    def execute(self, name, code, echo):
        """Runs one piece. What `done` says, or raises SystemExit."""
        result = {"status": 0}
        try:
            try:
                self.arm()
                body, last = self.compile(name, code, echo)
                value = self.evaluate([body, last] if last else [body])
                if value is not None:
                    builtins._ = value
                    text = repr(value)
                    cut = f"... [{len(text)} characters]" if len(text) > MAX_VALUE else ""
                    result["value"] = text[:MAX_VALUE - len(cut)] + cut
                    self.display.show(value)
                self.display.figures()
            finally:
                self.disarm()
        except SystemExit:
            raise
        except BaseException as error:
            self.disarm()
            result = {"status": 1, "error": describe(error)}
            if isinstance(error, KeyboardInterrupt):
                result.update(status=130, interrupted=True)
            report(error)
        return result


def ignore(_signal, _frame):
    pass


def describe(error):
    """One line: KeyError: 'x'."""
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:  # its own __str__ fails
        text = type(error).__name__
    return " ".join(text.split())[:1000].rstrip(":")


def report(error):
    """A traceback of the user's frames only: those before the first line of a run are the driver's."""
    trace = error.__traceback__
    while trace and not trace.tb_frame.f_code.co_filename.startswith(("<run ", CODE_FILE)):
        trace = trace.tb_next
    for stream in (sys.stderr, sys.__stderr__):  # the first one may be anything now, or closed
        try:
            if sys.excepthook is not sys.__excepthook__:
                return sys.excepthook(type(error), error, trace)
            if stream is None:
                return None  # nobody is to hear of it; as a file, None would mean standard output
            return traceback.print_exception(type(error), error, trace, file=stream)
        except Exception:
            sys.excepthook = sys.__excepthook__


def flush():
    """All that was printed goes to the pipes: Python's buffers, replaced ones, the C library's."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except Exception:  # closed, or replaced by something that cannot
            pass
    global c_library  # looking it up costs more than all flushing
    ctypes = sys.modules.get("ctypes")
    if c_library is None and hasattr(ctypes, "CDLL"):
        c_library = ctypes.CDLL(None)
    if c_library is not None:
        c_library.fflush(None)


def warm():
    """Everything that can be done ahead. Nothing here suffers from a fork: no thread, no event loop."""
    session = Session(Display())
    # By lines, although these are pipes: what a run printed is there even when it has to be killed.
    sys.stdout.reconfigure(encoding="utf-8", errors=sys.stdout.errors, line_buffering=True)
    sys.stderr.reconfigure(encoding="utf-8", errors=sys.stderr.errors)
    signal.signal(signal.SIGINT, ignore)
    body, last = session.compile("<warm>", b"import io\nprint('x', file=io.StringIO())\n1", True)
    exec(body, {})
    session.display.show(eval(last))
    return session


def exit_status(leaving):
    """What Python makes of SystemExit."""
    if leaving.code is None or isinstance(leaving.code, int):
        return (leaving.code or 0) & 255
    print(leaving.code, file=sys.__stderr__ if sys.stderr is None else sys.stderr)
    return 1


def usage():
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    return {"cpu_us": int(seconds * 1e6), "peak_kib": max(own.ru_maxrss, children.ru_maxrss)}


def become_program(session, path, code):
    """The code is in a file, and everything says so."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        try:
            while code:
                code = code[os.write(file, code):]
        finally:
            os.close(file)
    except OSError:
        pass  # only a program that reads itself would notice
    session.make_module()  # a new one: what was made ahead is frozen, and so never let go
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    session.names.update(__loader__=loader, __file__=path, __cached__=None)
    sys.argv[0] = path
    sys.orig_argv[1:] = [path]
    sys.path[0] = os.path.dirname(path)


def let_go(session):
    """All that the program made comes to its end, as when Python itself ends: what only the program's
    own modules hold is finalized, and files that are open all the same lose nothing."""
    if sys.stdout is not sys.__stdout__ or sys.stderr is not sys.__stderr__:
        flush()
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    session.names = None
    sys.modules.pop("__main__", None)
    for name in list(sys.modules)[session.modules:]:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(session.home):
            del sys.modules[name]
    gc.collect()  # of the program's objects alone: the others are frozen
    files = [each for each in gc.get_objects() if issubclass(type(each), _io._IOBase)]
    for file in sorted(files, key=depth):
        try:
            # Into a pipe, a thread may be writing for ever; it holds the lock.
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                file.close() if depth(file) == 1 else file.flush()
        except Exception:  # closed, or not open for writing
            pass


def depth(file):
    """Text is outside, then comes what packs it and has a last word to write, then what only waits."""
    packs = (issubclass(type(file), _io._BufferedIOBase) and
             not issubclass(type(file), (_io.BufferedWriter, _io.BufferedReader, _io.BufferedRandom)))
    return 0 if issubclass(type(file), _io._TextIOBase) else 1 if packs else 2


def execute_whole(session, code):
    """The code as a program of its own: in a file, and with everything that Python does at its end."""
    become_program(session, CODE_FILE, code)
    result = {"status": 0}
    try:
        try:
            result = session.execute(CODE_FILE, code, False)
        except SystemExit as leaving:
            result["status"] = exit_status(leaving)
        session.arm()
        threading = sys.modules.get("threading")
        if hasattr(threading, "_shutdown"):
            threading._shutdown()  # waits for those that are not daemons
        atexit._run_exitfuncs()
        let_go(session)
    except BaseException as error:
        result = {"status": 130 if isinstance(error, KeyboardInterrupt) else 1}
        report(error)
    finally:
        session.disarm()
    return result | usage()


def stand_in(channel):
    """A child that only holds still: it waits where the channel was, which the fork has closed. What
    keeps it waiting is returned."""
    os.dup2(0, channel, inheritable=False)  # the number is taken: the pipe gets others
    read, write = os.pipe()
    os.dup2(read, channel, inheritable=False)
    os.close(read)
    return write


def reap(child):
    try:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    except (ProcessLookupError, ChildProcessError):
        pass  # user code ignores SIGCHLD, or waits for every child itself
    except Exception as error:  # from a signal handler of the user's
        report(error)


def serve(control, session):
    mine = os.getpid()
    child = 0
    while True:
        word, number, code, flags = control.read_order()
        if word == "fork":
            flush()
            session.remember_place()
            channel = control.fd
            try:
                child = os.fork()
            except OSError:  # too many processes
                control.send("standin", 0, {"pid": 0})
                continue
            if child:
                control.send("standin", 0, {"pid": child})
            else:
                control.fd, still = channel, stand_in(channel)
        elif word == "reap" and child:
            reap(child)
            child = 0
        elif word == "copied":
            os.close(still)
            mine = os.getpid()
            control.recognize()
            session.become_copy()
        if word != "run":
            continue
        session.display.number = number
        if "once" in flags:
            result = execute_whole(session, code)
        else:
            result = session.execute(f"<run {number}>", code, "echo" in flags)
        flush()
        if os.getpid() != mine or not control.is_open():
            os._exit(result["status"])
        control.send("done", number, result)


def rehearse(control, session):
    """Runs that do nothing, in both manners. What a fork shares with its parent is copied page by page
    where it is written to: here, and not while somebody waits."""
    control.come += b"run 0 13 once\nprint(end='')"
    _, _, code, _ = control.read_order()
    # A file that is there is opened faster. Never one in a directory of the user's.
    become_program(session, CODE_FILE if os.path.isabs(CODE_FILE) else os.devnull, b"")
    for name in (CODE_FILE, "<run 0>"):
        session.execute(name, code, name != CODE_FILE)
        del linecache.cache[name]
    gc.freeze()  # a collection looks only at what comes later
    session.home, session.modules = os.getcwd() + "/", len(sys.modules)
    let_go(session)
    flush()
    usage()
    session.make_module()
    del sys.orig_argv[1:]
    sys.argv[0] = sys.path[0] = ""
    session.sources.clear()


def open_session(session):
    session.display.control = control = Control(3)
    sys.argv = [""]
    if sys.path[0] != "":  # it is there when the driver is no file
        sys.path.insert(0, "")
    sys.meta_path.insert(0, session.display)
    builtins.display = session.display.display
    # A fork of the user's code must not hold the channel, nor answer in the parent's place.
    os.register_at_fork(after_in_child=control.leave)
    rehearse(control, session)
    control.send("ready", 0, {"pid": os.getpid()})
    serve(control, session)


def main():
    open_session(warm())


main()
