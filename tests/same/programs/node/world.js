//=== names
console.log(__filename, __dirname, process.argv, process.argv0, process.execPath, process.execArgv, process.title);
//=== main-module
console.log(require.main === module, require.main.filename, module.filename, process.mainModule === module);
//=== guarded-main
if (require.main === module) console.log('main'); else console.log('imported');
//=== require-properties
console.log(Object.keys(require), require.resolve('fs'), require.resolve.paths('x'));
console.log(Object.keys(require.cache));
console.log(Object.keys(require.extensions));
//=== module-function
console.log(arguments.length, [...arguments].map(a => typeof a), arguments.callee.name, arguments.callee.toString().slice(0, 70));
//=== module-names
console.log(typeof exports, typeof require, typeof module, typeof __filename, typeof __dirname, exports === module.exports);
//=== require-without-module
const saved = require;
console.log(saved === require, require.length, require.name, module.require === require, module.constructor.name);
//=== globals
console.log(Object.getOwnPropertyNames(globalThis).sort().join(' '));
//=== globals-enumerable
console.log(Object.keys(globalThis));
for (const name in globalThis) console.log(name);
//=== names-of-igloo
console.log(typeof igloo, typeof display, typeof globalThis.igloo);
//=== process-properties
console.log(Object.getOwnPropertyNames(process).sort().join(' '));
//=== process-listeners
console.log(process.eventNames(), process.listenerCount('exit'), process.listenerCount('SIGINT'), process.listenerCount('uncaughtException'));
console.log(process.getMaxListeners(), process.rawListeners('exit'));
//=== process-listeners-removed
process.removeAllListeners();
console.log('still prints');
process.on('exit', () => console.log('exit'));
//=== process-facts; mask /"(pid|ppid)":[0-9]+/"\1":N/
console.log(JSON.stringify({ platform: process.platform, arch: process.arch, version: process.version, cwd: process.cwd(), umask: process.umask(), uid: process.getuid(), groups: process.getgroups(), pid: process.pid, ppid: process.ppid, exitCode: process.exitCode, connected: process.connected, allowed: process.allowedNodeEnvironmentFlags.size }));
//=== process-config
console.log(process.release.name, process.features, Object.keys(process.versions), process.report.directory);
//=== environment
console.log(JSON.stringify(Object.entries(process.env).sort()));
process.env.X = 1;
console.log(process.env.X, require('child_process').execSync('echo $X').toString());
//=== uptime-small; aged
console.log(process.uptime() < 2);
//=== clock-of-program; aged
console.log(performance.now() < 2000, Date.now() - performance.timeOrigin < 2000);
//=== age-of-process; aged
const fs = require('fs');
const began = fs.readFileSync('/proc/self/stat', 'utf8').split(' ')[21] / 100;
console.log(parseFloat(fs.readFileSync('/proc/uptime', 'utf8')) - began < 2);
//=== uptime-and-hrtime
const a = process.hrtime.bigint();
console.log(process.hrtime.bigint() >= a, process.uptime() > 0);
//=== performance-marks
const { performance } = require('perf_hooks');
console.log(performance.getEntries().length, performance.nodeTiming.name, Object.keys(performance.nodeTiming));
performance.mark('a');
console.log(performance.getEntriesByType('mark').length, performance.eventLoopUtilization().idle >= 0);
//=== active-resources
console.log(process.getActiveResourcesInfo(), process._getActiveHandles().length, process._getActiveRequests().length);
//=== async-ids
const h = require('async_hooks');
console.log(h.executionAsyncId(), h.triggerAsyncId());
setTimeout(() => console.log(h.executionAsyncId() > 1, h.triggerAsyncId()), 1);
//=== async-ids-exact
const h = require('async_hooks');
setImmediate(() => { console.log(h.executionAsyncId()); setTimeout(() => console.log(h.executionAsyncId()), 1); });
//=== async-hooks
const h = require('async_hooks');
const types = [];
h.createHook({ init(id, type) { types.push(type); } }).enable();
setTimeout(() => { process._rawDebug(types.join(' ')); }, 1);
Promise.resolve();
//=== async-storage
const { AsyncLocalStorage } = require('async_hooks');
const s = new AsyncLocalStorage();
console.log(s.getStore());
s.run({ a: 1 }, () => setTimeout(() => console.log(s.getStore()), 1));
//=== domain
const d = require('domain').create();
d.on('error', e => console.log('domain', e.message));
d.run(() => setTimeout(() => { throw new Error('in domain'); }, 1));
//=== timers-order
setTimeout(() => console.log('timeout'), 0);
process.nextTick(() => console.log('tick'));
Promise.resolve().then(() => console.log('promise'));
queueMicrotask(() => console.log('micro'));
console.log('sync');
//=== timers-immediate-order
setImmediate(() => { console.log('immediate'); setImmediate(() => console.log('second')); process.nextTick(() => console.log('tick')); });
//=== timers-properties
const t = setTimeout(() => {}, 1);
console.log(t.hasRef(), typeof t[Symbol.toPrimitive](), t.constructor.name, t._idleTimeout);
console.log(Object.keys(t));
//=== timer-ids
console.log(+setTimeout(() => {}, 1), +setTimeout(() => {}, 1));
//=== timers-unref
setTimeout(() => console.log('never'), 5000).unref();
console.log('end');
//=== timers-promises
require('timers/promises').setTimeout(2, 'value').then(console.log);
//=== pending-promise
new Promise(() => {});
process.on('exit', c => console.log('exit', c));
//=== microtask-in-exit
process.on('exit', () => { Promise.resolve().then(() => console.log('never')); process.nextTick(() => console.log('never')); console.log('in exit'); });
//=== require-builtin
for (const name of ['fs', 'node:fs', 'path', 'os', 'util', 'events', 'stream', 'http', 'zlib', 'crypto']) console.log(name, typeof require(name));
console.log(require('module').builtinModules.length);
//=== require-missing
require('no-such-module');
//=== require-missing-relative
require('./nothing');
//=== require-json
require('fs').writeFileSync('d.json', '{"a": [1]}');
console.log(require('/workspace/d.json'));
//=== require-relative
require('fs').writeFileSync('lib.js', 'module.exports = [__filename, module.parent && module.parent.filename, require.main.filename];\n');
try { require('./lib.js'); } catch (e) { console.log(e.code, e.requireStack); }
console.log(require('/workspace/lib.js'));
console.log(require(process.cwd() + '/lib'));
//=== require-from-workspace-modules
const fs = require('fs');
fs.mkdirSync('node_modules/mine', { recursive: true });
fs.writeFileSync('node_modules/mine/index.js', 'exports.x = 1;\n');
try { console.log(require('mine')); } catch (e) { console.log(e.message); }
console.log(require('module').createRequire('/workspace/x.js')('mine'));
//=== require-cycle
const fs = require('fs');
fs.writeFileSync('a.js', 'exports.early = 1; exports.b = require("./b"); exports.late = 2;');
fs.writeFileSync('b.js', 'exports.a = { ...require("./a") };');
console.log(require('/workspace/a.js'));
//=== require-itself
console.log(require(__filename) === module.exports, require('./main.js') === module.exports);
module.exports = 1;
//=== require-cache-cleared
const fs = require('fs');
fs.writeFileSync('n.js', 'globalThis.n = (globalThis.n || 0) + 1; module.exports = n;');
console.log(require('/workspace/n.js'), require('/workspace/n.js'));
delete require.cache['/workspace/n.js'];
console.log(require('/workspace/n.js'));
//=== require-extension
require.extensions['.txt'] = (m, file) => { m.exports = require('fs').readFileSync(file, 'utf8'); };
require('fs').writeFileSync('t.txt', 'text');
console.log(require('/workspace/t.txt'));
//=== module-loader-replaced
const Module = require('module');
const load = Module._load;
Module._load = function (request) { console.log('load', request); return load.apply(this, arguments); };
require('os');
//=== module-wrapper
console.log(require('module').wrapper, require('module').wrap('x'));
//=== import-dynamic
import('fs').then(m => console.log(typeof m.readFileSync, typeof m.default));
//=== import-dynamic-file
require('fs').writeFileSync('m.mjs', 'export const x = import.meta.url; export default 1;');
import('/workspace/m.mjs').then(m => console.log(m.x, m.default, Object.keys(m)));
//=== import-dynamic-missing
import('/workspace/missing.mjs').catch(e => console.log(e.code, e.message));
//=== import-static
import fs from 'fs';
console.log(typeof fs.readFileSync);
//=== import-with-errors
import { nothing } from 'fs';
//=== export-static
export const x = 1;
console.log('exported');
//=== import-meta
console.log(import.meta.url);
//=== await-in-text
// import x from 'y'; await
const s = `export default 1; import fs from "fs"; await x`;
console.log(s.length, /import|export|await/.test(s));
//=== eval-and-function
console.log(eval('typeof require'), new Function('return typeof require')(), (0, eval)('typeof module'));
//=== vm-contexts
const vm = require('vm');
console.log(vm.runInNewContext('a + 1', { a: 2 }), vm.runInThisContext('typeof require'), vm.isContext(globalThis));
//=== var-is-not-global
var v = 1;
function f() {}
console.log(globalThis.v, globalThis.f);
//=== script-file
const fs = require('fs');
const s = fs.statSync(__filename);
console.log((s.mode & 0o777).toString(8), s.size, s.nlink);
for (const f of [() => fs.appendFileSync(__filename, 'x'), () => fs.unlinkSync(__filename), () => fs.writeFileSync('/run/igloo/new', ''), () => fs.chmodSync(__filename, 0o777)]) try { f(); console.log('done'); } catch (e) { console.log(e.message); }
console.log(fs.readdirSync('/run/igloo'), fs.readFileSync(__filename, 'utf8').length);
//=== command-line
const fs = require('fs');
console.log(fs.readFileSync('/proc/self/cmdline', 'utf8').split('\0'), fs.readFileSync('/proc/self/comm', 'utf8'), fs.readlinkSync('/proc/self/exe'));
//=== descriptors; mask /(anon_inode:\S+|pipe:\S+|\/dev\/null|\/proc\S+)/X/
const fs = require('fs');
console.log(fs.readdirSync('/proc/self/fd').filter(n => { try { return !fs.readlinkSync('/proc/self/fd/' + n).startsWith('anon_inode') && !fs.readlinkSync('/proc/self/fd/' + n).includes('/fd'); } catch { return false; } }).filter(n => n < 3));
//=== descriptors-new
const fs = require('fs');
fs.closeSync(fs.openSync('/dev/null'));
console.log(require('child_process').execSync('ls /proc/self/fd').toString());
//=== working-directory
console.log(process.cwd(), require('fs').readdirSync('.'), require('os').homedir(), require('os').tmpdir(), require('os').hostname(), require('os').userInfo().username);
//=== heap-limits
const v8 = require('v8');
console.log(v8.getHeapStatistics().heap_size_limit > 1e8, typeof v8.getHeapSnapshot);
//=== flags-at-run-time
console.log(typeof gc, process.execArgv, process.allowedNodeEnvironmentFlags.has('--expose-gc'), require('v8').startupSnapshot?.isBuildingSnapshot());
//=== snapshot-traces
console.log(require('node:process') === process, require('util').inspect(process.binding).length > 0, process.moduleLoadList.length > 50);
//=== intl-and-locale
console.log(new Intl.NumberFormat('de').format(1234.5), Intl.DateTimeFormat().resolvedOptions().timeZone, new Date(0).toString(), 'ä'.localeCompare('z'));
//=== random-differs; varies
console.log(Math.random(), require('crypto').randomBytes(4), crypto.randomUUID());
//=== finalization
const r = new FinalizationRegistry(() => console.log('never'));
r.register({}, 1);
const w = new WeakRef({ a: 1 });
console.log(w.deref());
//=== structured-clone
console.log(structuredClone({ a: new Map([[1, new Date(0)]]) }), new Blob(['x']).size, new URL('http://x/y?z=1').searchParams.get('z'), btoa('x'), new TextEncoder().encode('ä'));
//=== fetch-refused
fetch('http://127.0.0.1:9/').catch(e => console.log(e.message, e.cause.code));
//=== wasm
const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
WebAssembly.instantiate(bytes).then(r => console.log(Object.keys(r)));
//=== test-runner; mask /duration_ms:? [0-9.]+/duration_ms N/
const test = require('node:test');
test('passes', () => {});
test('fails', () => { throw new Error('no'); });
//=== crlf; escaped
console.log('one');\r\nconsole.log('two');\r\n
//=== byte-order-mark; escaped
\ufeffconsole.log('after the mark', __filename);\n
//=== shebang
#!/usr/bin/env node
console.log('after shebang');
throw new Error('line 3');
//=== no-newline-at-end; escaped
console.log('end')
//=== comment-at-end; escaped
console.log('end') // comment
//=== empty; escaped

//=== only-comment; escaped
// nothing
//=== only-text; escaped
"use strict"
//=== nul-byte; escaped
console.log('a\x00b'.length);\n
//=== source-map-comment
console.log('x');
//# sourceMappingURL=nothing.js.map
//=== html-comment
<!-- html comment
console.log('works');
//=== wrapper-closed
}); console.log('outside the wrapper'); (function () {
