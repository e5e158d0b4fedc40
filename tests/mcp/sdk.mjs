// The clients of both TypeScript SDKs against the shipped server, on a pipe and on HTTP.
//   tests/support/node tests/mcp/sdk.mjs DIRECTORY_OF_PROGRAMS
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, checkIncludes, endlessCode, excerpt, finish, npmPackage, processesNamed, product, scratch, startHttp, stop, test, until } from '../support/testing.mjs';

const igloo = join(process.argv[2], 'igloo');
const first = join(npmPackage('@modelcontextprotocol/sdk'), 'dist/esm');
const second = join(npmPackage('@modelcontextprotocol/client'), 'dist');
const v1 = {
  ...(await import(`${first}/client/index.js`)), ...(await import(`${first}/client/stdio.js`)),
  ...(await import(`${first}/client/streamableHttp.js`)),
};
const v2 = { ...(await import(`${second}/index.mjs`)), ...(await import(`${second}/stdio.mjs`)) };

const modern = '2026-07-28';
const kClients = {
  'SDK v1': { sdk: v1, version: '2025-11-25', call: (client, params, options) => client.callTool(params, undefined, options) },
  'SDK v2 legacy': { sdk: v2, version: '2025-11-25' },
  'SDK v2 auto': { sdk: v2, version: modern, negotiation: { mode: 'auto' } },
  'SDK v2 pinned': { sdk: v2, version: modern, negotiation: { mode: { pin: modern } } },
};

// The client gives the server little of its environment; this is all of it.
const env = { HOME: scratch, PATH: process.env.PATH };
const serve = (...more) => ['mcp', ...more];

/** A connected client; its `run` calls the tool. */
async function connect({ sdk, negotiation, call }, { url, args = serve(), listChanged } = {}) {
  const transport = url
    ? new sdk.StreamableHTTPClientTransport(new URL(url))
    : new sdk.StdioClientTransport({ command: igloo, args, env, stderr: 'ignore' });
  const client = new sdk.Client({ name: 'igloo-tests', version: '1' }, { versionNegotiation: negotiation, listChanged });
  await client.connect(transport);
  const callTool = call ?? ((each, params, options) => each.callTool(params, options));
  client.run = (input, options) => callTool(client, { name: 'run', arguments: { env: 'python', ...input } }, options);
  client.transportInUse = transport;
  return client;
}

async function withClient(kind, options, body) {
  const client = await connect(kind, options);
  try {
    await body(client);
  } finally {
    await client.close();
  }
}

const textOf = ({ content }) => content.filter((each) => each.type === 'text').map((each) => each.text).join('');

/** Whatever becomes of a run, the result is valid for its schema (the client throws otherwise), and both halves tell it. */
async function everyEnd(client) {
  const { tools, nextCursor } = await client.listTools(); // from now on the client validates
  check(nextCursor === undefined, 'the tools are on more than one page');
  check(tools.find((each) => each.name === 'run')?.outputSchema, `no schema of results: ${JSON.stringify(tools)}`);

  const good = await client.run({ code: product.code });
  check(!good.isError, excerpt(JSON.stringify(good)));
  checkIncludes(textOf(good), product.output);
  checkIncludes(good.structuredContent.stdout, product.output);
  check(good.structuredContent.exit_code === 0, JSON.stringify(good.structuredContent));

  const bad = await client.run({ code: 'import sys; print(6*7*1000003, file=sys.stderr); sys.exit(3)' });
  checkIncludes(textOf(bad), product.output);
  check(bad.structuredContent.exit_code === 3, JSON.stringify(bad.structuredContent));

  const late = await client.run({ code: 'while True: pass', timeout_seconds: 1 });
  check(late.structuredContent.timed_out === true, JSON.stringify(late.structuredContent));

  const unknown = await client.run({ code: '', env: 'no-such-environment' });
  check(unknown.isError, JSON.stringify(unknown));
  checkIncludes(textOf(unknown), 'python'); // says what there is
}

