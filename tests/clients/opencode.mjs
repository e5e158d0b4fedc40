// opencode: its list of servers, and calls.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, npmPackage, run, test } from '../support/testing.mjs';
import { checkListed, checkRunsCode, makeHome, withHttpServer } from './client.mjs';

const opencode = join(npmPackage('opencode-linux-x64-baseline'), 'bin/opencode');

await test('opencode lists igloo as connected', async () => {
  await checkListed(await makeHome('opencode'), opencode, ['mcp', 'list'], /igloo.*connected/);
});

async function runsCode(server) {
  const { env, home, project } = await makeHome('opencode');
  const file = join(home, '.config/opencode/opencode.json');
  await checkRunsCode({ name: 'igloo_run' }, (url) => {
    const settings = JSON.parse(readFileSync(file, 'utf8'));
    check(settings.mcp.igloo, 'igloo mcp install has written no server');
    if (server) {
      const headers = { Authorization: `Bearer ${server.token}` };
      settings.mcp.igloo = { type: 'remote', url: server.url, headers, enabled: true, oauth: false };
    }
    const provider = { npm: '@ai-sdk/openai-compatible', options: { baseURL: `${url}/v1`, apiKey: 'x' }, models: { one: { tool_call: true } } };
    Object.assign(settings, { model: 'stand-in/one', small_model: 'stand-in/one', autoupdate: false, provider: { 'stand-in': provider } });
    writeFileSync(file, JSON.stringify(settings));
    return run(opencode, ['run', 'go'], { env, cwd: project });
  });
}

await test('opencode runs code', () => runsCode());
await test('opencode runs code over HTTP', () => withHttpServer(runsCode));
