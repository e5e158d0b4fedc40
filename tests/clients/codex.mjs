// Codex: one call with nobody to approve it, which only harmless annotations allow, and one that takes
// longer than Codex waits.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, npmPackage, run, start, test } from '../support/testing.mjs';
import { checkGivesUp, checkListed, checkRunsCode, makeHome, withHttpServer } from './client.mjs';

const codex = join(npmPackage('@openai/codex'), 'vendor/x86_64-unknown-linux-musl/bin/codex');
const kCall = { namespace: 'mcp__igloo', name: 'run' };

const args = (url) => [
  'exec', '--skip-git-repo-check', '--json', '-s', 'workspace-write', '-c', 'approval_policy=never', '-c', 'model=gpt-5',
  '-c', 'model_provider=stand-in',
  '-c', `model_providers.stand-in={name="stand-in",base_url="${url}/v1",wire_api="responses",env_key="STAND_IN_KEY"}`,
];

async function home(server) {
  const made = await makeHome('codex', { STAND_IN_KEY: 'x', ...(server && { IGLOO_TOKEN: server.token }) });
  const file = join(made.home, '.codex/config.toml');
  check(readFileSync(file, 'utf8').includes('[mcp_servers.igloo]'), 'igloo mcp install has written no server');
  if (server) writeFileSync(file, `[mcp_servers.igloo]\nurl = "${server.url}"\nbearer_token_env_var = "IGLOO_TOKEN"\n`);
  return made;
}

await test('Codex lists igloo', async () => {
  await checkListed(await home(), codex, ['mcp', 'list'], /igloo.*enabled/);
});

async function runsCode(server) {
  const { env, project } = await home(server);
  await checkRunsCode(kCall, (url) => run(codex, [...args(url), 'go'], { env, cwd: project }));
}

await test('Codex runs code without anybody to approve it', () => runsCode());
await test('Codex runs code over HTTP', () => withHttpServer(runsCode));

await test('Codex gives up a call that takes too long, and nothing goes on running', async () => {
  const { env, project } = await home();
  await checkGivesUp(kCall, (url) =>
    start(codex, [...args(url), '-c', 'mcp_servers.igloo.tool_timeout_sec=3', 'go'], { env, cwd: project }));
});
