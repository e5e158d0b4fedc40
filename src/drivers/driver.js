'use strict';
// The driver of Node: runs the code that comes over descriptor 3, one piece after the other, in one
// realm. `run ID SIZE FLAGS` comes, a line of 64 bytes; `ready 0 SIZE`, `part ID SIZE` and `done ID SIZE`
// go, each with JSON behind it, or `exit ID STATUS CPU PEAK`. Descriptors 1 and 2 are the user's alone. Descriptor 3 keeps its number, because
// Node cannot move one, but Node marks everything above 2 close-on-exec before this file runs.
const { Console } = require('node:console');
const { Session } = require('node:inspector');
const Module = require('node:module');
const fs = require('node:fs');
const { Socket } = require('node:net');
const path = require('node:path');
const { Writable } = require('node:stream');
const { pathToFileURL } = require('node:url');
const util = require('node:util');
const vm = require('node:vm');

const KEPT_SOURCES = 100; // runs whose lines later errors can quote
const MAX_VALUE = 10000; // characters of a value
const MAX_PART = 8 << 20; // bytes of a part
const CODE_FILE = process.argv[2] ?? 'main.js'; // of code that is a whole program
const { createRequire, isBuiltin } = Module;

const HEAD = 64; // bytes of an order's line

let control = null; // the channel as a stream, once there is a session
const inspector = new Session();
const sources = new Map(); // id of a run -> its lines
const parts = []; // what the run displayed so far
let run = null; // the one that goes on: { id, failed, interrupt, interrupted }

// Half of a surrogate pair is no text, and JSON with one is refused.
const wellFormed = (text) => text.toWellFormed?.() ?? text.replace(/\p{Surrogate}/gu, '\ufffd');
function toJson(value) {
  const json = JSON.stringify(value);
  if (!/\\ud[89a-f]/.test(json)) return json; // a replacer costs more than all the rest
  return JSON.stringify(value, (_, each) => (typeof each === 'string' ? wellFormed(each) : each));
}

function send(kind, id, payload) {
  const data = Buffer.from(toJson(payload));
  sendBytes(Buffer.concat([Buffer.from(`${kind} ${id} ${data.length}\n`), data]));
}

function sendBytes(bytes) {
  if (control) return control.write(bytes);
  while (bytes.length > 0) bytes = bytes.subarray(fs.writeSync(3, bytes));
}

function shorten(text) {
  if (text.length <= MAX_VALUE) return text;
  const cut = `... [${text.length} characters]`;
  return text.slice(0, MAX_VALUE - cut.length) + cut;
}

// ---- errors

// Where the driver's own frames begin, nothing is of interest any more. A name with a space cannot
// be given to the engine (it is a comment in the source), so it gets one here.
function prepareStackTrace(error, frames) {
  const own = frames.findIndex((frame) => [__filename, 'node:inspector'].includes(frame.getFileName()));
  const lines = own < 0 ? frames : frames.slice(0, own);
  let head = 'Error';
  try { head = Error.prototype.toString.call(error); } catch { /* a getter of the user's */ }
  return [head, ...lines].join('\n    at ').replace(/<run-(\d+)>/g, '<run $1>');
}

function quote(id, line, column) {
  const text = sources.get(id)?.[line - 1];
  if (text === undefined || text.length > 500) return '';
  return `<run ${id}>:${line}\n${text}\n${text.slice(0, column - 1).replace(/[^\t]/g, ' ')}^\n\n`;
}

// Prints as Node does for a script: the line, then the error with its stack.
function report(error, place) {
  const stack = typeof error?.stack === 'string' ? error.stack : '';
  const frame = place ?? /<run (\d+)>:(\d+):(\d+)/.exec(stack)?.slice(1);
  let text = error instanceof SyntaxError && place ? String(error) : util.inspect(error);
  if (!(error instanceof Error) && !stack) text = `Uncaught ${text}`;
  if (error instanceof SyntaxError && /import statement/.test(error.message)) {
    text += `\n(in a session, write: const name = require('module'), or: await import('module'))`;
  }
  console.error((frame ? quote(frame[0], +frame[1], +frame[2]) : '') + text);
}

function describe(error) {
  let text = 'error';
  try {
    text = error instanceof Error ? `${error.name}: ${error.message}` : `Uncaught ${util.inspect(error)}`;
  } catch { /* a getter of the user's */ }
  return text.replace(/\s+/g, ' ').slice(0, 1000);
}

// ---- running

