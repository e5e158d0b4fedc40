// Every client in turn, then every agent in a box, or those that are named.  tests/clients/run starts it where
// there is no network but loopback.
import { finish } from '../support/testing.mjs';

const named = process.argv.slice(3);
const all = ['claude_code', 'codex', 'gemini', 'opencode', 'agents/claude', 'agents/launchers', 'agents/codex', 'agents/gemini', 'agents/opencode'];
for (const each of named.length > 0 ? named : all) {
  await import(each.includes('/') ? `../${each}.mjs` : `./${each}.mjs`);
}
finish();
