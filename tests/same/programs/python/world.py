#=== argv
import sys
print(sys.argv, sys.orig_argv, sys.flags)
#=== file-name
import os
print(__file__, __name__, __doc__, __package__, __spec__, __cached__ if "__cached__" in globals() else None)
print(os.path.abspath(__file__), os.path.dirname(__file__))
#=== globals; addresses
print(sorted(globals()))
print(__loader__, __builtins__)
#=== globals-order
print(list(globals()))
print({k: v for k, v in globals().items() if k != "__builtins__" and k != "__loader__"})
#=== locals-are-globals
print(locals() is globals(), vars() is globals(), dir())
#=== main-module
import sys, __main__
print(__main__ is sys.modules["__main__"], __main__.__dict__ is globals(), __main__)
x = 5
print(__main__.x)
#=== docstring
"""The docs."""
print(__doc__)
#=== annotations
x: int = 3
print(__annotations__)
#=== guarded-main
if __name__ == "__main__":
    print("main")
else:
    print("imported")
#=== path; addresses
import sys
print(sys.path, sys.path_hooks != [], sys.meta_path)
print(sorted(sys.path_importer_cache))
#=== prefix
import sys
print(sys.prefix, sys.exec_prefix, sys.executable, sys.base_prefix, sys.pycache_prefix, sys.dont_write_bytecode)
print(sys.version_info, sys.implementation.cache_tag, sys.platform, sys.byteorder)
#=== modules
import sys
print(sorted(sys.modules))
#=== modules-count
import sys
print(len(sys.modules))
#=== interned-and-small
import sys
print(sys.getswitchinterval(), sys.getdefaultencoding(), sys.getfilesystemencoding(), sys.is_finalizing())
print(sys.getallocatedblocks() > 0, sys.int_info.default_max_str_digits)
#=== hash-differs; varies
print(hash("text"), {"a", "b", "c", "d", "e", "f", "g", "h"})
#=== addresses-differ; varies
print(id(object()), id([]), object())
#=== random-differs; varies
import random, os, uuid, secrets
print(random.random(), os.urandom(4), uuid.uuid4(), secrets.token_hex())
#=== tempnames-differ; varies
import tempfile
print(tempfile.mktemp(), tempfile.mkdtemp())
#=== random-seeded
import random
random.seed(1)
print(random.random(), random.sample(range(100), 5))
#=== environment
import os
print(sorted(os.environ.items()))
#=== working-directory
import os
print(os.getcwd(), os.listdir("."), os.path.expanduser("~"))
#=== umask-and-limits
import os, resource
print(oct(os.umask(0)))
print([resource.getrlimit(getattr(resource, each)) for each in sorted(dir(resource)) if each.startswith("RLIMIT_") and each not in ("RLIMIT_DATA",)])
#=== process
import os
print(os.getppid(), os.getpgrp() == os.getpid(), os.getsid(0) == os.getpid(), os.getuid(), os.getgroups())
print(open("/proc/self/cmdline").read().split("\0"))
print(open("/proc/self/comm").read())
print(os.readlink("/proc/self/exe"), os.readlink("/proc/self/cwd"))
#=== threads-of-process
import os
print(len(os.listdir("/proc/self/task")))
#=== children-at-start
import os
try:
    os.wait()
except ChildProcessError as e:
    print(e)
#=== signals-of-process
print([line for line in open("/proc/self/status") if line.startswith("Sig") and not line.startswith("SigQ")])
#=== shadow-json
open("json.py", "w").write("def dumps(x): return 'mine'\n")
import json
print(json.dumps(1), json.__file__)
#=== shadow-re
open("re.py", "w").write("mine = True\n")
import re
print(re.mine)
#=== shadow-several
for name in ("os", "sys", "io", "json", "re", "base64", "struct", "select", "ast", "linecache", "traceback", "typing", "threading", "random", "codecs", "signal"):
    open(name + ".py", "w").write("mine = True\n")
    import importlib
    module = importlib.import_module(name)
    print(name, hasattr(module, "mine"))
