// Reads orders and carries them out.

// Words at fixed places: a regular expression is compiled when it is used for the second time.
function readHeader(bytes) {
  const line = bytes.latin1Slice(0, HEAD);
  const id = line.slice(4, 15).trimEnd(), size = +line.slice(16, 27);
  if (!line.startsWith('run ') || !Number.isInteger(+id) || !Number.isInteger(size)) process.exit(1);
  return { id, size, flags: line.slice(28).trimEnd().split(',') };
}

const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);

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

// Output that goes nowhere: the engine compiles what it runs for the first time, here and not while
// somebody waits.
function rehearse() {
  try {
    const nowhere = fs.openSync('/dev/null', 'w');
    const output = new Output(nowhere);
    newConsole(output, output).log(1, 'x');
    fs.closeSync(nowhere);
  } catch { /* then it is slower */ }
}

async function main() {
  inspector.connect();
  prepareOutput();
  real((await evaluate(0, 'await null; [1]')).result);
  util.inspect({ warm: [1, 'x'] });
  rehearse();
  prepareSession();
  await turn();
  send('ready', 0, { pid: process.pid });
  control = new Socket({ fd: 3, readable: true, writable: false });
  for await (const { id, code, flags } of runs()) await execute(id, code, flags.includes('echo'));
}

main();
