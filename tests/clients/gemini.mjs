// Gemini CLI: its list of servers, and calls.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, npmPackage, run, test } from '../support/testing.mjs';
import { checkListed, checkRunsCode, makeHome, withHttpServer } from './client.mjs';

const gemini = join(npmPackage('@google/gemini-cli'), 'bundle/gemini.js');

async function home(server) {
  const made = await makeHome('gemini', { GEMINI_API_KEY: 'x' });
  // It starts servers only in folders that it trusts.
  writeFileSync(join(made.home, '.gemini/trustedFolders.json'), JSON.stringify({ [made.project]: 'TRUST_FOLDER' }));
  const file = join(made.home, '.gemini/settings.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  check(settings.mcpServers.igloo, 'igloo mcp install has written no server');
  if (server) settings.mcpServers.igloo = { type: 'http', url: server.url, headers: { Authorization: `Bearer ${server.token}` } };
  settings.security = { auth: { selectedType: 'gemini-api-key' } };
  writeFileSync(file, JSON.stringify(settings));
  return made;
}

await test('Gemini CLI lists igloo as connected', async () => {
  await checkListed(await home(), 'node', [gemini, 'mcp', 'list'], /igloo.*Connected/);
});

async function runsCode(server) {
  const { env, project } = await home(server);
  const args = [gemini, '--approval-mode', 'yolo', '-m', 'gemini-2.5-flash', '-p', 'go'];
  await checkRunsCode({ name: 'mcp_igloo_run' }, (url) =>
    run('node', args, { env: { ...env, GOOGLE_GEMINI_BASE_URL: url }, cwd: project }));
}

await test('Gemini CLI runs code', () => runsCode());
await test('Gemini CLI runs code over HTTP', () => withHttpServer(runsCode));
