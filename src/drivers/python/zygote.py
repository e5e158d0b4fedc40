

# ---- The zygote: what makes a driver the parent of many. It stands beside a sandbox's maker, runs
# nobody's code, and waits. Each order brings the socket over which a sandbox's igloo-init adopts a
# child, and perhaps the file through which its cgroup is entered. A child comes into the namespaces
# that igloo-init sends, makes the system calls that it asks for, which put it behind the wall, and
# goes on as a driver.
import array
import ctypes
import gc
import importlib
import socket
import struct

NEWPID = 0x20000000
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def receive(channel, size):
    """One packet and its descriptors."""
    room = array.array("i").itemsize * 16
    data, extra, _, _ = channel.recvmsg(size, socket.CMSG_SPACE(room))
    fds = array.array("i")
    for _, kind, payload in extra:
        if kind == socket.SCM_RIGHTS:
            fds.frombytes(payload)
    return data, list(fds)


def make_calls(message):
    """System calls as data: a head, offsets of addresses, calls of seven words, what they point to."""
    count, relocations, size = struct.unpack_from("<3I", message)
    offsets = struct.unpack_from(f"<{relocations}I", message, 12)
    memory = ctypes.create_string_buffer(message[12 + 4 * relocations:], size)
    base = ctypes.addressof(memory)
    for offset in offsets:
        struct.pack_into("<Q", memory, offset, struct.unpack_from("<Q", memory, offset)[0] + base)
    calls = [[ctypes.c_long(word) for word in struct.unpack_from("<7q", memory, 56 * index)]
             for index in range(count)]
    for call in calls:  # prepared above: behind the last one nothing must fail for want of a right
        if libc.syscall(*call) < 0:
            os._exit(1)


def place(fds, adoption):
    """The given ones become 0, 1, 2, ...; of all others only the adoption's stays."""
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64) for fd in fds]
    for number, fd in enumerate(high):
        os.dup2(fd, number, inheritable=number < 3)
    os.closerange(len(fds), adoption)
    os.closerange(adoption + 1, 1 << 30)


def reseed():
    """Python's own generator has done so after the fork; numpy's old one does not."""
    numbers = sys.modules.get("numpy.random")
    if hasattr(numbers, "seed"):
        numbers.seed()


def become_session(session, namespaces, adoption, group):
    """In a child that was born into the sandbox's PID namespace: the others, then the wall."""
    if any(libc.setns(each, 0) for each in namespaces):
        os._exit(1)
    if os.fork():
        os._exit(0)
    # Its parent has ended: igloo-init is that of all orphans here.
    while os.getppid() != 1:
        os.sched_yield()
    for entrance in group:
        os.write(entrance, b"0")
    channel = socket.socket(fileno=fcntl.fcntl(adoption.detach(), fcntl.F_DUPFD_CLOEXEC, 200))
    message, fds = receive(channel, 1 << 16)
    place(fds, channel.fileno())
    make_calls(message)
    os.closerange(4, channel.fileno())  # what only the calls needed
    channel.send(b"w")
    if channel.recv(1) != b"g":
        os._exit(1)
    channel.close()
    reseed()
    open_session(session)


def zygote_main():
    orders = socket.socket(fileno=3)
    session = warm()
    for name in sys.argv[2:]:
        try:
            importlib.import_module(name)
        except (Exception, SystemExit) as error:
            orders.send(f"cannot preload {name}: {describe(error)}".encode())
    global c_library  # made here, it is shared by all
    c_library = libc
    flush()
    gc.collect()
    gc.freeze()  # a collection in a child would write to every object, and so copy them all
    orders.send(b"ready")
    home = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    while True:
        message, fds = receive(orders, 16)
        if not message:
            os._exit(0)
        adoption, group = socket.socket(fileno=fds[0]), fds[1:]
        _, namespaces = receive(adoption, 1)
        child = -1
        if namespaces and libc.setns(namespaces[0], NEWPID) == 0:
            child = os.fork()
            if child == 0:
                orders.detach()
                become_session(session, namespaces[1:], adoption, group)
            libc.setns(home, NEWPID)
        adoption.close()
        for fd in namespaces + group:
            os.close(fd)
        if child > 0:
            os.waitpid(child, 0)


zygote_main()
