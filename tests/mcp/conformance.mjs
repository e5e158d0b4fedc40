// The protocol's conformance suite: the fixture for all of both requirement sets, the shipped server for
// what needs no fixtures.  tests/support/node tests/mcp/conformance.mjs DIRECTORY_OF_PROGRAMS
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, excerpt, finish, npmPackage, run, scratch, startHttp, stop, test } from '../support/testing.mjs';

const programs = process.argv[2];
const suite = join(npmPackage('@modelcontextprotocol/conformance'), 'dist/index.js');

// Scenarios outside both requirement sets that do not pass yet: one that passes must leave the list.
const kKnownFailures = ['http-custom-header-server-validation'];
// The extension that no requirement set counts.
const kTasks = [
  'tasks-lifecycle', 'tasks-capability-negotiation', 'tasks-wire-fields', 'tasks-request-state-removal',
  'tasks-mrtr-input', 'tasks-request-headers', 'tasks-dispatch-and-envelope', 'tasks-status-notifications',
  'tasks-required-task-error', 'tasks-mrtr-composition',
];
const kWithoutFixtures = {
  '2025-11-25': [
    'server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list', 'server-sse-multiple-streams',
    'server-session-lifecycle', 'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'server-stateless', 'tools-list', 'resources-list', 'prompts-list', 'caching', 'sep-2164-resource-not-found',
    'dns-rebinding-protection', 'http-header-validation', 'server-sse-multiple-streams',
    'input-required-result-missing-input-response', 'input-required-result-unsupported-methods',
    'input-required-result-ignore-extra-params', 'input-required-result-validate-input',
  ],
};

async function ask(url, ...args) {
  const { code, out, err } = await run('node', [suite, 'server', '--url', url, ...args], { seconds: 100 });
  return { code, text: out + err };
}

/** What the summary says of each scenario. */
function summary(text) {
  const lines = text.slice(text.indexOf('=== SUMMARY ===')).matchAll(/^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed/gm);
  return new Map(Array.from(lines, ([, mark, name, passed, failed]) => [name, { ok: mark === '✓', passed: +passed, failed: +failed }]));
}

async function requirementSet(era) {
  const fixture = await startHttp(join(programs, 'igloo-mcp-fixture'), ['0']);
  const { code, text } = await ask(fixture.url, '--requirements', era, '-o', join(scratch, era));
  await stop(fixture);
  const scenarios = summary(text);
  check(scenarios.size > 0, `no summary: ${excerpt(text)}`);
  const failing = [...scenarios].filter(([, each]) => !each.ok).map(([name]) => name);
  const known = kKnownFailures.filter((name) => scenarios.has(name));
  check(failing.join() === known.join(), `failing: ${failing}; known to fail: ${known}\n${excerpt(text, 20000)}`);
  check(code === 0, `the suite ended with ${code}`);
  return scenarios;
}

/** The checks of one scenario as the suite wrote them down. */
function checksOf(directory, scenario) {
  const found = readdirSync(directory).filter((name) => name.startsWith(`server-${scenario}-2`));
  check(found.length === 1, `${scenario} did not run: ${readdirSync(directory)}`);
  return JSON.parse(readFileSync(join(directory, found[0], 'checks.json'), 'utf8'));
}

// One run for all of an era: a start per scenario would take longer than the scenarios.
async function shipped(era) {
  const directory = join(scratch, `shipped-${era}`);
  const server = await startHttp(join(programs, 'igloo'), ['mcp', '--http', '127.0.0.1:0', '--no-token'], {
    env: { HOME: scratch, PATH: process.env.PATH },
  });
  const { text } = await ask(server.url, '--requirements', era, '-o', directory);
  await stop(server);
  check(summary(text).size > 0, `no summary: ${excerpt(text)}`);
  return directory;
}

// All at once: most of the time the suite waits.
const eras = Object.keys(kWithoutFixtures);
const pending = eras.map((era) => [requirementSet(era), shipped(era)]);
for (const each of pending.flat()) each.catch(() => {}); // told by the test that awaits it

for (const [index, era] of eras.entries()) {
  await test(`conformance ${era}, fixture`, async () => {
    const scenarios = await pending[index][0];
    console.log(`  ${scenarios.size} scenarios, ${[...scenarios.values()].reduce((sum, each) => sum + each.passed, 0)} checks`);
  });
}
await test('conformance, tasks extension', async () => {
  const scenarios = await pending[eras.indexOf('2026-07-28')][0];
  const missing = kTasks.filter((name) => !scenarios.get(name)?.ok);
  check(missing.length === 0, `not passed: ${missing}`);
});
for (const [index, era] of eras.entries()) {
  for (const scenario of kWithoutFixtures[era]) {
    await test(`conformance ${era}, igloo mcp, ${scenario}`, async () => {
      const checks = checksOf(await pending[index][1], scenario);
      // The suite says of some checks that they need a tool that only a fixture has.
      const testable = checks.filter((each) => !each.details?.untestable);
      const failures = testable.filter((each) => each.status === 'FAILURE');
      check(failures.length === 0, JSON.stringify(failures, null, 1));
      check(testable.length > checks.length / 2, `only ${testable.length} of ${checks.length} checks could be made`);
    });
  }
}
finish();
