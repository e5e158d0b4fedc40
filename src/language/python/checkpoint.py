

# ---- A checkpoint: igloo has this interpreter load all that its siblings will need, and writes down the
# memory of a child of it. Interpreters that are restored from that go on where the child waits.

class Library:
    """Functions of the C library and of Python itself, through _ctypes alone: the module around it is
    larger than all that is needed of it."""

    def __init__(self):
        import _ctypes

        class Number(_ctypes._SimpleCData):
            _type_ = "i"

        class Function(_ctypes.CFuncPtr):  # called without Python's lock: other threads go on
            _flags_ = _ctypes.FUNCFLAG_CDECL
            _restype_ = Number

        class OwnFunction(_ctypes.CFuncPtr):  # of Python, called with the lock
            _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_PYTHONAPI
            _restype_ = Number

        everything = _ctypes.dlopen(None, os.RTLD_NOW)
        self.prctl, self.fflush = (Function(_ctypes.dlsym(everything, name)) for name in ("prctl", "fflush"))
        self.before_fork, self.after_fork_in_child = (
            OwnFunction(_ctypes.dlsym(everything, name)) for name in ("PyOS_BeforeFork", "PyOS_AfterFork_Child"))


REHEARSALS = 20  # often enough for Python to have put everything into its fastest form


def load(session, names):
    global libc, c_library
    libc = c_library = Library()
    for name in names:
        try:
            importlib.import_module(name)
        except (Exception, SystemExit) as error:
            print(f"cannot preload {name}: {describe(error)}", file=sys.stderr)
    session.uses_c = bool(names)  # what was loaded may print whenever it is used
    prepare_again(session, REHEARSALS)
    flush()
    gc.collect()
    gc.freeze()  # a collection would write to every object, and so to every page that is shared


def make_checkpoint(control, session, text):
    """In the child, returns as often as it is restored."""
    load(session, text.decode().split())
    child = control.fork()  # with one thread, and of that every library knows
    if child:
        return control.send("standin", 0, {"pid": child})
    control.go_back()
    libc.before_fork()
    if os.read(control.FIRST, 1) != b"+":
        os._exit(0)
    # As after a fork: random numbers are seeded anew, and whatever else a library wants to do then.
    libc.after_fork_in_child()
    for reseed in seeds():
        reseed()
    open_session(session)


def seeds():
    """Of generators that take the same number of a process for the same process."""
    numpy, ssl = sys.modules.get("numpy.random"), sys.modules.get("_ssl")
    if hasattr(numpy, "seed"):
        yield numpy.seed
    if hasattr(ssl, "RAND_add"):
        yield lambda: ssl.RAND_add(os.urandom(64), 64.0)
