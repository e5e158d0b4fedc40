//=== stdout-type
console.log(process.stdout.constructor.name, process.stderr.constructor.name, process.stdin.constructor.name);
console.log(process.stdout.isTTY, process.stdout.fd, process.stdout.writableHighWaterMark, process.stdout._type, process.stdout.writable);
console.log(process.stdout instanceof require('stream').Writable, process.stdout instanceof require('net').Socket, process.stdout instanceof require('tty').WriteStream);
//=== stdout-properties
console.log(Object.getOwnPropertyNames(process.stdout).filter(n => !n.startsWith('_')).sort().join(' '));
console.log(process.stdout.eventNames(), process.stdout.listenerCount('error'));
console.log(Object.getOwnPropertyDescriptor(process, 'stdout').get !== undefined);
//=== stdout-methods
console.log(process.stdout.write('text\n'), process.stdout.columns, process.stdout.hasColors?.(), process.stdout.getColorDepth?.());
console.log(process.stdout.writableLength, process.stdout.bytesWritten > 0, process.stdout.writableNeedDrain);
//=== stdout-callbacks
process.stdout.write('one\n', () => console.log('written'));
process.stdout.write(Buffer.from('two\n'), 'utf8', e => console.log('error', e));
process.stdout.write('c3a4\n', 'hex');
//=== stdout-callback-order
process.stdout.write('a\n', () => process.stdout.write('b\n'));
process.nextTick(() => process.stdout.write('tick\n'));
setImmediate(() => process.stdout.write('immediate\n'));
//=== stdout-end
process.stdout.end('last\n');
//=== stdout-end-then-write
process.stdout.on('error', e => console.error(e.code));
process.stdout.end('last\n');
process.stdout.write('more\n');
//=== stdout-end-then-log
process.stdout.end();
console.log('lost');
console.error('still here');
//=== stdout-finish
process.stdout.on('finish', () => console.error('finish'));
process.stdout.on('close', () => console.error('close'));
process.stdout.end('x\n');
//=== stdout-destroyed
process.stdout.destroy();
console.log('lost');
//=== stdout-pipeline
const { pipeline, Readable } = require('stream');
pipeline(Readable.from(['a\n', 'b\n']), process.stdout, e => console.error('done', e));
//=== stdout-pipeline-promise
require('stream/promises').pipeline(['x\n', 'y\n'], process.stdout).then(() => console.error('ended'));
//=== stdout-pipe
require('stream').Readable.from(['p\n', 'q\n']).pipe(process.stdout);
//=== stdout-pipe-file
require('fs').createReadStream(__filename).pipe(process.stdout);
//=== stdout-cork
process.stdout.cork();
process.stdout.write('a');
process.stdout.write('b\n');
process.stdout.uncork();
//=== stdout-write-replaced
const write = process.stdout.write;
process.stdout.write = function (text, ...more) { return write.call(process.stdout, String(text).toUpperCase(), ...more); };
console.log('loud');
process.stdout.write = write;
console.log('quiet');
//=== stdout-replaced
Object.defineProperty(process, 'stdout', { value: { write(t) { process.stderr.write('mine: ' + t); } } });
process.stdout.write('hello\n');
console.log('console');
//=== stdout-events
process.stdout.on('drain', () => console.error('drain'));
const full = process.stdout.write('y'.repeat(300000));
console.error('full', !full);
//=== stdout-large
for (let i = 0; i < 20000; i++) console.log(i);
//=== stdout-large-and-exit
console.log('z'.repeat(50000));
process.exit(0);
//=== stdout-bytes
process.stdout.write(Buffer.from([0, 1, 255, 254, 10]));
process.stdout.write(new Uint8Array([104, 105, 10]));
//=== stdout-invalid-argument
process.stdout.write(42);
//=== stdout-null
process.stdout.write(null);
//=== stdout-lone-surrogate
console.log('a\ud800b');
//=== stdout-unicode
console.log('äöü 世界 🐧');
//=== stdout-and-stderr-order
const fs = require('fs');
fs.writeSync(1, 'one\n');
console.log('two');
fs.writeSync(1, 'three\n');
console.log('four');
//=== stdout-sync-after-async
console.log('async');
require('child_process').execSync('echo child', { stdio: 'inherit' });
//=== stdout-descriptor-closed
require('fs').closeSync(1);
try { console.log('lost'); } catch (e) { console.error(e.code); }
//=== stderr-descriptor-closed
require('fs').closeSync(2);
console.error('lost');
console.log('out');
//=== stdout-device
require('fs').writeFileSync('/dev/stdout', 'through the device\n');
require('fs').appendFileSync('/dev/stderr', 'errors\n');
//=== stdout-descriptor-write
require('fs').writeFileSync(1, 'by number\n');
require('fs').createWriteStream(null, { fd: 1, autoClose: false }).end('stream\n');
//=== stdin-type
console.log(process.stdin.fd, process.stdin.isTTY, process.stdin.readable, process.stdin.constructor.name);
const s = require('fs').fstatSync(0);
console.log(s.isFIFO(), s.isCharacterDevice(), s.isFile(), s.isSocket());
//=== stdin-read
process.stdin.on('data', d => console.log('data', d.length));
process.stdin.on('end', () => console.log('end'));
process.stdin.on('close', () => console.log('close'));
//=== stdin-read-sync
console.log(JSON.stringify(require('fs').readFileSync(0, 'utf8')));
//=== stdin-device
console.log(JSON.stringify(require('fs').readFileSync('/dev/stdin', 'utf8')));
//=== stdin-async-iterator
(async () => { let text = ''; for await (const chunk of process.stdin) text += chunk; console.log(JSON.stringify(text)); })();
//=== stdin-readline
const rl = require('readline').createInterface({ input: process.stdin });
rl.on('line', l => console.log('line', l));
rl.on('close', () => console.log('closed'));
//=== stdin-question
const rl = require('readline').createInterface({ input: process.stdin, output: process.stdout });
rl.question('name? ', n => console.log('never', n));
rl.on('close', () => console.log('closed'));
//=== stdin-resume
process.stdin.resume();
process.stdin.on('end', () => console.log('end'));
//=== stdin-unused
console.log('a program that reads nothing ends');
//=== stdin-paused
process.stdin.on('readable', () => { let c; while ((c = process.stdin.read()) !== null) console.log(c); });
process.stdin.on('end', () => console.log('end'));
//=== tty-functions
const tty = require('tty');
console.log(tty.isatty(0), tty.isatty(1), tty.isatty(2), process.stdin.setRawMode);
//=== colors
console.log(require('util').inspect({ a: 1 }, { colors: true }), process.stdout.hasColors, process.env.NO_COLOR, process.env.FORCE_COLOR);
//=== console-errors-ignored
process.stdout.on('error', e => process.stderr.write('error ' + e.code + '\n'));
process.stdout._write = (c, e, cb) => cb(new Error('broken'));
console.log('x');
//=== streams-of-both
for (let i = 0; i < 2000; i++) { console.log('o', i); console.error('e', i); }
//=== write-after-exit-listener
process.on('exit', () => { console.log('from exit'); process.stdout.write('w'.repeat(50000) + '\n'); });
//=== raw-debug
process._rawDebug('raw', { a: 1 });
//=== file-streams
const fs = require('fs');
const w = fs.createWriteStream('f.txt');
w.write('a');
w.end('b', () => console.log(fs.readFileSync('f.txt', 'utf8')));
//=== readline-of-file
const fs = require('fs');
fs.writeFileSync('lines', 'a\nb\n');
require('readline').createInterface({ input: fs.createReadStream('lines') }).on('line', l => console.log(l));
//=== zlib-stream
require('zlib').gzip('hello', (e, z) => console.log(require('zlib').gunzipSync(z).toString()));
//=== web-streams
new Response('body').text().then(console.log);
new Blob(['a', 'b']).stream().getReader().read().then(r => console.log(r.done, r.value.length));
