#=== reconfigure
import sys
sys.stdout.reconfigure(encoding="utf-8")
print("äöü")
sys.stdout.reconfigure(line_buffering=True, errors="replace")
print(sys.stdout)
sys.stderr.reconfigure(errors="strict")
print(sys.stderr.errors)
#=== text-wrapper-of-buffer
import io, sys
sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
print("grüße")
#=== text-wrapper-detached
import io, sys
out = io.TextIOWrapper(sys.stdout.detach(), encoding="latin-1", newline="\r\n")
out.write("ä\n")
out.flush()
#=== codecs-writer
import codecs, sys
sys.stdout = codecs.getwriter("utf-8")(sys.stdout.buffer)
print("grüße")
#=== stream-representations
import sys
print(sys.stdin, sys.stdout, sys.stderr)
print(sys.__stdin__ is sys.stdin, sys.__stdout__ is sys.stdout, sys.__stderr__ is sys.stderr)
#=== stream-properties
import sys
for s in (sys.stdin, sys.stdout, sys.stderr):
    print(s.name, s.mode, s.encoding, s.errors, s.line_buffering, s.write_through, s.newlines, s.isatty(), s.fileno())
    print(type(s), type(s.buffer), type(s.buffer.raw), s.buffer.raw.name, s.buffer.raw.mode, s.buffer.raw.closefd)
#=== stream-methods
import sys
print(sys.stdout.seekable(), sys.stdout.writable(), sys.stdout.readable())
try:
    sys.stdout.tell()
except OSError as e:
    print(e)
try:
    sys.stdout.read()
except Exception as e:
    print(type(e), e)
#=== writelines-and-binary
import sys
sys.stdout.writelines(["a\n", "b\n"])
sys.stdout.flush()
sys.stdout.buffer.write(b"raw \xff\xfe\n")
print(sys.stdout.write("four\n"))
#=== buffered-then-child
import os, sys
print("first in the buffer")
os.system("echo the child")
print("last")
#=== buffered-lost-by-exit
import os
print("never seen")
os._exit(0)
#=== buffered-lost-by-signal
import os, signal
print("never seen")
os.kill(os.getpid(), signal.SIGKILL)
#=== buffered-fork
import os, sys
print("twice")
if os.fork() == 0:
    sys.exit(0)
os.wait()
#=== buffer-size
import os, sys
sys.stdout.write("x" * 8192)
os.write(1, b"|")
sys.stdout.write("y" * 100)
os.write(1, b"|")
#=== buffer-of-errors
import os, sys
sys.stderr.write("no newline")
os.write(2, b"|")
sys.stderr.write("\nmore\n")
#=== merged-order
import os, sys
os.dup2(1, 2)
print("one")
print("two", file=sys.stderr)
print("three", flush=True)
os.write(1, b"four\n")
print("five", file=sys.stderr)
print("six")
#=== printed-to-closed
import sys
sys.stdout.close()
print("lost")
#=== closed-then-ended
import sys
sys.stdout.close()
#=== closed-descriptor
import os
print("lost")
os.close(1)
#=== closed-descriptor-flushed
import os, sys
os.close(1)
try:
    print("lost", flush=True)
except OSError as e:
    print(e, file=sys.stderr)
#=== closed-errors
import os, sys
os.close(2)
print("out")
1 / 0
#=== closed-input
import os, sys
os.close(0)
try:
    sys.stdin.read()
except OSError as e:
    print(e)
#=== full-at-end
import os
os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
print("lost")
#=== full-flushed
import os, sys
os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
print("lost")
sys.stdout.flush()
#=== full-after-exception
import os
os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
print("lost")
1 / 0
#=== full-and-exit-code
import os, sys
os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
print("lost")
sys.exit(3)
#=== full-in-handler; addresses
import atexit, os
def last():
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
    print("lost")
atexit.register(last)
print("first")
#=== stdout-none
import sys
sys.stdout = None
print("nothing")
#=== stderr-none
import sys
sys.stderr = None
1 / 0
#=== stdout-replaced
import sys
class Out:
    def write(self, text):
        sys.__stdout__.write(text.upper())
    def flush(self):
        sys.__stdout__.write("(flush)\n")
sys.stdout = Out()
print("hello")
#=== stdout-replaced-without-flush; addresses
import sys
class Out:
    def write(self, text):
        sys.__stdout__.write(text.upper())
sys.stdout = Out()
print("hello")
#=== stdout-replaced-by-failing; addresses
import sys
class Out:
    def write(self, text):
        raise ValueError("no")
    def flush(self):
        raise ValueError("never")
sys.stdout = Out()
#=== stdout-deleted
import sys
del sys.stdout
print("lost")
#=== stringio-redirect
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()) as out:
    print("caught")
print(repr(out.getvalue()))
#=== encoding-error
print("\ud800")
#=== encoding-error-caught
import sys
try:
    print("a\udcffb")
except UnicodeEncodeError as e:
    print(ascii(e))
print("a\udcffb", file=sys.stderr)
sys.stdout.reconfigure(errors="surrogateescape")
print("a\udcffb")
#=== broken-pipe
import os, sys
r, w = os.pipe()
os.dup2(w, 1)
os.close(w)
os.close(r)
print("lost", flush=True)
#=== broken-pipe-at-end
import os
r, w = os.pipe()
os.dup2(w, 1)
os.close(w)
os.close(r)
print("lost")
#=== stdin-read
import sys
print(repr(sys.stdin.read()), repr(sys.stdin.readline()), list(sys.stdin))
#=== stdin-input
try:
    input("name? ")
except EOFError as e:
    print("EOF", e)
input()
#=== stdin-device
print(repr(open("/dev/stdin").read()))
print(repr(open(0, closefd=False).read()))
#=== stdout-device
with open("/dev/stdout", "w") as out:
    out.write("through the device\n")
with open("/dev/fd/2", "w") as err:
    err.write("through the other\n")
#=== descriptors-at-start
import os
print(sorted(int(each) for each in os.listdir("/proc/self/fd"))[:-1])
for fd in range(3):
    print(fd, os.get_inheritable(fd), os.get_blocking(fd))
#=== descriptors-inherited
import subprocess
print(subprocess.run(["ls", "/proc/self/fd"], capture_output=True, text=True, close_fds=False).stdout)
#=== descriptors-closed
import os
os.closerange(3, 256)
print("still here")
import json, sqlite3
print(json.dumps([1]))
#=== descriptors-new
import os
print([os.open("/dev/null", os.O_RDONLY) for _ in range(4)])
#=== stdin-type
import os, stat
for fd in range(3):
    mode = os.fstat(fd).st_mode
    print(stat.S_ISCHR(mode), stat.S_ISFIFO(mode))
#=== output-large
for i in range(100000):
    print(i)
#=== output-mixed-large
import sys
for i in range(5000):
    print("o", i)
    print("e", i, file=sys.stderr)
#=== print-options
print(1, 2, sep="-", end="!\n")
print(*range(3), sep="\n")
print(end="")
print("flush", flush=True)
#=== open-closed-at-end
f = open("late.txt", "w")
f.write("written when it is closed")
import atexit, os
atexit.register(lambda: print(os.path.getsize("late.txt")))
#=== pager-and-help
help(len)
#=== pprint-and-textwrap
import pprint
pprint.pprint({"a": list(range(30)), "b": {"c": "d" * 60}})
