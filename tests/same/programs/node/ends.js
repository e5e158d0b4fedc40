//=== exit-code
process.exit(7);
//=== exit-code-property
process.exitCode = 5;
console.log('end');
//=== exit-code-property-and-exit
process.exitCode = 5;
process.exit();
//=== exit-code-text
process.exitCode = '9';
//=== exit-code-bad
process.exitCode = 'abc';
//=== exit-code-large
process.exit(300);
//=== exit-code-negative
process.exit(-1);
//=== exit-code-undefined
process.exitCode = 3;
process.exitCode = undefined;
//=== exit-events
process.on('beforeExit', c => console.log('beforeExit', c));
process.on('exit', c => console.log('exit', c));
//=== exit-events-order
process.on('exit', () => console.log('first'));
process.once('exit', () => console.log('second'));
process.prependListener('exit', () => console.log('before'));
process.exit(2);
//=== before-exit-schedules
let n = 0;
process.on('beforeExit', () => { console.log('beforeExit', n); if (n++ < 2) setTimeout(() => {}, 1); });
//=== exit-event-changes-code
process.on('exit', () => { process.exitCode = 8; });
//=== exit-event-exits
process.on('exit', c => { console.log(c); process.exit(9); });
//=== exit-event-throws
process.on('exit', () => { throw new Error('in exit'); });
//=== exit-event-after-error
process.on('exit', c => console.log('exit', c));
throw new Error('x');
//=== exit-event-after-rejection
process.on('exit', c => console.log('exit', c, process.exitCode));
Promise.reject(3);
//=== exit-in-timer
setTimeout(() => process.exit(4), 1);
setTimeout(() => console.log('never'), 5000);
//=== exit-in-promise
Promise.resolve().then(() => process.exit(6));
//=== exit-flushes
process.stdout.write('x'.repeat(60000) + '\n');
process.exit(1);
//=== exit-replaced
process.exit = c => console.log('no exit', c);
process.exit(3);
//=== really-exit-hook
const real = process.reallyExit;
process.reallyExit = c => { console.log('really', c); real.call(process, c); };
process.exit(3);
//=== really-exit-hook-at-end
const real = process.reallyExit;
process.reallyExit = c => { console.log('really', c); real.call(process, c); };
//=== emit-hook
const emit = process.emit;
process.emit = function (name, ...a) { if (typeof name === 'string') console.log('emit', name); return emit.call(this, name, ...a); };
process.on('exit', () => console.log('exit'));
//=== emit-hook-with-signals
const emit = process.emit;
process.emit = function (name, ...a) { if (name === 'exit') { console.log('exiting', a[0]); } return emit.call(this, name, ...a); };
process.exit(5);
//=== event-functions-replaced
process.on = () => { throw new Error('no on'); };
process.once = process.addListener = process.on;
process.nextTick = () => { throw new Error('no tick'); };
console.log('end');
//=== builtins-broken
Array.prototype.push = () => { throw new Error('push'); };
Array.prototype.map = Array.prototype.forEach = Array.prototype.join = null;
Function.prototype.call = Function.prototype.apply = null;
Object.keys = JSON.stringify = JSON.parse = null;
Promise.prototype.then = null;
//=== globals-replaced
globalThis.process = null;
globalThis.console = null;
globalThis.Buffer = null;
globalThis.setTimeout = null;
globalThis.setImmediate = null;
//=== fs-replaced
const fs = require('fs');
for (const name of Object.keys(fs)) try { fs[name] = () => { throw new Error('no ' + name); }; } catch { /* a getter */ }
console.log('still prints');
//=== object-prototype-polluted
Object.prototype.polluted = 'x';
Object.prototype.encoding = 'latin1';
console.log('end');
//=== abort
process.abort();
//=== killed-by-itself
process.kill(process.pid, 'SIGKILL');
setTimeout(() => {}, 5000);
//=== terminated
process.kill(process.pid, 'SIGTERM');
setTimeout(() => {}, 5000);
//=== interrupted
process.kill(process.pid, 'SIGINT');
setTimeout(() => {}, 5000);
//=== signal-handler
process.on('SIGTERM', (s, n) => { console.log('got', s, n); process.exit(9); });
process.kill(process.pid, 'SIGTERM');
setTimeout(() => {}, 5000);
//=== signal-handler-interrupt
process.on('SIGINT', () => { console.log('int'); process.exitCode = 2; clearTimeout(t); });
const t = setTimeout(() => {}, 5000);
process.kill(process.pid, 'SIGINT');
//=== signal-handler-replaced
process.on('SIGINT', () => console.log('first'));
process.removeAllListeners('SIGINT');
process.on('SIGINT', () => { console.log('second'); clearTimeout(t); });
const t = setTimeout(() => {}, 5000);
process.kill(process.pid, 'SIGINT');
//=== signal-handler-removed
const f = () => {};
process.on('SIGTERM', f);
process.off('SIGTERM', f);
process.kill(process.pid, 'SIGTERM');
setTimeout(() => {}, 5000);
//=== signal-usr2
process.on('SIGUSR2', () => { console.log('usr2'); clearInterval(t); });
const t = setInterval(() => {}, 1000);
process.kill(process.pid, 'SIGUSR2');
//=== signal-broken-pipe
process.kill(process.pid, 'SIGPIPE');
setTimeout(() => console.log('alive'), 5);
//=== signals-of-process
console.log(require('fs').readFileSync('/proc/self/status', 'utf8').split('\n').filter(l => /^Sig(Blk|Ign|Cgt)/.test(l)));
//=== signals-of-child
console.log(require('child_process').execSync('grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status').toString());
//=== kill-nothing
try { process.kill(99999, 0); } catch (e) { console.log(e.code); }
console.log(process.kill(process.pid, 0));
//=== out-of-memory-array
try { new Array(-1); } catch (e) { console.log(e.message); }
try { Buffer.alloc(2 ** 53); } catch (e) { console.log(e.code); }
//=== endless-promise-chain-ends
let n = 0;
(async () => { while (n < 1000) { n++; await null; } console.log(n); })();
//=== server-closed
const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log('listening'); s.close(() => console.log('closed')); });
//=== server-unref
require('net').createServer().listen(0, '127.0.0.1').unref();
console.log('end');
//=== worker
const { Worker, isMainThread, parentPort, threadId } = require('worker_threads');
if (isMainThread) {
  const w = new Worker(__filename);
  w.on('message', m => console.log('from worker', m));
  w.on('exit', c => console.log('worker exit', c));
} else {
  parentPort.postMessage([threadId, require.main === module, __filename, process.argv.length]);
}
//=== worker-eval
const { Worker } = require('worker_threads');
new Worker('console.log("in worker", require("worker_threads").workerData, process.argv)', { eval: true, workerData: { a: 1 }, argv: ['x'] });
//=== worker-fails
const { Worker } = require('worker_threads');
const w = new Worker('throw new Error("in worker")', { eval: true });
w.on('error', e => console.log('error', e.message, e.stack.split('\n').length));
w.on('exit', c => console.log('exit', c));
//=== worker-exits
const { Worker } = require('worker_threads');
new Worker('process.exit(5)', { eval: true }).on('exit', c => console.log('exit', c));
//=== worker-main-thread
const w = require('worker_threads');
console.log(w.isMainThread, w.threadId, w.parentPort, w.workerData, w.resourceLimits);
//=== worker-output
const { Worker } = require('worker_threads');
new Worker('process.stdout.write("one\\n"); process.stderr.write("two\\n")', { eval: true });
//=== message-channel
const { port1, port2 } = new MessageChannel();
port1.on('message', m => { console.log(m); port1.close(); });
port2.postMessage({ a: 1 });
//=== child-exec; mask /pid: [0-9]+/pid: N/
const { execSync, spawnSync } = require('child_process');
console.log(execSync('echo out').toString(), spawnSync('sh', ['-c', 'echo e >&2; exit 3']));
//=== child-inherit
const { spawnSync } = require('child_process');
console.log('before');
spawnSync('echo', ['from the child'], { stdio: 'inherit' });
console.log('after');
//=== child-fork
const { fork } = require('child_process');
if (process.send) { process.send({ argv: process.argv.slice(2), main: require.main === module }); process.disconnect(); }
else { const c = fork(__filename, ['x']); const seen = []; c.on('message', m => seen.push(['message', m])); c.on('exit', (code, signal) => seen.push(['exit', code, signal])); process.on('exit', () => console.log(seen.sort())); }
//=== child-missing
require('child_process').spawn('/no/such/program').on('error', e => console.log(e.code, e.syscall));
//=== child-missing-unhandled
require('child_process').spawn('/no/such/program');
//=== child-killed
const c = require('child_process').spawn('sleep', ['20']);
c.on('exit', (code, signal) => console.log(code, signal));
c.kill();
//=== child-detached
require('child_process').spawn('sleep', ['20'], { detached: true, stdio: 'ignore' }).unref();
console.log('end');
//=== child-exec-fails; mask /pid: [0-9]+/pid: N/
try { require('child_process').execSync('exit 3', { stdio: 'pipe' }); } catch (e) { console.log(e.status, e.message); }
require('child_process').execSync('exit 4');
//=== child-node
console.log(require('child_process').execFileSync(process.execPath, ['-e', 'console.log(process.argv.length, typeof require, __filename)']).toString());
//=== cluster
const cluster = require('cluster');
if (cluster.isPrimary) { cluster.fork().on('exit', c => console.log('worker', c)); } else { console.log('in worker'); process.exit(3); }