// Code that the inspector evaluates has no loader, so `import(...)` becomes a call of our own. It
// must not change strings, templates, comments and regular expressions that only talk of it.
function withImports(code) {
  if (!/\bimport\s*\(/.test(code)) return code;
  const token = /\s+|\/\/.*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|[\w$]+|[^]/y;
  const template = /(?:[^`\\$]|\\[^]|\$(?!\{))*(?:`|\$\{|$)/y;
  const regexp = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
  const operand = /^(?!(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)$)[\w$"'`)\]}]/;
  const braces = []; // one for each open {; true for one that a template opened
  let result = '', last = '';
  for (let at = 0; at < code.length;) {
    const take = (pattern) => { pattern.lastIndex = at; return pattern.exec(code)?.[0]; };
    let word = take(token);
    if (word === '/' && !operand.test(last)) word = take(regexp) ?? word;
    if (word === '{') braces.push(false);
    if (word === '`' || (word === '}' && braces.pop())) {
      at += 1;
      result += word;
      word = take(template);
      if (word.endsWith('${')) braces.push(true);
    }
    at += word.length;
    const call = word === 'import' && last !== '.' && /\s*\(/y.test(code.slice(at, at + 100));
    result += call ? '__igloo_import' : word;
    if (!/^(?:\s|\/\/|\/\*)/.test(word)) last = word;
  }
  return result;
}

// As from a file in the working directory.
function load(name, options) {
  let target = String(name);
  if (/^\.{0,2}\//.test(target)) {
    target = pathToFileURL(path.resolve(target)).href;
  } else if (!isBuiltin(target) && !/^[a-z]+:/.test(target)) {
    try {
      target = pathToFileURL(createRequire(`${process.cwd()}/`).resolve(target)).href;
    } catch { /* import() says it better */ }
  }
  return import(target, options);
}

// `{a: 1}` is an object at a prompt, and a block in a file.
function asPrompt(code) {
  if (!/^\s*\{/.test(code) || /;\s*$/.test(code)) return code;
  try {
    new vm.Script(`(${code}\n)`);
    return `(${code}\n)`;
  } catch {
    return code;
  }
}

// The object behind the inspector's description of it.
const kTake = Symbol.for('igloo.take');
const kGo = Symbol.for('igloo.go');
function real(remote) {
  if (!remote.objectId) {
    return remote.unserializableValue ? vm.runInThisContext(remote.unserializableValue) : remote.value;
  }
  let value;
  globalThis[kTake] = (taken) => { value = taken; };
  inspector.post('Runtime.callFunctionOn', {
    objectId: remote.objectId,
    functionDeclaration: `function () { 'use strict'; globalThis[Symbol.for('igloo.take')](this); }`,
  });
  delete globalThis[kTake];
  return value;
}

// The inspector's way of a prompt: let, const and class can be declared again, and await works.
// Around it a script of vm, which alone can be broken by SIGINT while it does not come back.
const entry = new vm.Script(`globalThis[Symbol.for('igloo.go')]()`);
function evaluate(id, code) {
  return new Promise((settle) => {
    const current = run ?? {};
    current.interrupt = () => settle({ interrupted: current.interrupted = true });
    globalThis[kGo] = () => inspector.post('Runtime.evaluate', {
      expression: `${withImports(code)}\n//# sourceURL=<run-${id}>`, replMode: true, objectGroup: 'run',
    }, (error, answer) => settle(error ? { interrupted: true } : answer));
    try {
      entry.runInThisContext({ breakOnSigint: true });
    } catch {
      current.interrupt();
    }
  });
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function execute(id, code, echo) {
  run = { id };
  sources.set(id, code.split('\n'));
  if (sources.size > KEPT_SOURCES) sources.delete(sources.keys().next().value);
  const answer = await evaluate(id, echo ? asPrompt(code) : code);
  await turn(); // rejections that nobody handles are told after the microtasks
  const result = { status: 0 };
  const details = answer.exceptionDetails;
  const error = details?.exception ? real(details.exception) : new Error(details?.text);
  // A child that the same SIGINT ended may have come back before Node noticed it.
  if (answer.interrupted || run.interrupted || (details && error?.signal === 'SIGINT')) {
    Object.assign(result, { status: 130, error: 'interrupted', interrupted: true });
  } else if (details) {
    const compiled = error instanceof SyntaxError && !/<run /.test(error.stack);
    report(error, compiled ? [id, details.lineNumber + 1, details.columnNumber + 1] : undefined);
    Object.assign(result, { status: 1, error: describe(error) });
  } else {
    if (run.failed) Object.assign(result, { status: 1, error: run.failed });
    const value = real(answer.result);
    if (echo && value !== undefined) result.value = shorten(util.inspect(value, { maxStringLength: MAX_VALUE - 100 }));
  }
  // A script that sets it fails without an error.
  if (process.exitCode) result.status ||= process.exitCode & 255;
  process.exitCode = undefined;
  inspector.post('Runtime.releaseObjectGroup', { objectGroup: 'run' });
  run = null;
  for (const part of parts.splice(0)) send('part', id, part);
  send('done', id, result);
}

// ---- code that is a program of its own

// In a file that Node's own loader runs, with Node's defaults for everything, until there is nothing
// left to wait for. Whenever such a program ends in another way, igloo-init tells how; only one that
// comes to its end, or exits, saves that time. All but the code itself is prepared before it comes:
// most interpreters get no other.
const whole = { id: 0, failed: false };
const noteFailure = () => { whole.failed = true; }; // Node prints the error after the event
const interrupt = () => run?.interrupt?.(); // between runs nothing
function prepareWhole() {
  process.argv.splice(1, 2, CODE_FILE);
  process.on('SIGINT', interrupt);
  process.once('uncaughtExceptionMonitor', noteFailure);
  process.on('exit', leaveWhole);
}

function leaveWhole(status) {
  try {
    for (const part of parts.splice(0)) send('part', whole.id, part);
    if (whole.failed || process.listenerCount('exit') > 1) return; // more is to come
    sendExit(3, whole.id, status & 255);
  } catch { /* it closed the channel: igloo-init tells how it ended */ }
}

function sendExit(channel, id, status) {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  fs.writeSync(channel, `exit ${id} ${status} ${userCPUTime + systemCPUTime} ${maxRSS}\n`);
}

function executeWhole({ id, code, flags }) {
  whole.id = id;
  process.removeListener('SIGINT', interrupt);
  if (!flags.includes('filed')) {
    try { fs.writeFileSync(CODE_FILE, code); } catch { /* the loader says that it is not there */ }
  }
  Module._load(CODE_FILE, null, true);
}

// ---- what user code finds

function display(value, type) {
  let data = value, encoding = 'utf-8';
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    type ??= bytes[0] === 0xff ? 'image/jpeg' : 'image/png';
    [data, encoding] = [bytes.toString('base64'), 'base64'];
  } else if (typeof value !== 'string') {
    type ??= 'application/json';
    data = toJson(value) ?? String(value);
  }
  if (data.length > MAX_PART - 4096) {
    [type, encoding] = ['text/plain', 'utf-8'];
    data = `[a part of ${data.length} bytes was left out: at most ${MAX_PART} fit]`;
  }
  // Sent at the end, when no SIGINT can cut a message in two.
  parts.push({ type: type ?? 'text/plain', data, encoding });
}

// Standard output and error. Node's own streams count what is under way, and one that SIGINT breaks
// in the middle of a write waits for ever and keeps all that is written later. This one has no state.
class Output extends Writable {
  constructor(fd) {
    super({ decodeStrings: false });
    Object.assign(this, { fd, _type: 'pipe' });
  }

  write(chunk, encoding, callback) {
    let bytes = typeof chunk === 'string' ? Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8') : chunk;
    if (!ArrayBuffer.isView(bytes)) throw new TypeError('a chunk is a string, a Buffer or a Uint8Array');
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(fs.writeSync(this.fd, bytes));
      } catch (error) {
        if (error.code !== 'EAGAIN') break; // nobody reads; Node's console ignores that, too
        pause(); // a child made it nonblocking
      }
    }
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') process.nextTick(done);
    return true;
  }

  end(chunk, ...rest) { // these two are never closed
    if (chunk !== undefined && typeof chunk !== 'function') this.write(chunk, ...rest);
    return this;
  }
}

function define(target, names, rest) {
  for (const [name, value] of Object.entries(names)) Object.defineProperty(target, name, { value, ...rest });
}

const hidden = { writable: true, configurable: true };
function prepareOutput() {
  define(process, { stdout: new Output(1), stderr: new Output(2) }, { configurable: true, enumerable: true });
  // Node's own console also tells a connected inspector, which would keep what was printed.
  define(globalThis, { console: new Console({ stdout: process.stdout, stderr: process.stderr }), igloo: { display } }, hidden);
  for (const key of [kTake, kGo]) Object.defineProperty(globalThis, key, hidden);
}

function prepareSession() {
  process.removeListener('uncaughtExceptionMonitor', noteFailure);
  process.removeListener('exit', leaveWhole);
  process.argv.splice(1, 1, __filename, CODE_FILE);
  Error.prepareStackTrace = prepareStackTrace;
  // What nobody catches is reported with the run that goes on, and ends no session.
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error) => {
      report(error);
      if (run) run.failed ??= describe(error);
    });
  }
  process.on('exit', () => { for (const part of parts.splice(0)) send('part', run?.id ?? 0, part); });
  define(globalThis, {
    require: createRequire(`${process.cwd()}/`),
    module,
    exports: module.exports,
    __igloo_import: load,
  }, hidden);
  Object.defineProperty(globalThis, '__dirname', { get: () => process.cwd(), configurable: true });
}

// ---- the channel

function readHeader(bytes) {
  const words = bytes.latin1Slice(0, HEAD).split(/ +|\n/);
  if (words[0] !== 'run' || !/^\d{1,20}$/.test(words[1]) || !/^\d{1,9}$/.test(words[2])) process.exit(1);
  return { id: words[1], size: +words[2], flags: words[3].split(',') };
}

const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);

