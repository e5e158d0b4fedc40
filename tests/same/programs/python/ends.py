#=== exit-none
import sys
sys.exit()
#=== exit-text
import sys
print("before")
sys.exit("a message")
#=== exit-large
import sys
sys.exit(256 + 7)
#=== exit-huge
import sys
sys.exit(2 ** 70)
#=== exit-negative
import sys
sys.exit(-1)
#=== exit-negative-huge
raise SystemExit(-2 ** 64)
#=== exit-boolean
raise SystemExit(True)
#=== exit-float
raise SystemExit(1.0)
#=== exit-tuple
raise SystemExit((1, 2))
#=== exit-two-arguments
raise SystemExit(1, 2)
#=== exit-subclass
class Leave(SystemExit):
    pass
raise Leave(5)
#=== exit-subclass-own-code
class Leave(SystemExit):
    code = property(lambda self: 6)
raise Leave("text")
#=== exit-subclass-bad-code
class Leave(SystemExit):
    @property
    def code(self):
        raise ValueError("no code")
raise Leave(1)
#=== exit-integer-subclass
class Code(int):
    def __str__(self):
        return "a code"
raise SystemExit(Code(9))
#=== exit-object
class Odd:
    def __str__(self):
        return "odd one"
raise SystemExit(Odd())
#=== exit-object-failing
class Odd:
    def __str__(self):
        raise ValueError
raise SystemExit(Odd())
#=== exit-code-changed
e = SystemExit(1)
e.code = 8
raise e
#=== exit-class
raise SystemExit
#=== exit-builtin
exit(4)
#=== quit-builtin
print(exit, quit)
quit()
#=== exit-at-once
import os
print("lost")
os._exit(11)
#=== exit-at-once-large
import os
os._exit(256 + 3)
#=== exit-in-thread
import sys, threading
t = threading.Thread(target=lambda: sys.exit(3))
t.start()
t.join()
print("main goes on")
#=== exit-at-once-in-thread
import os, threading
threading.Thread(target=lambda: os._exit(12)).start()
import time
time.sleep(20)
#=== exit-in-atexit; addresses
import atexit, sys
@atexit.register
def last():
    print("last")
    sys.exit(5)
sys.exit(2)
#=== exit-in-finally
import sys
try:
    1 / 0
finally:
    sys.exit(4)
#=== exit-while-handling
import sys
try:
    1 / 0
except ZeroDivisionError:
    sys.exit("handled")
#=== exit-in-group
raise ExceptionGroup("several", [ValueError(1), TypeError(2)])
#=== exit-group-with-exit
raise BaseExceptionGroup("several", [SystemExit(3), KeyboardInterrupt()])
#=== exit-in-del; addresses
import sys
class A:
    def __del__(self):
        sys.exit(3)
a = A()
del a
print("goes on")
#=== keyboard-interrupt
raise KeyboardInterrupt
#=== keyboard-interrupt-text
raise KeyboardInterrupt("stop")
#=== interrupt-by-signal
import os, signal
os.kill(os.getpid(), signal.SIGINT)
print("never")
#=== interrupt-caught
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("caught")
#=== generator-exit
raise GeneratorExit
#=== terminated
import os, signal
os.kill(os.getpid(), signal.SIGTERM)
#=== aborted
import os
os.abort()
#=== segfault
import os, signal
os.kill(os.getpid(), signal.SIGSEGV)
#=== broken-pipe-signal
import os, signal
print(signal.getsignal(signal.SIGPIPE))
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGPIPE)
#=== signal-handler
import os, signal
def handler(number, frame):
    print(number, frame.f_code.co_name, frame.f_lineno)
signal.signal(signal.SIGUSR1, handler)
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.getsignal(signal.SIGUSR1) is handler)
#=== signal-handler-raises
import signal
def handler(number, frame):
    raise RuntimeError("from the handler")
signal.signal(signal.SIGALRM, handler)
signal.raise_signal(signal.SIGALRM)
#=== signal-defaults
import signal
for each in sorted(signal.valid_signals()):
    print(int(each), signal.getsignal(each))
print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
#=== signal-wakeup
import signal
print(signal.set_wakeup_fd(-1))
print(signal.getitimer(signal.ITIMER_REAL))
#=== atexit-order
import atexit
for i in range(3):
    atexit.register(print, i)
print("end")
#=== atexit-fails; addresses
import atexit
atexit.register(lambda: 1 / 0)
atexit.register(print, "first")
#=== atexit-after-exception
import atexit
atexit.register(print, "last")
1 / 0
#=== atexit-count
import atexit
print(atexit._ncallbacks())
atexit._clear()
#=== atexit-unregistered
import atexit
atexit.register(print, "never")
atexit.unregister(print)
#=== atexit-flushes
import atexit, sys
atexit.register(lambda: sys.stdout.write("unflushed"))
#=== finalizer-order
import atexit, weakref
class A: pass
a = A()
weakref.finalize(a, print, "finalized")
atexit.register(print, "exit")
print("end")
#=== finalizer-of-module-global
class A:
    def __init__(self, name): self.name = name
    def __del__(self): print("del", self.name)
a = A("global")
A("temporary")
l = [A("in list")]
d = {"k": A("in dict")}
print("end")
#=== finalizer-in-cycle
class A:
    def __del__(self): print("del cycle")
a = A()
a.self = a
del a
print("end")
#=== finalizer-after-exit
import sys
class A:
    def __del__(self): print("del at exit")
a = A()
sys.exit(1)
#=== finalizer-after-exception
class A:
    def __del__(self): print("del after error")
def f():
    a = A()
    raise ValueError
f()
#=== finalizer-fails; addresses
class A:
    def __del__(self): raise ValueError("in del")
a = A()
del a
print("end")
b = A()
#=== finalizer-sees-globals; addresses
import sys
class A:
    def __del__(self):
        print(sys is None, name, open)
name = "a name"
a = A()
#=== generator-finalized
def g():
    try:
        yield 1
    finally:
        print("generator closed")
it = g()
next(it)
#=== context-left-open
class C:
    def __enter__(self): return self
    def __exit__(self, *a): print("exit", a[0])
with C():
    raise SystemExit(2)
#=== threads-waited-for
import threading, time
def work():
    time.sleep(0.3)
    print("thread done")
threading.Thread(target=work).start()
print("main done")
#=== threads-and-atexit
import atexit, threading, time
atexit.register(print, "exit handler")
threading._register_atexit(print, "threading handler")
def work():
    time.sleep(0.3)
    print("thread done")
threading.Thread(target=work).start()
#=== threads-daemon
import threading, time
def work():
    while True:
        time.sleep(10)
threading.Thread(target=work, daemon=True).start()
print("main done")
#=== threads-after-exception
import threading, time
def work():
    time.sleep(0.3)
    print("thread done")
threading.Thread(target=work).start()
raise ValueError("main failed")
#=== thread-fails
import threading
t = threading.Thread(target=lambda: 1 / 0, name="worker")
t.start()
t.join()
print("main goes on")
#=== thread-names
import threading
print(threading.current_thread(). name, threading.main_thread() is threading.current_thread(), threading.active_count())
print([t.name for t in threading.enumerate()])
print(threading.Thread().name, threading.get_native_id() == __import__("os").getpid())
#=== executor-at-end
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
futures = [pool.submit(pow, 2, n) for n in range(5)]
print([f.result() for f in futures])