#=== shadow-then-error
open("traceback.py", "w").write("raise ImportError('shadowed')\n")
open("linecache.py", "w").write("raise ImportError('shadowed')\n")
1 / 0
#=== import-from-workspace
import os
os.makedirs("pkg")
open("pkg/__init__.py", "w").write("from . import sub\n")
open("pkg/sub.py", "w").write("print(__name__, __file__, __package__)\n")
import pkg
print(pkg.sub)
print(sorted(os.listdir("pkg")))
#=== import-missing
import no_such_module
#=== import-missing-from
from os import no_such_name
#=== import-relative
from . import sibling
#=== import-self
import main
print(main)
#=== import-main-again
import runpy, sys
if len(sys.argv) == 1:
    sys.argv.append("again")
    runpy.run_path(__file__, run_name="other")
print(__name__)
#=== modules-replaced-by-user
import builtins, io, os, sys
os.write = None
os.read = None
os.fork = None
io.open = None
sys.modules.clear()
builtins.print("still prints")
#=== builtins-replaced-by-user
import builtins
say = print
builtins.print = lambda *a: say("mine", *a)
builtins.open = None
builtins.compile = None
builtins.exec = None
builtins.len = None
print("hello")
#=== sys-replaced-by-user
import sys
sys.exit = lambda code=0: print("no exit", code)
sys.exit(3)
sys.modules["sys"] = None
sys.modules["os"] = None
#=== sys-emptied
import sys
del sys.modules["builtins"], sys.modules["__main__"]
sys.path[:] = []
sys.meta_path[:] = []
print("end")
#=== threading-replaced
import threading
threading._shutdown = lambda: print("shutdown replaced")
threading.current_thread = None
#=== gc-state
import gc
print(gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), gc.garbage, gc.get_debug())
#=== gc-counts
import gc
class A: pass
a = A(); a.b = a
del a
print(gc.collect() > 0)
print(sum(isinstance(each, A) for each in gc.get_objects()))
#=== objects-of-ours
import gc, types
for each in gc.get_objects():
    if isinstance(each, types.FrameType):
        print(each.f_code.co_filename, each.f_code.co_name)
#=== code-of-main
import sys
code = sys._getframe().f_code
print(code.co_filename, code.co_name, code.co_firstlineno, code.co_flags)
#=== codecs-loaded
import codecs
print(codecs.lookup("utf-8").name, codecs.lookup_error("strict"))
#=== locale
import locale
print(locale.getlocale(), locale.getpreferredencoding(), locale.setlocale(locale.LC_ALL))
#=== decimal-and-contexts; addresses
import contextvars, decimal
print(decimal.getcontext())
print(list(contextvars.copy_context()))
#=== sockets-and-timeouts
import socket
print(socket.getdefaulttimeout(), socket.gethostname())
#=== event-loop
import asyncio
try:
    asyncio.get_running_loop()
except RuntimeError as e:
    print(e)
print(type(asyncio.get_event_loop_policy()).__name__)
async def main():
    await asyncio.sleep(0)
    return [task.get_name() for task in asyncio.all_tasks()]
print(asyncio.run(main()))
#=== async-fails
import asyncio
async def inner():
    raise ValueError("inside")
async def main():
    await asyncio.gather(inner(), asyncio.sleep(1))
asyncio.run(main())
#=== async-task-never-awaited
import asyncio
async def fails():
    1 / 0
async def main():
    asyncio.create_task(fails(), name="lost")
    await asyncio.sleep(0.01)
    print("main ends")
asyncio.run(main())
#=== async-generators
import asyncio
async def numbers():
    try:
        for i in range(3):
            yield i
    finally:
        print("closed")
async def main():
    async for n in numbers():
        print(n)
        break
asyncio.run(main())
#=== async-debug
import asyncio, sys
print(sys.get_asyncgen_hooks(), sys.get_coroutine_origin_tracking_depth())
#=== async-subprocess
import asyncio
async def main():
    p = await asyncio.create_subprocess_exec("echo", "hello", stdout=asyncio.subprocess.PIPE)
    print(await p.communicate(), p.returncode)
