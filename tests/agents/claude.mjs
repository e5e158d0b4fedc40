// Claude Code in a box.
import { join } from 'node:path';
import { npmPackage } from '../support/testing.mjs';
import { testAgent } from './agent.mjs';

await testAgent({
  name: 'claude', title: 'Claude Code',
  program: join(npmPackage('@anthropic-ai/claude-code-linux-x64'), 'claude'),
  arguments: () => ['-p', 'go-and-work'],
  variables: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-ant-stand-in' }),
  key: 'ANTHROPIC_API_KEY', keyInside: 'IGLOO_ANTHROPIC_KEY',
  shell: (command) => ({ name: 'Bash', input: { command, description: 'as asked' } }),
  state: ['.claude', '.claude.json'],
  guarded: { file: '.claude/settings.json', text: '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch /tmp/planted"}]}]}}' },
});
