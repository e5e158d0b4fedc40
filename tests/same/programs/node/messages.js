//=== error-uncaught
function a() { b(); }
function b() { throw new TypeError('wrong'); }
a();
//=== error-stack
console.log(new Error('here').stack);
//=== error-stack-in-function
function f() { return new Error('x').stack; }
console.log(f());
const g = () => { try { null.x; } catch (e) { console.log(e.stack); } };
g();
//=== error-stack-in-timer
setImmediate(() => { console.log(new Error('immediate').stack); setTimeout(() => console.log(new Error('timer').stack), 1); });
process.nextTick(() => console.log(new Error('tick').stack));
queueMicrotask(() => console.log(new Error('micro').stack));
//=== error-stack-async
async function a() { await null; await b(); }
async function b() { await null; throw new Error('deep'); }
a().catch(e => console.log(e.stack));
//=== error-stack-limit
Error.stackTraceLimit = 50;
function f(n) { if (n === 0) throw new Error('deep'); f(n - 1); }
f(20);
//=== error-stack-limit-none
Error.stackTraceLimit = 0;
throw new Error('no frames');
//=== error-prepare-stack
Error.prepareStackTrace = (e, sites) => sites.map(s => `${s.getFileName()}:${s.getLineNumber()}:${s.getFunctionName()}:${s.isToplevel()}`).join('\n');
console.log(new Error('x').stack);
//=== error-capture
const o = {};
Error.captureStackTrace(o);
console.log(o.stack);
//=== error-cause
throw new Error('outer', { cause: new Error('inner') });
//=== error-aggregate
throw new AggregateError([new Error('one'), new RangeError('two')], 'both');
//=== error-properties
const e = new Error('with properties');
e.code = 'E_CODE';
e.more = { a: 1 };
throw e;
//=== error-own-class
class MyError extends Error { constructor(m) { super(m); this.name = 'MyError'; } }
throw new MyError('mine');
//=== error-not-an-error
throw 'a string';
//=== error-null
throw null;
//=== error-object
throw { a: 1, toString() { return 'object'; } };
//=== error-symbol
throw Symbol('s');
//=== error-undefined-name
console.log(lenght);
//=== error-not-a-function
const o = {};
o.f();
//=== error-of-undefined
let x;
x.y.z;
//=== error-long-line
const value = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'; throw new Error(value);
//=== error-unicode
const größe = '🐧';
throw new Error(größe + ' ä');
//=== error-in-eval
eval('throw new Error("in eval")');
//=== error-in-new-function
new Function('a', 'return a.b.c')({});
//=== error-in-vm
require('vm').runInThisContext('throw new Error("vm")', { filename: 'other.js' });
//=== error-in-module
require('fs').writeFileSync('lib.js', 'exports.f = () => { throw new Error("in lib"); };\n');
require('/workspace/lib.js').f();
//=== error-in-json
JSON.parse('{bad');
//=== error-file-missing
require('fs').readFileSync('/no/such/file');
//=== error-file-missing-async
require('fs').promises.readFile('/no/such/file');
//=== error-assertion
require('assert').strictEqual(1, 2);
//=== error-assertion-deep
require('assert').deepStrictEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] });
//=== error-assertion-ok
const assert = require('assert');
assert(1 === 2);
//=== error-event
new (require('events'))().emit('error', new Error('no listener'));
//=== error-event-not-error
new (require('events'))().emit('error', { odd: true });
//=== error-invalid-argument
require('path').join(3);
//=== error-recursion
function f() { f(); }
try { f(); } catch (e) { console.log(e.name, e.message); }
f();
//=== rejection-unhandled
Promise.reject(new Error('rejected'));
setTimeout(() => console.log('never'), 20);
//=== rejection-not-error
Promise.reject('a reason');
//=== rejection-undefined
Promise.reject();
//=== rejection-handled-late
const p = Promise.reject(new Error('late'));
process.on('unhandledRejection', (e) => console.log('unhandled', e.message));
process.on('rejectionHandled', () => console.log('handled'));
setTimeout(() => p.catch(() => {}), 5);
//=== rejection-in-async
async function main() { throw new Error('from main'); }
main();
//=== rejection-exit-code
process.on('exit', c => console.log('exit', c));
Promise.reject(new Error('x'));
//=== uncaught-handler
process.on('uncaughtException', (e, origin) => console.log('caught', e.message, origin));
setTimeout(() => console.log('goes on'), 5);
throw new Error('x');
//=== uncaught-handler-throws
process.on('uncaughtException', () => { throw new Error('second'); });
throw new Error('first');
//=== uncaught-monitor
process.on('uncaughtExceptionMonitor', e => console.log('monitor', e.message));
throw new Error('x');
//=== uncaught-capture
process.setUncaughtExceptionCaptureCallback(e => console.log('captured', e.message));
throw new Error('x');
//=== syntax-error
console.log('never');
const x = ;
//=== syntax-error-unclosed
function f() {
  console.log(1);
//=== syntax-error-token
if (true) { } }
//=== syntax-error-string
const s = 'never closed;
//=== syntax-error-reserved
const let = 1;
//=== syntax-error-twice
const a = 1;
const a = 2;
//=== syntax-error-regexp
const r = /(/;
//=== syntax-error-await
function f() { await 1; }
//=== syntax-error-in-eval
eval('1 +');
//=== syntax-error-in-module
require('fs').writeFileSync('bad.js', 'let x = ;\n');
require('/workspace/bad.js');
//=== await-at-top-level
await 1;
console.log('awaited');
//=== return-at-top-level
console.log('before');
return;
console.log('after');
//=== this-at-top-level
console.log(this === module.exports, this);
//=== strict-mode
'use strict';
undeclared = 1;
//=== sloppy-mode
undeclared = 1;
console.log(globalThis.undeclared, (function () { return this === globalThis; })());
//=== warning; mask /\(node:[0-9]+\)/(node:N)/
process.emitWarning('careful');
process.emitWarning('old', 'DeprecationWarning', 'DEP9999');
new Buffer(3);
//=== warning-leak; mask /\(node:[0-9]+\)/(node:N)/
const e = new (require('events'))();
for (let i = 0; i < 12; i++) e.on('x', () => {});
//=== warning-handler; mask /\(node:[0-9]+\)/(node:N)/
process.on('warning', w => console.log('warned', w.name, w.message));
process.emitWarning('careful');
//=== warning-experimental; mask /\(node:[0-9]+\)/(node:N)/
require('vm').SourceTextModule;
fetch;
new (require('stream').Readable)().map;
console.log(typeof require('node:test'));
//=== console-methods
console.error('err');
console.warn('warn');
console.info('info');
console.debug('debug');
console.table([{ a: 1, b: 2 }]);
console.group('g');
console.log('inside');
console.groupEnd();
console.count();
console.count('x');
console.assert(false, 'assertion %d', 3);
console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 });
//=== console-trace
console.trace('traced');
function f() { console.trace(); }
f();
//=== console-time; mask /[0-9.]+ms/N ms/; mask /\(node:[0-9]+\)/(node:N)/
console.time('t');
console.timeEnd('t');
console.timeEnd('missing');
//=== console-properties
console.log(Object.keys(console));
console.log(console._stdout === process.stdout, console.log.name, String(console.log));
//=== console-replaced
console.log = (...a) => process.stdout.write('mine ' + a + '\n');
console.log(1, 2);
//=== console-new
const { Console } = require('console');
new Console(process.stdout, process.stderr).log('own', { a: 1 });
//=== inspect
console.log([1, , 3], new Map([[1, { a: 2 }]]), new Set('ab'), Symbol('x'), 10n, -0, [undefined, null]);
console.log({ f() {}, g: class A {}, h: () => 1, get i() { return 1; } });
console.log('%s %d %i %f %j %o %O %%', 'a', 1.5, 1.5, '2', { a: 1 }, [1], { b: 2 });
console.log(process.versions.node.split('.')[0] > 0, typeof process);
console.log(new Proxy({}, {}), new WeakMap(), Buffer.from('ab'), new Date(0));
//=== inspect-module
console.log(Object.keys(module), module.id, module.loaded, module.parent, module.children, module.paths);
console.log(module);
