// Codex: one call with nobody to approve it, which only harmless annotations allow, and one that takes
// longer than Codex waits.
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, checkIncludes, endlessCode, excerpt, npmPackage, processesNamed, run, start, test, until } from '../support/testing.mjs';
import { checkListed, checkProduct, makeHome, productInput, withModel } from './client.mjs';
import { kDone } from './model.mjs';

const codex = join(npmPackage('@openai/codex'), 'vendor/x86_64-unknown-linux-musl/bin/codex');
const kCall = { namespace: 'mcp__igloo', name: 'run' };

const args = (url) => [
  'exec', '--skip-git-repo-check', '--json', '-s', 'workspace-write', '-c', 'approval_policy=never', '-c', 'model=gpt-5',
  '-c', 'model_provider=stand-in',
  '-c', `model_providers.stand-in={name="stand-in",base_url="${url}/v1",wire_api="responses",env_key="STAND_IN_KEY"}`,
];

const home = () => makeHome('codex', { variables: { STAND_IN_KEY: 'x' } });

await test('Codex lists igloo', async () => {
  await checkListed(await home(), codex, ['mcp', 'list'], /igloo.*enabled/);
});

await test('Codex runs code without anybody to approve it', async () => {
  const { env, project } = await home();
  let end;
  const model = await withModel([{ ...kCall, input: productInput }], async ({ url }) => {
    end = await run(codex, [...args(url), 'go'], { env, cwd: project });
  });
  check(end.code === 0, `codex ended with ${end.code}: ${excerpt(end.out + end.err)}`);
  checkProduct(model, end);
  checkIncludes(end.out, kDone);
});

await test('Codex gives up a call that takes too long, and nothing goes on running', async () => {
  const { env, home: directory, project } = await home();
  const file = join(directory, '.codex/config.toml');
  check(readFileSync(file, 'utf8').includes('[mcp_servers.igloo]'), 'igloo mcp install has written no server');
  const endless = endlessCode();
  const model = await withModel([{ ...kCall, input: { code: endless.code, env: 'python', timeout_seconds: 600 } }], async ({ url }) => {
    const session = start(codex, [...args(url), '-c', 'mcp_servers.igloo.tool_timeout_sec=3', 'go'], { env, cwd: project });
    session.child.stdin.end();
    await until('the run', () => processesNamed(endless.name).length > 0);
    // Before codex ends: its end would end the server and every run with it.
    await until('the end of the run', () => processesNamed(endless.name).length === 0);
    check(session.child.exitCode === null, 'codex ended before the run did');
    const end = await session.ended;
    check(end.code === 0, `codex ended with ${end.code}: ${excerpt(end.out + end.err)}`);
  });
  check(/time|cancel/i.test(JSON.stringify(model.results)), `the model saw ${JSON.stringify(model.results)}`);
});
