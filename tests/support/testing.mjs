// What the tests that are written in JavaScript share: named tests, programs, and waiting for facts.
import { spawn, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const started = new Set();
let passed = 0;
let failed = 0;

/** A directory that is gone when the tests have ended. */
export const scratch = mkdtempSync(join(tmpdir(), 'igloo-js-'));
process.on('exit', () => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** Runs one test; it fails by throwing. */
export async function test(name, body) {
  const start = performance.now();
  try {
    await body();
    passed += 1;
    console.log(`${name}: ok (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed += 1;
    console.log(`${name}: FAILED\n  ${String(error?.stack ?? error).replaceAll('\n', '\n  ')}`);
  }
}

/** The closing line, and the exit code. */
export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}

/** Where an npm package of packages-npm.txt was installed. */
export function npmPackage(name) {
  return execFileSync(join(root, 'tools/install-npm'), ['--path', name], { encoding: 'utf8' }).trim();
}

/** Starts a program that ends with the tests at the latest; `out` and `err` grow as it prints. */
export function start(command, args, { env, cwd, detached } = {}) {
  const child = spawn(command, args, { env: env ?? process.env, cwd, detached, stdio: ['pipe', 'pipe', 'pipe'] });
  started.add(child);
  const program = { child, out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (program.out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (program.err += text));
  child.stdin.on('error', () => {}); // it may end before it has read all
  program.ended = new Promise((resolve) => {
    child.on('error', (error) => {
      program.err += error.message;
      started.delete(child);
      resolve({ code: -1, ...program });
    });
    child.on('close', (code, signal) => {
      started.delete(child);
      resolve({ code: code ?? signal, out: program.out, err: program.err });
    });
  });
  return program;
}

/** Runs a program to its end, which must come within `seconds`. */
export async function run(command, args, { input = '', seconds = 120, ...options } = {}) {
  const program = start(command, args, options);
  program.child.stdin.end(input);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    program.child.kill('SIGKILL');
  }, seconds * 1000);
  const end = await program.ended;
  clearTimeout(timer);
  if (late) throw new Error(`${command} ${args.join(' ')} did not end in ${seconds} s\n${end.out}\n${end.err}`);
  return end;
}

/** Waits until `condition` gives something; asks again and again, since nothing tells. */
export async function until(what, condition, seconds = 30) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`not seen in ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function check(condition, message) {
  if (!condition) throw new Error(message);
}

/** `text` in full if it is short. */
export const excerpt = (text, size = 3000) =>
  text.length <= size ? text : `${text.slice(0, size / 2)} [...] ${text.slice(-size / 2)}`;

export function checkIncludes(text, part) {
  check(text.includes(part), `'${part}' is not in: ${excerpt(text)}`);
}

/** A server on HTTP, and where it listens. */
export async function startHttp(command, args, options) {
  const server = start(command, args, options);
  server.url = await until(`the address of ${command}`, () => {
    if (server.child.exitCode !== null) throw new Error(`${command} ended: ${server.err}`);
    return server.err.match(/http:\/\/\S+\/mcp/)?.[0];
  });
  return server;
}

export async function stop(server) {
  server.child.kill('SIGTERM');
  await server.ended;
}

/** The pids of processes that bear `name`; what runs in a sandbox is seen from here, too. */
export function processesNamed(name) {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === name;
    } catch {
      return false; // it has ended
    }
  });
}

/** Python that bears a name of its own and never ends by itself; names have at most 15 bytes. */
export function endlessCode() {
  const name = `igl-${Math.random().toString(36).slice(2, 10)}`;
  const setName = `import ctypes, time\nctypes.CDLL(None).prctl(15, b'${name}', 0, 0, 0)\n`; // PR_SET_NAME
  return { name, code: `${setName}while True: time.sleep(1)\n` };
}

/** Code whose output stands nowhere in it. */
export const product = { code: 'print(6*7*1000003)', output: '42000126' };