// Ends when the host has gone.
function readWhole(channel, size) {
  const bytes = Buffer.allocUnsafe(size);
  for (let come = 0; come < size;) {
    try {
      const count = fs.readSync(channel, bytes, come, size - come, null);
      if (count === 0) process.exit(0);
      come += count;
    } catch (error) {
      if (error.code !== 'EAGAIN' || (come === 0 && size === HEAD)) throw error;
      pause();
    }
  }
  return bytes;
}

// The first order, without an event loop: as a stream, the channel would take longer than the code.
// Nothing where that cannot be: an earlier interpreter of this sandbox had it as a stream.
function readFirst(channel) {
  let header;
  try {
    header = readHeader(readWhole(channel, HEAD));
  } catch {
    return null;
  }
  header.code = readWhole(channel, header.size).utf8Slice(0, header.size);
  return header;
}

async function* runs() {
  let buffer = Buffer.alloc(0);
  const pieces = control[Symbol.asyncIterator]();
  const more = async () => {
    const { value, done } = await pieces.next().catch(() => ({ done: true }));
    if (done) process.exit(0); // the host has gone
    return value;
  };
  for (;;) {
    while (buffer.length < HEAD) buffer = Buffer.concat([buffer, await more()]);
    const header = readHeader(buffer);
    const pieced = [buffer.subarray(HEAD)];
    let missing = header.size - pieced[0].length;
    for (; missing > 0; missing -= pieced.at(-1).length) pieced.push(await more());
    const all = Buffer.concat(pieced);
    buffer = all.subarray(header.size);
    yield { ...header, code: all.toString('utf8', 0, header.size) };
  }
}

