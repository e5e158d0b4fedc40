#=== traceback-nested
def a(): b()
def b(): c()
def c():
    return [][1]
a()
#=== traceback-carets
x = {"a": {"b": None}}
print(x["a"]["b"]["c"] + 1)
#=== traceback-cause
try:
    1 / 0
except ZeroDivisionError as e:
    raise ValueError("other") from e
#=== traceback-context
try:
    1 / 0
except ZeroDivisionError:
    [][0]
#=== traceback-suppressed
try:
    1 / 0
except ZeroDivisionError:
    raise ValueError from None
#=== traceback-notes
e = ValueError("with notes")
e.add_note("note one")
e.add_note("note two")
raise e
#=== traceback-group
def f(n):
    raise ValueError(n)
errors = []
for n in range(3):
    try:
        f(n)
    except ValueError as e:
        errors.append(e)
raise ExceptionGroup("group", errors)
#=== traceback-repeated
def f(n): return f(n + 1)
f(0)
#=== traceback-multiline
value = (1 +
         2 /
         0)
#=== traceback-unicode
größe = "ä" * 3
print(größe, größe / 2)
#=== traceback-in-comprehension
print([1 / n for n in (2, 1, 0)])
#=== traceback-from-exec
exec("def f():\n    1 / 0\nf()")
#=== traceback-from-compiled
exec(compile("raise ValueError", "other.py", "exec"))
#=== traceback-from-module
open("helper.py", "w").write("def go():\n    raise KeyError('key')\n")
import helper
helper.go()
#=== traceback-from-library
import json
json.loads("{")
#=== traceback-printed
import traceback
try:
    1 / 0
except ZeroDivisionError:
    traceback.print_exc()
    print(traceback.format_exc())
traceback.print_stack()
#=== traceback-frames
import sys, traceback
def f():
    frame = sys._getframe()
    while frame:
        print(frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno)
        frame = frame.f_back
f()
print(len(traceback.extract_stack()))
#=== traceback-inspect
import inspect
def f(): return inspect.stack()
print([(each.filename, each.function, each.lineno) for each in f()])
print(inspect.getsource(f))
#=== traceback-chained-in-finally
try:
    raise ValueError(1)
finally:
    raise TypeError(2)
#=== traceback-own-class
class MyError(Exception):
    def __str__(self): return "my text"
raise MyError
#=== traceback-own-class-failing
class MyError(Exception):
    def __str__(self): raise ValueError
raise MyError
#=== traceback-of-module-class
import decimal
raise decimal.InvalidOperation([decimal.ConversionSyntax])
#=== traceback-limit
import sys
sys.tracebacklimit = 1
def a(): b()
def b(): 1 / 0
a()
#=== did-you-mean-name
length = 3
print(lenght)
#=== did-you-mean-attribute
import math
math.sqr(4)
#=== did-you-mean-import
from math import sqr
#=== did-you-mean-builtin
prnt("x")
#=== did-you-mean-self
class A:
    def __init__(self): self.blech = 1
    def f(self): return blech
A().f()
#=== did-you-forget-import
json.dumps(1)
#=== syntax-error
print("never")
def f(:
    pass
#=== syntax-error-unclosed
x = (1,
y = 2
#=== syntax-error-print
print "hello"
#=== syntax-error-indent
def f():
pass
#=== syntax-error-tabs; escaped
if 1:\n\tx = 1\n        y = 2\n
#=== syntax-error-at-end
if True:
#=== syntax-error-string
x = "never closed
#=== syntax-error-await
import asyncio
await asyncio.sleep(0)
#=== syntax-error-await-nested
def f():
    await g()
#=== syntax-error-return
return 3
#=== syntax-error-yield
yield 3
#=== syntax-error-break
break
#=== syntax-error-nonlocal
nonlocal x
#=== syntax-error-assignment
f() = 3
#=== syntax-error-fstring
x = f"{a b}"
#=== syntax-error-future
x = 1
from __future__ import annotations
#=== syntax-error-encoding; escaped
# -*- coding: nothing -*-\nprint(1)\n
#=== syntax-error-nul; escaped
print(1)\x00\n
#=== syntax-error-in-eval
eval("1 +")
#=== syntax-warning
x = 5
if x is 5:
    print("is")
print("\d")
#=== warning
import warnings
warnings.warn("careful")
def f(): warnings.warn("deprecated", DeprecationWarning, stacklevel=2)
f()
f()
#=== warning-as-error
import warnings
warnings.simplefilter("error")
warnings.warn("careful")
#=== warning-filters
import warnings
print(warnings.filters)
#=== warning-of-resource
import warnings
warnings.simplefilter("always")
def f(): open("/dev/null")
f()
#=== warning-of-coroutine
async def f(): pass
f()
print("end")
#=== warning-shown
import warnings
print(warnings.formatwarning("text", UserWarning, "/run/igloo/main.py", 1))
#=== logging-of-errors
import logging
logging.warning("to stderr")
logging.basicConfig(format="%(levelname)s %(name)s %(filename)s %(funcName)s %(lineno)d %(message)s")
logging.getLogger("x").error("more")
try:
    1 / 0
except ZeroDivisionError:
    logging.exception("caught")
#=== excepthook
import sys
sys.excepthook = lambda t, v, tb: print("hook", t.__name__, v, tb.tb_lineno, tb.tb_frame.f_code.co_name)
1 / 0
#=== excepthook-fails
import sys
def hook(*a): raise KeyError("in hook")
sys.excepthook = hook
1 / 0
#=== excepthook-deleted
import sys
del sys.excepthook
1 / 0
#=== excepthook-exits
import sys
sys.excepthook = lambda *a: sys.exit(9)
1 / 0
#=== unraisablehook
import sys
sys.unraisablehook = lambda u: print("unraisable", u.exc_type.__name__)
class A:
    def __del__(self): 1 / 0
del A
A2 = type("A2", (), {"__del__": lambda self: 1 / 0})
A2()
#=== threading-excepthook
import threading
threading.excepthook = lambda a: print("thread", a.exc_type.__name__)
t = threading.Thread(target=lambda: 1 / 0)
t.start()
t.join()
#=== last-exception
import sys
print(hasattr(sys, "last_type"), sys.exc_info())
#=== displayhook
import sys
sys.displayhook(42)
print(_)
sys.displayhook(None)
#=== expression-not-shown
1 + 1
"text"
#=== audit-hook
import sys
sys.addaudithook(lambda event, args: print(event, args[:1]) if event == "open" else None)
open("/dev/null").close()
#=== faulthandler; addresses
import faulthandler
print(faulthandler.is_enabled())
faulthandler.dump_traceback()
#=== recursion-limit
import sys
print(sys.getrecursionlimit())
def f(n): return n if n == 900 else f(n + 1)
print(f(0))
def g(n):
    try:
        return g(n + 1)
    except RecursionError:
        return n
print(g(1))
#=== recursion-error-text
def f(): f()
try:
    f()
except RecursionError as e:
    print(e)
#=== settrace
import sys
print(sys.gettrace(), sys.getprofile())
calls = []
def trace(frame, event, arg):
    calls.append((event, frame.f_code.co_name))
sys.settrace(trace)
def f(): pass
f()
sys.settrace(None)
print(calls)
#=== profile
import cProfile, pstats, io
p = cProfile.Profile()
p.runcall(sorted, [3, 1, 2])
print(len(pstats.Stats(p, stream=io.StringIO()).stats))
#=== assertion
assert 1 == 2, "not equal"
#=== memory-error
x = bytearray(10 ** 15)
#=== long-integer-text
print(10 ** 5000)
