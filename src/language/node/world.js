// What user code finds.

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

// Output has no errors that would have to be ignored, which takes longer than writing, unless somebody else
// writes in its place.
function newConsole(stdout, stderr) {
  const made = new Console({ stdout, stderr });
  const isOwn = ({ write }) => write === Output.prototype.write;
  let set;
  Object.defineProperty(made, '_ignoreErrors', {
    get: () => set ?? !(isOwn(stdout) && isOwn(stderr)),
    set: (value) => { set = value; },
    configurable: true,
  });
  return made;
}

const hidden = { writable: true, configurable: true };
function prepareOutput() {
  define(process, { stdout: new Output(1), stderr: new Output(2) }, { configurable: true, enumerable: true });
  // Node's own console also tells a connected inspector, which would keep what was printed.
  const own = newConsole(process.stdout, process.stderr);
  for (const [name, value] of Object.entries(console)) own[name] ??= value;
  define(globalThis, { console: own, igloo: { display } }, hidden);
  for (const key of [kTake, kGo]) Object.defineProperty(globalThis, key, hidden);
}

function prepareSession() {
  process.on('SIGINT', () => run?.interrupt?.()); // between runs nothing
  Error.prepareStackTrace = prepareStackTrace;
  // What nobody catches is reported with the run that goes on, and ends no session.
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error) => {
      report(error);
      if (run) run.failed ??= describe(error);
    });
  }
  process.on('exit', () => sendParts(run?.id ?? 0));
  // Whoever looks whether a file is the program finds that it is: an empty one beside this.
  const file = path.join(path.dirname(module.filename), 'main.js');
  process.argv[1] = module.filename = file;
  define(globalThis, {
    require: createRequire(`${process.cwd()}/`),
    module,
    exports: module.exports,
    __filename: file,
    __igloo_import: load,
  }, hidden);
  Object.defineProperty(globalThis, '__dirname', { get: () => process.cwd(), configurable: true });
}
