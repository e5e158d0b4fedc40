// Gemini CLI in a box.
import { join } from 'node:path';
import { npmPackage } from '../support/testing.mjs';
import { testAgent } from './agent.mjs';

await testAgent({
  name: 'gemini', title: 'Gemini CLI',
  program: join(npmPackage('@google/gemini-cli'), 'bundle/gemini.js'),
  // What its dialogue about the sign-in has written.
  files: { '.gemini/settings.json': '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' },
  arguments: () => ['-m', 'gemini-2.5-flash', '-p', 'go-and-work'],
  variables: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'a-key-of-the-user' }),
  key: 'GEMINI_API_KEY',
  shell: (command) => ({ name: 'run_shell_command', input: { command } }),
  state: ['.gemini'],
  guarded: { file: '.gemini/settings.json', text: '{"security":{"auth":{"selectedType":"gemini-api-key"}},"mcpServers":{"planted":{"command":"touch"}}}' },
});
