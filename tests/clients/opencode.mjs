// opencode: its list of servers, and calls.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, checkIncludes, excerpt, npmPackage, run, test } from '../support/testing.mjs';
import { checkListed, checkProduct, makeHome, productInput, withHttpServer, withModel } from './client.mjs';
import { kDone } from './model.mjs';

const opencode = join(npmPackage('opencode-linux-x64-baseline'), 'bin/opencode');

await test('opencode lists igloo as connected', async () => {
  await checkListed(await makeHome('opencode'), opencode, ['mcp', 'list'], /igloo.*connected/);
});

async function runsCode(server) {
  const { env, home, project } = await makeHome('opencode');
  const file = join(home, '.config/opencode/opencode.json');
  let end;
  const model = await withModel([{ name: 'igloo_run', input: productInput }], async ({ url }) => {
    const settings = JSON.parse(readFileSync(file, 'utf8'));
    check(settings.mcp.igloo, 'igloo mcp install has written no server');
    if (server) settings.mcp.igloo = { type: 'remote', url: server, enabled: true, oauth: false };
    const provider = { npm: '@ai-sdk/openai-compatible', options: { baseURL: `${url}/v1`, apiKey: 'x' }, models: { one: { tool_call: true } } };
    Object.assign(settings, { model: 'stand-in/one', small_model: 'stand-in/one', autoupdate: false, provider: { 'stand-in': provider } });
    writeFileSync(file, JSON.stringify(settings));
    end = await run(opencode, ['run', 'go'], { env, cwd: project });
  });
  check(end.code === 0, `opencode ended with ${end.code}: ${excerpt(end.out + end.err)}`);
  checkProduct(model, end);
  checkIncludes(end.out, kDone);
}

await test('opencode runs code', () => runsCode());
await test('opencode runs code over HTTP', () => withHttpServer(runsCode));
