// The protocol's inspector against the shipped server, on a pipe and on HTTP, in every era.
//   tests/support/node tests/mcp/inspector.mjs DIRECTORY_OF_PROGRAMS
import { join } from 'node:path';
import { check, checkIncludes, excerpt, finish, npmPackage, product, run, scratch, startHttp, stop, test } from '../support/testing.mjs';

const igloo = join(process.argv[2], 'igloo');
const inspector = join(npmPackage('@modelcontextprotocol/inspector'), 'clients/launcher/build/index.js');
const env = { HOME: scratch, PATH: process.env.PATH };

async function inspect(target, ...args) {
  const all = [inspector, '--cli', ...target, '--format', 'json', ...args];
  const { code, out, err } = await run('node', all, { env, seconds: 100 });
  return { code, out, err, result: out.startsWith('{') ? JSON.parse(out).result : undefined };
}

function checkOk(said) {
  check(said.code === 0 && said.result, `ended with ${said.code}: ${excerpt(said.out + said.err)}`);
  return said.result;
}

const call = (input) => ['--method', 'tools/call', '--tool-name', 'run', '--tool-args-json', JSON.stringify({ env: 'python', ...input })];

const server = await startHttp(igloo, ['mcp', '--http', '127.0.0.1:0', '--no-token'], { env });
const kTargets = { stdio: [igloo, 'mcp'], HTTP: ['--server-url', server.url, '--transport', 'http'] };

for (const [transport, target] of Object.entries(kTargets)) {
  for (const era of ['legacy', 'auto', 'modern']) {
    await test(`inspector, ${transport}, ${era}: list and call`, async () => {
      const { tools } = checkOk(await inspect(target, '--protocol-era', era, '--method', 'tools/list'));
      check(tools.some((each) => each.name === 'run'), `the tools are ${tools.map((each) => each.name)}`);
      const result = checkOk(await inspect(target, '--protocol-era', era, ...call({ code: product.code })));
      checkIncludes(JSON.stringify(result.content), product.output);
      checkIncludes(JSON.stringify(result.structuredContent), product.output);
    });
  }

  await test(`inspector, ${transport}: schemas that every client can use`, async () => {
    const said = await inspect(target, '--method', 'tools/list', '--strict');
    checkOk(said);
    check(!/warning|error/i.test(said.err), said.err);
  });

  await test(`inspector, ${transport}: 200 calls, 20 at once`, async () => {
    const load = ['--load', '--load-requests', '200', '--load-concurrency', '20'];
    const result = checkOk(await inspect(target, ...call({ code: product.code }), ...load));
    check(result.ok === 200 && result.errorRate === 0, JSON.stringify(result));
    console.log(`  ${result.throughput.toFixed(0)} calls/s, p50 ${result.latencyMs.p50.toFixed(0)} ms, p99 ${result.latencyMs.p99.toFixed(0)} ms`);
  });
}

await test('inspector: an unknown tool and a failing run are told apart from success', async () => {
  const unknown = await inspect(kTargets.stdio, '--method', 'tools/call', '--tool-name', 'no-such-tool');
  check(unknown.code === 5, `an unknown tool: ${unknown.code} ${unknown.err}`);
  const failing = await inspect(kTargets.stdio, ...call({ env: 'no-such-environment', code: '' }));
  check(failing.code === 5, `an unknown environment: ${failing.code} ${failing.err}`);
});

await test('inspector: what was cut from a result is read as a resource', async () => {
  const lines = 50000;
  const { content } = checkOk(await inspect(kTargets.HTTP, ...call({ code: `for i in range(${lines}): print('line', i)` })));
  const link = content.find((each) => each.type === 'resource_link');
  check(link, `no link: ${excerpt(JSON.stringify(content))}`);
  checkIncludes(content.find((each) => each.type === 'text').text, link.uri);
  const { contents } = checkOk(await inspect(kTargets.HTTP, '--method', 'resources/read', '--uri', link.uri));
  const text = contents[0].text;
  check(text.startsWith('line 0\n') && text.includes(`\nline ${lines / 2}\n`) && text.includes(`\nline ${lines - 1}`), excerpt(text));
});

await stop(server);
finish();