// A program that does nothing, and output that goes nowhere: the engine compiles what it runs for the
// first time, here and not while somebody waits.
function rehearse(code) {
  try {
    const nowhere = fs.openSync('/dev/null', 'w');
    if (path.isAbsolute(CODE_FILE)) { // never a file in a directory of the user's
      fs.writeFileSync(CODE_FILE, `run 0 ${code.length} once`.padEnd(HEAD - 1) + `\n${code}`);
      const channel = fs.openSync(CODE_FILE);
      const order = readFirst(channel);
      fs.closeSync(channel);
      fs.writeFileSync(CODE_FILE, order.code);
      executeWhole({ ...order, flags: ['filed'] });
      fs.writeFileSync(CODE_FILE, '');
      process.mainModule = module;
      process.on('SIGINT', interrupt);
    }
    const output = new Output(nowhere);
    new Console({ stdout: output, stderr: output }).log(1, 'x');
    sendExit(nowhere, 0, 0);
    fs.closeSync(nowhere);
  } catch { /* then it is slower */ }
  delete require.cache[path.resolve(CODE_FILE)];
}

async function serve(first) {
  prepareSession();
  control = new Socket({ fd: 3, readable: true, writable: true });
  if (first) await execute(first.id, first.code, first.flags.includes('echo'));
  for await (const { id, code, flags } of runs()) await execute(id, code, flags.includes('echo'));
}

async function main() {
  inspector.connect();
  prepareOutput();
  real((await evaluate(0, 'await null; [1]')).result);
  util.inspect({ warm: [1, 'x'] });
  prepareWhole();
  rehearse('module;');
  await turn();
  // Not from here: what a promise's callback throws is no uncaught exception.
  setImmediate(() => {
    send('ready', 0, { pid: process.pid });
    const first = readFirst(3);
    if (first?.flags.includes('once')) executeWhole(first);
    else serve(first);
  });
}

main();