asyncio.run(main())
#=== multiprocessing-fork
import multiprocessing as mp
def work(n): return n * n
if __name__ == "__main__":
    with mp.Pool(2) as pool:
        print(pool.map(work, range(5)))
#=== multiprocessing-spawn
import multiprocessing as mp
def work(q): q.put("from the child " + __name__)
if __name__ == "__main__":
    mp.set_start_method("spawn")
    q = mp.Queue()
    p = mp.Process(target=work, args=(q,))
    p.start()
    print(q.get())
    p.join()
    print(p.exitcode)
#=== multiprocessing-forkserver
import multiprocessing as mp
def work(q): q.put(mp.current_process().name)
if __name__ == "__main__":
    c = mp.get_context("forkserver")
    q = c.Queue()
    p = c.Process(target=work, args=(q,))
    p.start()
    print(q.get())
    p.join()
    print(p.exitcode)
#=== multiprocessing-names
import multiprocessing as mp
print(mp.current_process().name, mp.parent_process(), mp.active_children(), mp.get_start_method())
#=== process-executor
from concurrent.futures import ProcessPoolExecutor
if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        print(list(pool.map(abs, [-1, -2])))
#=== subprocess-output
import subprocess, sys
subprocess.run([sys.executable, "-c", "import sys; print(sys.argv, __name__); sys.exit(3)"])
print(subprocess.run(["sh", "-c", "echo out; echo err >&2; exit 4"], capture_output=True))
#=== subprocess-fails
import subprocess
try:
    subprocess.run(["/no/such/program"])
except OSError as e:
    print(e)
subprocess.check_call(["false"])
#=== subprocess-input
import subprocess
print(subprocess.run(["cat"], input=b"given", capture_output=True).stdout)
print(subprocess.run(["cat"], capture_output=True).stdout)
#=== subprocess-left-behind
import subprocess
subprocess.Popen(["sleep", "20"])
print("end")
#=== system-status
import os
print(os.system("exit 3"), os.system("kill -9 $$"), os.waitstatus_to_exitcode(os.system("exit 5")))
print(os.popen("echo popen").read())
#=== fork-and-exit-code
import os
pid = os.fork()
if pid == 0:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
#=== fork-child-falls-through
import os, sys
pid = os.fork()
if pid:
    os.waitpid(pid, 0)
print("parent" if pid else "child", flush=True)
#=== fork-child-fails
import os
if os.fork() == 0:
    1 / 0
print(os.waitstatus_to_exitcode(os.wait()[1]))
#=== fork-handlers
import os
os.register_at_fork(before=lambda: print("before", flush=True), after_in_parent=lambda: print("parent", flush=True))
pid = os.fork()
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
#=== exec-another
import os
print("lost in the buffer")
os.execvp("echo", ["echo", "another program"])
#=== exec-itself
import os, sys
if "AGAIN" not in os.environ:
    os.environ["AGAIN"] = "1"
    os.execv(sys.executable, [sys.executable, __file__, "argument"])
print(sys.argv)
#=== file-of-program
import os, stat
s = os.stat(__file__)
print(oct(s.st_mode), s.st_size, s.st_nlink, s.st_uid)
for action in (lambda: open(__file__, "a"), lambda: os.remove(__file__), lambda: open("/run/igloo/new", "w"), lambda: os.chmod(__file__, 0o777), lambda: os.rename(__file__, "/run/igloo/x")):
    try:
        print(action())
    except OSError as e:
        print(e)
print(os.listdir("/run/igloo"))
#=== source-of-program
import linecache
print(open(__file__).read().splitlines()[0])
print(linecache.getline(__file__, 2), end="")
#=== bytecode-written
import os
open("m.py", "w").write("x = 1\n")
import m
print(os.listdir("__pycache__"), os.path.exists("/run/igloo/__pycache__"))
#=== pickles
import pickle
class A: pass
data = pickle.dumps(A())
print(pickle.loads(data).__class__, A.__module__, A.__qualname__)
print(data)
#=== dataclasses-and-typing
import dataclasses, typing
@dataclasses.dataclass
class P:
    x: "int"
    y: typing.Optional[str] = None
