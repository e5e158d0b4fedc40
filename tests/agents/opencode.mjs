// opencode in a box.
import { join } from 'node:path';
import { npmPackage } from '../support/testing.mjs';
import { testAgent } from './agent.mjs';

await testAgent({
  name: 'opencode', title: 'opencode',
  program: join(npmPackage('opencode-linux-x64-baseline'), 'bin/opencode'),
  arguments: () => ['run', '-m', 'anthropic/claude-sonnet-4-5', 'go-and-work'],
  variables: (url) => ({ ANTHROPIC_BASE_URL: `${url}/v1`, ANTHROPIC_API_KEY: 'sk-ant-stand-in' }),
  key: 'ANTHROPIC_API_KEY',
  shell: (command) => ({ name: 'bash', input: { command, description: 'as asked' } }),
  inGit: ['.git/opencode'], // the number that it gives a project, as without a box
  guarded: { file: '.config/opencode/opencode.json', text: '{"mcp":{"planted":{"type":"local","command":["touch"]}}}' },
  state: ['.config/opencode', '.local/share/', '.local/share/opencode', '.local/state/opencode'],
});
