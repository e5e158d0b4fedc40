

# ---- The zygote: what makes a driver the parent of many. It stands beside a sandbox's maker, runs
# nobody's code, and waits. All that it does from then on is in a library of igloo's
# (guest/midwife.cc); children of it that stand behind a wall go on as drivers.
import ctypes

libc = ctypes.CDLL(None)


def load(library):
    """What is no file anywhere, and is none for longer than it takes."""
    file = os.memfd_create("igloo", os.MFD_CLOEXEC)
    try:
        os.write(file, library)
        return ctypes.PyDLL(f"/proc/self/fd/{file}")
    finally:
        os.close(file)


def zygote_main(library):
    orders, session = 3, warm()
    for name in sys.argv[2:]:
        try:
            importlib.import_module(name)
        except (Exception, SystemExit) as error:
            os.write(orders, f"cannot preload {name}: {describe(error)}".encode())
    global c_library  # made here, it is shared by all
    c_library = libc
    deliver, born = load(library).igloo_deliver, ctypes.pythonapi.PyOS_AfterFork_Child
    seed = getattr(sys.modules.get("numpy.random"), "seed", None)
    # Often enough for Python to have put everything into its fastest form: that, too, is written
    # where the code is.
    prepare(session, 20)
    home = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    flush()
    gc.collect()
    gc.freeze()  # a collection in a child would write to every object, and so copy them all
    os.write(orders, b"ready")
    ctypes.pythonapi.PyOS_BeforeFork()  # once for all: each child is a copy of what is now
    deliver(orders, home, born)
    if seed:  # numpy's old generator; Python's own has done so after the fork
        seed()
    open_session(session)
