# ---- Code that is a program of its own.

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


def write_code_file(session, path, code):
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        try:
            rest = memoryview(code)
            while rest:
                rest = rest[os.write(file, rest):]
        finally:
            os.close(file)
    except OSError:
        # Only a program that reads itself would notice, and one whose lines are quoted.
        session.remember(path, code.decode(errors="replace").splitlines(True))


CODE_DIRECTORY = os.path.dirname(CODE_FILE)
ORIGINAL_ARGUMENTS = getattr(sys, "orig_argv", [""])  # from Python 3.10 on
# Made once: a fork that makes its own touches what it is made of.
PROGRAM = {"__loader__": importlib.machinery.SourceFileLoader("__main__", CODE_FILE), "__file__": CODE_FILE,
           "__cached__": None}


def become_program(session):
    """Its code is in a file, and everything says so. Before the code comes: most interpreters get no
    other."""
    session.make_module()  # a new one: what was made ahead is frozen, and so never let go
    session.names.update(PROGRAM)
    sys.argv[0] = CODE_FILE
    ORIGINAL_ARGUMENTS[1:] = [CODE_FILE]
    sys.path[0] = CODE_DIRECTORY
    session.is_program = True


def become_prompt(session):
    session.make_module()
    del ORIGINAL_ARGUMENTS[1:]
    sys.argv[0] = sys.path[0] = ""
    session.is_program = False


def let_go(session):
    """All that the program made comes to its end, as when Python itself ends: what only the program's
    own modules hold is finalized, and files that are open all the same lose nothing."""
    if sys.stdout is not sys.__stdout__ or sys.stderr is not sys.__stderr__:
        flush()
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    session.names = None
    sys.modules.pop("__main__", None)
    for name in newest(sys.modules, len(sys.modules) - session.modules):
        if file_of(sys.modules[name]).startswith(session.home):
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


def newest(names, count):
    """The last ones of a dictionary. Only those: even to look at a name writes to the page it is on."""
    names = reversed(names)
    return [next(names) for _ in range(count)]


def file_of(module):
    """Asked past the module itself: a lazy one would load now."""
    if not issubclass(type(module), types.ModuleType):
        return ""
    return str(object.__getattribute__(module, "__dict__").get("__file__"))


def depth(file):
    """Text is outside, then comes what packs it and has a last word to write, then what only waits."""
    packs = (issubclass(type(file), _io._BufferedIOBase) and
             not issubclass(type(file), (_io.BufferedWriter, _io.BufferedReader, _io.BufferedRandom)))
    return 0 if issubclass(type(file), _io._TextIOBase) else 1 if packs else 2


def run_exit_functions(number):
    """In a rehearsal (0) only what nobody would notice."""
    threading = sys.modules.get("threading")
    if number == "0" and (threading or atexit._ncallbacks()):
        return
    if hasattr(threading, "_shutdown"):
        threading._shutdown()  # waits for those that are not daemons
    atexit._run_exitfuncs()


def execute_whole(session, number, code, filed):
    """The code as a program of its own: in a file, and with everything that Python does at its end.
    filed: the host has written it there."""
    if not filed:
        write_code_file(session, CODE_FILE, code)
    result = {"status": 0}
    try:
        try:
            result = session.execute(CODE_FILE, code, False)
        except SystemExit as leaving:
            result["status"] = exit_status(leaving)
        session.arm()
        run_exit_functions(number)
        let_go(session)
    except BaseException as error:
        result = {"status": 130 if isinstance(error, KeyboardInterrupt) else 1}
        report(error)
    finally:
        session.disarm()
    return result | usage()
