// Every client in turn, or those that are named.  tests/clients/run starts it where there is no network
// but loopback.
import { finish } from '../support/testing.mjs';

const named = process.argv.slice(3);
for (const client of named.length > 0 ? named : ['claude_code', 'codex', 'gemini', 'opencode']) {
  await import(`./${client}.mjs`);
}
finish();
