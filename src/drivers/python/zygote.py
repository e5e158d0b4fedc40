

# ---- The zygote: what makes a driver the parent of many. It stands beside a sandbox's maker, runs
# nobody's code, and waits. All that it does from then on is in a library of igloo's
# (guest/midwife.cc); children of it that stand behind a wall go on as drivers.
import _ctypes  # the module around it takes more memory than all that is needed of it here


class Size(_ctypes._SimpleCData):
    """An address, too."""
    _type_ = "L"


class Number(_ctypes._SimpleCData):
    _type_ = "i"


class Function(_ctypes.CFuncPtr):
    """Of the C library. Called without Python's lock: other threads go on."""
    _flags_ = _ctypes.FUNCFLAG_CDECL
    _restype_ = Number


class OwnFunction(_ctypes.CFuncPtr):
    """Of Python, or made for it: called with the lock."""
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_PYTHONAPI
    _restype_ = Number


everything = _ctypes.dlopen(None, os.RTLD_NOW)


class libc:
    prctl, madvise, fflush = (Function(_ctypes.dlsym(everything, name)) for name in ("prctl", "madvise", "fflush"))


def load(library):
    """What is no file anywhere, and is none for longer than it takes."""
    file = os.memfd_create("igloo", os.MFD_CLOEXEC)
    try:
        os.write(file, library)
        return _ctypes.dlopen(f"/proc/self/fd/{file}", os.RTLD_NOW)
    finally:
        os.close(file)


MADV_DONTNEED = 4
LARGE = 256 << 10  # bytes of a mapping


def pass_mappings_on():
    """Whatever is mapped of the large programs and libraries: the kernel leaves that to every fork, which
    costs it more than the fork itself, unless a page of the mapping was ever written to. One is, and is
    put back. What is not needed any more goes, too: the next rehearsal maps the rest again."""
    try:
        pages = os.open("/proc/self/pagemap", os.O_RDONLY | os.O_CLOEXEC)
        memory = os.open("/proc/self/mem", os.O_RDWR | os.O_CLOEXEC)  # last: nothing that fails leaves it open
    except OSError:
        return
    with open("/proc/self/maps", "rb") as maps:
        lines = maps.read().splitlines()
    for line in lines:
        place, rights, _, _, inode = line.split()[:5]
        begin, end = (int(each, 16) for each in place.split(b"-"))
        if rights not in (b"r-xp", b"r--p") or inode == b"0" or end - begin < LARGE:
            continue
        if was_written(os.pread(pages, (end - begin) >> 9, begin >> 9)):
            continue
        try:
            os.pwrite(memory, os.pread(memory, 1, begin), begin)
        except OSError:
            continue
        libc.madvise(Size(begin), Size(end - begin), MADV_DONTNEED)
    os.close(memory)
    os.close(pages)


def was_written(pages):
    """Some of them are there, or put away, and are not the file's any more: addresses in a library's data, which
    the file does not have. Forks get such a mapping anyway, and would miss what is written there."""
    return any(page >> 62 and not page >> 61 & 1 for page in memoryview(pages).cast("Q"))


POOL = 1 << 14  # bytes, where Python keeps small objects of one size
FIRST = 48  # the place of the first one
MOST = 5000  # of one size; elsewhere they may lie otherwise


def fill_gaps():
    """Between the objects that forks share. A fork's own ones would come to lie there, and every page with
    one of them would be copied: an eighth of what it copies. Returns what is to be kept."""
    kept = []
    makers = [object, lambda: len(kept) + POOL, *((lambda size=size: bytes(size - 33)) for size in range(48, 513, 16))]
    for make in makers:
        for _ in range(MOST):
            filler = make()
            if id(filler) % POOL == FIRST:  # no gap was left
                break
            kept.append(filler)
    return kept


def leave_gaps(session, kept):
    """Where every fork writes anyway: what it makes comes to lie there then, and copies nothing more. Which
    pages these are a fork on trial tells. Without one, all gaps stay filled."""
    # Each and the beginning of its pool, where that counts. Looking at one in the child would copy it.
    places = sorted({place >> 12 for each in kept for place in (id(each), id(each) & -POOL)})
    try:
        own = written_by_fork(session, places)
    except OSError:
        return
    kept[:] = (each for each in kept if not own >= {id(each) >> 12, (id(each) & -POOL) >> 12})


TRIAL = 10  # seconds at most


def written_by_fork(session, places):
    reading, writing = os.pipe()
    with open(reading, "rb", 0) as answer:
        try:
            child = os.fork()
            if child == 0:
                try_out(session, places, writing)
        finally:
            os.close(writing)
        own = {place for place, alone in zip(places, answer.read(len(places))) if alone}
    os.waitpid(child, 0)
    return own


def try_out(session, places, writing):
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(TRIAL)
        rehearse(session)
        pages = os.open("/proc/self/pagemap", os.O_RDONLY | os.O_CLOEXEC)
        os.write(writing, bytes(os.pread(pages, 8, place * 8)[7] & 1 for place in places))  # 1: nobody else has it
    finally:
        os._exit(0)


def zygote_main(library):
    orders, session = 3, warm()
    for name in sys.argv[2:]:
        try:
            importlib.import_module(name)
        except (Exception, SystemExit) as error:
            os.write(orders, f"cannot preload {name}: {describe(error)}".encode())
    global c_library  # made here, it is shared by all
    c_library = libc
    session.uses_c = len(sys.argv) > 2  # what was loaded for it may print whenever it is used
    own = load(library)
    fill_heap, deliver = (OwnFunction(_ctypes.dlsym(own, name)) for name in ("igloo_fill_heap", "igloo_deliver"))
    before, born = (_ctypes.dlsym(everything, name) for name in ("PyOS_BeforeFork", "PyOS_AfterFork_Child"))
    seed = getattr(sys.modules.get("numpy.random"), "seed", None)
    # Often enough for Python to have put everything into its fastest form: that, too, is written
    # where the code is.
    prepare(session, 20)
    home = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    flush()
    gc.collect()
    kept = fill_gaps()
    fill_heap()
    leave_gaps(session, kept)
    pass_mappings_on()
    rehearse(session)
    gc.collect()
    gc.freeze()  # a collection in a child would write to every object, and so copy them all
    os.write(orders, b"ready")
    OwnFunction(before)()  # once for all: each child is a copy of what is now
    deliver(orders, home, Size(born))
    if seed:  # numpy's old generator; Python's own has done so after the fork
        seed()
    open_session(session)