print(P(1), typing.get_type_hints(P))
#=== unittest-main
import unittest
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(1, 1)
    def test_b(self): self.skipTest("why not")
unittest.main(argv=["x", "-q"], exit=False, testRunner=unittest.TextTestRunner(stream=open("/dev/null", "w")))
print("after")
#=== unittest-exits; mask /in [0-9.]+s/in N s/
import unittest
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(1, 2)
unittest.main()
#=== doctest
"""
>>> 1 + 1
3
"""
import doctest
print(doctest.testmod())
#=== argparse-usage
import argparse
p = argparse.ArgumentParser()
p.add_argument("name")
p.parse_args()
#=== argparse-help
import argparse
p = argparse.ArgumentParser(description="what it does")
p.add_argument("--n", type=int, default=3)
p.parse_args(["--help"])
#=== interactive-hooks
import sys
print(hasattr(sys, "ps1"), hasattr(sys, "__interactivehook__"), "_" in dir(__builtins__))
#=== display-is-not-defined
print("display" in globals(), "display" in dir(__builtins__))
#=== code-module
import code
code.InteractiveConsole().runsource("print(1)")
#=== breakpoint
breakpoint()
print("after")
#=== pdb-post-mortem
import pdb
print(pdb.__file__.endswith("pdb.py"))
#=== crlf; escaped
print("one")\r\nif True:\r\n    print("two")\r\n
#=== byte-order-mark; escaped
\ufeffprint("after the mark")\n
#=== latin-1-source; escaped
# -*- coding: latin-1 -*-\nprint(ascii("\xe4"))\n
#=== form-feed; escaped
x = 1\n\x0cprint(x)\n
#=== no-newline-at-end; escaped
print("end")
#=== empty; escaped

#=== only-comment; escaped
# nothing
#=== only-docstring
"""nothing else"""
#=== shebang
#!/usr/bin/env python3 -X dev
# -*- coding: utf-8 -*-
import sys
print(sys.flags.dev_mode)
#=== future-import
from __future__ import annotations
def f(x: Undefined): pass
print(f.__annotations__)
#=== long-line
x = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50]; print(sum(x)); print(x[60])
#=== deep-nesting; addresses
def f():
    def g():
        class A:
            def h(self):
                return lambda: (yield)
        return A
    return g
print(f()().h)
#=== sleep-and-time
import time
a = time.monotonic()
time.sleep(0.01)
print(time.monotonic() > a, time.tzname, time.daylight)
#=== age-of-process; aged
began = int(open("/proc/self/stat").read().split()[21]) / 100
print(float(open("/proc/uptime").read().split()[0]) - began < 2)
#=== processor-time-starts-small
import time
print(time.process_time() < 5)
#=== site-and-user
import site, sys
print(site.ENABLE_USER_SITE, site.getsitepackages(), "sitecustomize" in sys.modules, "usercustomize" in sys.modules)
#=== zip-application
import os, subprocess, sys, zipfile
with zipfile.ZipFile("app.zip", "w") as z:
    z.writestr("__main__.py", "print('zipped', __name__)")
subprocess.run([sys.executable, "app.zip"])
#=== native-modules
import ctypes, sqlite3, ssl, zlib, hashlib
print(ctypes.sizeof(ctypes.c_long), sqlite3.connect(":memory:").execute("select 1 + 1").fetchone())
print(hashlib.sha256(b"x").hexdigest()[:8], zlib.crc32(b"x"))
print(ctypes.CDLL(None).getpid() == __import__("os").getpid())
#=== tty
import os, sys
print(sys.stdin.isatty(), os.isatty(1))
try:
    print(os.ttyname(0))
except OSError as e:
    print(e)
try:
    print(os.get_terminal_size())
except OSError as e:
    print(e)
