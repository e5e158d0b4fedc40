// Gemini CLI: its list of servers, and calls.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, checkIncludes, excerpt, npmPackage, run, test } from '../support/testing.mjs';
import { checkListed, checkProduct, makeHome, productInput, withHttpServer, withModel } from './client.mjs';
import { kDone } from './model.mjs';

const gemini = join(npmPackage('@google/gemini-cli'), 'bundle/gemini.js');

async function home(server) {
  const made = await makeHome('gemini', { GEMINI_API_KEY: 'x' });
  // It starts servers only in folders that it trusts.
  writeFileSync(join(made.home, '.gemini/trustedFolders.json'), JSON.stringify({ [made.project]: 'TRUST_FOLDER' }));
  const file = join(made.home, '.gemini/settings.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  check(settings.mcpServers.igloo, 'igloo mcp install has written no server');
  if (server) settings.mcpServers.igloo = { type: 'http', url: server };
  settings.security = { auth: { selectedType: 'gemini-api-key' } };
  writeFileSync(file, JSON.stringify(settings));
  return made;
}

await test('Gemini CLI lists igloo as connected', async () => {
  await checkListed(await home(), 'node', [gemini, 'mcp', 'list'], /igloo.*Connected/);
});

async function runsCode(server) {
  const { env, project } = await home(server);
  let end;
  const model = await withModel([{ name: 'mcp_igloo_run', input: productInput }], async ({ url }) => {
    end = await run('node', [gemini, '--approval-mode', 'yolo', '-m', 'gemini-2.5-flash', '-p', 'go'], {
      env: { ...env, GOOGLE_GEMINI_BASE_URL: url }, cwd: project,
    });
  });
  check(end.code === 0, `gemini ended with ${end.code}: ${excerpt(end.out + end.err)}`);
  checkProduct(model, end);
  checkIncludes(end.out, kDone);
}

await test('Gemini CLI runs code', () => runsCode());
await test('Gemini CLI runs code over HTTP', () => withHttpServer(runsCode));
