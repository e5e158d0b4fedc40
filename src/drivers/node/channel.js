// Reads orders and carries them out.

// Words at fixed places: a regular expression is compiled when it is used for the second time.
function readHeader(bytes) {
  const line = bytes.latin1Slice(0, HEAD);
  const id = line.slice(4, 15).trimEnd(), size = +line.slice(16, 27);
  if (!line.startsWith('run ') || !Number.isInteger(+id) || !Number.isInteger(size)) process.exit(1);
  return { id, size, flags: line.slice(28).trimEnd().split(',') };
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
      fs.writeFileSync(CODE_FILE, `run 0           ${code.length}           once`.padEnd(HEAD - 1) + `\n${code}`);
      const channel = fs.openSync(CODE_FILE);
      const order = readFirst(channel);
      fs.closeSync(channel);
      fs.writeFileSync(CODE_FILE, order.code);
      prepareMain();
      executeWhole({ ...order, flags: ['filed'] });
      fs.writeFileSync(CODE_FILE, '');
    }
    const output = new Output(nowhere);
    newConsole(output, output).log(1, 'x');
    sendExit(nowhere, 0, 0);
    fs.closeSync(nowhere);
  } catch { /* then it is slower */ }
  if (path.isAbsolute(CODE_FILE)) prepareMain();
}

async function serve(first) {
  prepareSession();
  control = new Socket({ fd: 3, readable: true, writable: false });
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
