class Session:
    """The user's side: a module that is __main__, and what runs in it."""

    def __init__(self, display):
        self.display = display
        self.make_module()
        self.uses_c = False
        self.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self.sources = []
        self.modules = len(sys.modules)  # that were there before any code
        self.waiting = None
        self.mask, self.place = 0o022, "/workspace"
        self.on_interrupt = signal.default_int_handler

    def make_module(self):
        sys.modules["__main__"] = module = types.ModuleType("__main__")
        self.names = module.__dict__
        self.names.update(__annotations__={}, __builtins__=builtins, __file__=FILE)

    def arm(self):
        signal.signal(signal.SIGINT, self.on_interrupt)

    def disarm(self):
        """SIGINT does nothing from here on. A function and not SIG_IGN: children would inherit that."""
        while True:
            try:
                handler = signal.signal(signal.SIGINT, ignore)
                if handler is not ignore and handler is not None:
                    self.on_interrupt = handler
                return
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
        """The code, and its last expression for itself: a list."""
        text = code.decode().removeprefix("\ufeff")
        one_line = "\n" not in text and "\r" not in text
        # As Python itself divides lines, and each with an end: carets are counted from there.
        ended = text if text.endswith("\n") else text + "\n"
        self.remember(name, [ended] if one_line else io.StringIO(ended, None).readlines())
        if not echo or text.rstrip().endswith(";"):
            return [self.build(text, name, "exec")]
        if one_line and may_be_expression(text):
            try:
                return [self.build(text, name, "eval")]
            except SyntaxError:
                pass  # said below, if it is true
        tree = compile(text, name, "exec", self.flags | ast.PyCF_ONLY_AST, True)
        if not tree.body or not isinstance(tree.body[-1], ast.Expr):
            return [self.build(tree, name, "exec")]
        last = ast.Expression(tree.body.pop().value)
        return [self.build(tree, name, "exec"), self.build(last, name, "eval")]

    def remember(self, name, lines):
        linecache.cache[name] = (0, None, lines, name)  # a size counts only beside a time
        self.sources.append(name)
        if len(self.sources) > KEPT_SOURCES:
            linecache.cache.pop(self.sources.pop(0), None)

    def build(self, source, name, mode):
        code = compile(source, name, mode, self.flags, True)
        self.flags |= code.co_flags & FUTURES  # from __future__ import ... holds on, as at a prompt
        return code

    def notice_c(self, code):
        """Code in C comes with a module, or with ctypes, which a preloaded one may have brought. Without any, there is
        nothing of its to be flushed, which would take a tenth of a small run."""
        self.uses_c = self.uses_c or b"ctypes" in code or len(sys.modules) > self.modules + 1

    def evaluate(self, codes):
        """The value of the last one. One await (CO_COROUTINE) puts all of them into the event loop."""
        if not (codes[0].co_flags | codes[-1].co_flags) & 0x80:
            value = eval(codes[0], self.names)
            return value if len(codes) == 1 else eval(codes[1], self.names)
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
                value = self.evaluate(self.compile(name, code, echo))
                if value is not None:
                    builtins._ = value
                    text = repr(value)
                    cut = f"... [{len(text)} characters]" if len(text) > MAX_VALUE else ""
                    result["value"] = text[:MAX_VALUE - len(cut)] + cut
                    self.display.show(value)
                if "matplotlib.pyplot" in sys.modules:
                    self.display.figures()
            finally:
                self.disarm()
                self.notice_c(code)
        except SystemExit:
            raise
        except BaseException as error:
            self.disarm()
            result = {"status": 1, "error": describe(error)}
            if isinstance(error, KeyboardInterrupt):
                result.update(status=130, interrupted=True)
            report(error)
        return result


def may_be_expression(text):
    """Whether it is worth a try: cheap, and wrong now and then. What a failure would warn of is warned
    of twice, so not with an escape in it."""
    return ";" not in text and "\\" not in text and ("(" in text[:text.find("=")] or "=" not in text)


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
    while trace and not trace.tb_frame.f_code.co_filename.startswith("<run "):
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
    """All that was printed goes to the pipes: Python's buffers, and replaced ones. The C library's are
    another matter (flush_c)."""
    streams = sys.stdout, sys.stderr
    if sys.stdout is not sys.__stdout__ or sys.stderr is not sys.__stderr__:
        streams += sys.__stdout__, sys.__stderr__
    for each in streams:
        try:
            each.flush()
        except Exception:  # closed, or replaced by something that cannot
            pass


def flush_c():
    """What the C library holds back: of its standard output, and of every other file of its own."""
    global c_library  # looking it up costs more than all flushing
    ctypes = sys.modules.get("ctypes")
    if c_library is None and hasattr(ctypes, "CDLL"):
        c_library = ctypes.CDLL(None)
    if c_library is not None:
        c_library.fflush(None)
