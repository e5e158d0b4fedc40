// Codex in a box. Its model of today asks for code that calls its tools; that code runs in a program of its own.
import { join } from 'node:path';
import { npmPackage } from '../support/testing.mjs';
import { testAgent } from './agent.mjs';

await testAgent({
  name: 'codex', title: 'Codex',
  program: join(npmPackage('@openai/codex'), 'vendor/x86_64-unknown-linux-musl/bin/codex'),
  options: ['--pass', 'STAND_IN_KEY'], // of its provider on loopback
  arguments: ({ url }) => ['exec', ...(url ? [
    '-c', 'model_provider=stand-in',
    '-c', `model_providers.stand-in={name="stand-in",base_url="${url}/v1",wire_api="responses",env_key="STAND_IN_KEY"}`,
  ] : []), 'go-and-work'],
  variables: () => ({ STAND_IN_KEY: 'x' }),
  key: 'OPENAI_API_KEY',
  shell: (command) => ({ name: 'exec', text: `const done = await tools.exec_command({ cmd: ${JSON.stringify(command)} });\ntext(done.output);` }),
  state: ['.codex'],
  guarded: { file: '.codex/config.toml', text: 'notify = ["touch", "/tmp/planted"]' },
});
