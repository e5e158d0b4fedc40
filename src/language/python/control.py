"""The driver of Python: runs the code that comes over descriptor 3, one piece after the other, in
one namespace. `run ID SIZE FLAGS` comes; `ready 0 SIZE`, `part ID SIZE` (`piece ID SIZE` before it)
and `done ID SIZE` go over descriptor 4, each with JSON behind it, and `exit ID STATUS` where a run
has no more to say. Descriptors 1 and 2 are the user's alone. The build makes one text of this file
and those beside it (CMakeLists.txt).

Everything that is needed later is imported here: once user code runs, a file that is called json.py
in its directory would be found first."""
import __future__
import binascii
import builtins
import fcntl
import gc
import importlib.util
import io
import json
import linecache
import os
import sys
import traceback
import types
import _ast as ast  # the module around it is larger than all of this
import _thread
import _signal as signal  # without its enumerations, which cost more than all else in a small run

# An empty file beside this one, for code that asks whether it is the program, and for modules (multiprocessing) that
# run the program's file once more.
FILE = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "main.py")
KEPT_SOURCES = 100  # runs whose lines later tracebacks can quote
MAX_VALUE = 10_000  # characters of a value's repr
MAX_PART = 8 << 20  # bytes of a part
PIECE = 128 << 10  # characters of a part in one message: none takes more than 6 bytes, and 1 MB is allowed
HEAD = 64  # bytes of an order's line
MARK = 64  # of the channel, set as the signal that it would send, which it never does: no other file has it
c_library = None  # once somebody may use it
to_json = json.JSONEncoder(ensure_ascii=False, default=str).encode
FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


class Control:
    """The channel to the host, on numbers that no child inherits."""

    def __init__(self):
        self.fd = self.out = -1  # for orders, and for what is said
        self.come = b""  # and not taken yet
        self.forking = 0  # the thread that forks for igloo, and for nobody else

    FIRST = 3  # where the channel is at the beginning: orders, and behind it what is said

    def open(self):
        self.fd, self.out = (fcntl.fcntl(self.FIRST + i, fcntl.F_DUPFD_CLOEXEC, 10) for i in (0, 1))
        os.close(self.FIRST)
        os.close(self.FIRST + 1)

    def go_back(self):
        """As at the beginning."""
        for number, fd in enumerate((self.fd, self.out), self.FIRST):
            os.dup2(fd, number)
            os.close(fd)
        self.fd = self.out = -1

    def recognize(self):
        self.owner, self.identity = os.getpid(), os.fstat(self.out)[1:3]
        for each in (self.fd, self.out):
            fcntl.fcntl(each, fcntl.F_SETSIG, MARK)

    def is_open(self, fd):
        """Not after user code closed all descriptors; the number may even be another file's now. By a mark: to
        compare its identity takes four times as long, a twentieth of a small run."""
        try:
            return fcntl.fcntl(fd, fcntl.F_GETSIG) == MARK
        except (OSError, ValueError):  # the second for -1
            return False

    def is_another(self):
        """Than the one that was recognized, which may have the same mark."""
        try:
            return os.fstat(self.out)[1:3] != self.identity
        except OSError:
            return False

    def leave(self):  # in a fork; once, for in a fork of that one the number may be the user's
        if self.fd >= 0 and self.forking != _thread.get_ident():
            for each in filter(self.is_open, (self.fd, self.out)):
                os.close(each)
            self.fd = self.out = -1

    def fork(self):
        """A child that keeps the channel's numbers: nothing ever runs in it. Whoever is made a copy of it
        goes on from here, with a channel of its own in that place."""
        self.forking = _thread.get_ident()
        try:
            return os.fork()
        finally:
            self.forking = 0

    def read(self, size):
        try:
            piece = os.read(self.fd, size)
        except Exception as error:  # from a signal handler of the user's: nothing was read yet
            if not self.is_open(self.fd):
                os._exit(1)
            report(error)
            return b""
        if not piece:
            os._exit(0)  # the host has gone
        return piece

    def read_order(self):
        while len(self.come) < HEAD:
            self.come += self.read(448)  # a short one: who waits keeps its room
        word, number, size, flags = self.come[:HEAD].decode().split()
        end = HEAD + int(size)
        if len(self.come) < end:
            come = bytearray(self.come)
            while len(come) < end:
                come += self.read(1 << 16)
            self.come = bytes(come)
        code, self.come = self.come[HEAD:end], self.come[end:]
        return word, number, code, flags

    def send(self, kind, number, payload):
        self.write(self.frame(kind, number, payload))

    def frame(self, kind, number, payload):
        data = to_json(payload).encode(errors="replace")  # half a surrogate pair is no text
        return f"{kind} {number} {len(data)}\n".encode() + data

    def send_part(self, number, mime, data, encoding):
        """All in one write: another thread may show something, too."""
        last = (len(data) - 1) // PIECE * PIECE if data else 0
        frames = [self.frame("piece", number, {"data": data[at:at + PIECE]}) for at in range(0, last, PIECE)]
        frames.append(self.frame("part", number, {"type": mime, "data": data[last:], "encoding": encoding}))
        self.write(b"".join(frames))

    def write(self, data):
        sent = os.write(self.out, data)
        while sent < len(data):
            sent += os.write(self.out, data[sent:])

    def finish(self, number, result):
        if len(result) == 1:
            self.write(b"exit %s %d\n" % (number.encode(), result["status"]))
        else:
            self.send("done", number, result)