/** An answer is one line below the 10 MiB at which these clients hang up, also at the most that may be asked for. */
async function hugeOutput(client) {
  const { tools } = await client.listTools();
  const most = tools.find((each) => each.name === 'run').inputSchema.properties.max_output.maximum;
  check(most >= 100000, `max_output may be ${most} at most`);
  // Plain, and what JSON makes long: control bytes, quotes, bytes that are not UTF-8.
  for (const line of [`b"x" * 70`, `b"\\x01" * 70`, `b'"' * 70`, `b"\\xff" * 70`]) {
    const code = `import sys\nfor stream in sys.stdout, sys.stderr:\n for i in range(6000): stream.buffer.write(${line} + b"\\n")`;
    const huge = await client.run({ code, max_output: most });
    check(!huge.isError, `${line}: ${excerpt(textOf(huge))}`);
    check(JSON.stringify(huge).length > most / 2, `${line}: only ${JSON.stringify(huge).length} bytes`);
  }
  const next = await client.run({ code: product.code });
  checkIncludes(textOf(next), product.output);
}

async function abort(client) {
  const endless = endlessCode();
  const controller = new AbortController();
  const call = client.run({ code: endless.code, timeout_seconds: 600 }, { signal: controller.signal });
  call.catch(() => {});
  await until('the run', () => processesNamed(endless.name).length > 0);
  controller.abort('no longer wanted');
  await until('the end of the run', () => processesNamed(endless.name).length === 0);
  await call.then(() => check(false, 'a cancelled call was answered'), () => {});
  const next = await client.run({ code: product.code });
  checkIncludes(textOf(next), product.output);
}

/** A configuration file that names `environments`, all made from python. */
function configure(file, environments) {
  writeFileSync(file, environments.map((name) => `[environments.${name}]\npreset = "python"\n`).join(''));
}

async function reload(kind, transport) {
  const file = join(mkdtempSync(join(scratch, 'config-')), 'config.toml');
  configure(file, ['python']);
  const server = transport === 'HTTP' ? await startHttp(igloo, serve('--config', file, '--http', '127.0.0.1:0', '--no-token'), { env }) : undefined;
  let told = 0;
  const listChanged = { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => (told += 1) } };
  await withClient(kind, { url: server?.url, args: serve('--config', file), listChanged }, async (client) => {
    check(!JSON.stringify(await client.listTools()).includes('freshly-made'), 'listed before it is there');
    configure(file, ['python', 'freshly-made']);
    await until('notifications/tools/list_changed', () => told > 0);
    checkIncludes(JSON.stringify(await client.listTools(undefined, { cacheMode: 'refresh' })), 'freshly-made');
    checkIncludes(textOf(await client.run({ code: product.code, env: 'freshly-made' })), product.output);
  });
  if (server) await stop(server);
}

const server = await startHttp(igloo, serve('--http', '127.0.0.1:0', '--no-token'), { env });
// Both transports at once: half of the time somebody waits.
await Promise.all([['stdio', undefined], ['HTTP', server.url]].map(async ([transport, url]) => {
  for (const [name, kind] of Object.entries(kClients)) {
    const each = (promise, body) => test(`${name}, ${transport}: ${promise}`, () => withClient(kind, { url }, body));
    await each('the version that was negotiated', (client) => {
      const version = client.getNegotiatedProtocolVersion?.() ?? client.transportInUse.protocolVersion;
      // The first SDK does not tell on a pipe.
      check(version === kind.version || (kind.sdk === v1 && version === undefined), `${version}, not ${kind.version}`);
      check(client.getServerVersion().name === 'igloo', JSON.stringify(client.getServerVersion()));
      check(client.getInstructions()?.length > 0, 'no instructions');
    });
    await each('whatever becomes of a run, its result is valid', everyEnd);
    if (transport === 'stdio') await each('a huge output does not end the connection', hugeOutput); // HTTP has no lines
    await each('what is cancelled is killed', abort);
    await test(`${name}, ${transport}: a changed configuration is announced and served`, () => reload(kind, transport));
  }
}));
await stop(server);
finish();
