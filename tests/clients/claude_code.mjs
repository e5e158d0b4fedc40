// Claude Code: its list of servers, calls without a terminal, and a call that becomes a task in one.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, excerpt, npmPackage, product, run, start, test, until } from '../support/testing.mjs';
import { checkGivesUp, checkListed, checkRunsCode, makeHome, withHttpServer, withModel } from './client.mjs';

const claude = join(npmPackage('@anthropic-ai/claude-code-linux-x64'), 'claude');
const kKey = 'sk-ant-stand-in';
const kTool = 'mcp__igloo__run';

const modelAt = (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: kKey });

async function home(server) {
  const made = await makeHome('claude-code', { DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' });
  // What a person has answered before the first prompt.
  const file = join(made.home, '.claude.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  check(settings.mcpServers.igloo, 'igloo mcp install has written no server');
  if (server) settings.mcpServers.igloo = { type: 'http', url: server.url, headers: { Authorization: `Bearer ${server.token}` } };
  Object.assign(settings, {
    hasCompletedOnboarding: true, theme: 'dark',
    customApiKeyResponses: { approved: [kKey.slice(-20)], rejected: [] },
    projects: { [made.project]: { hasTrustDialogAccepted: true } },
  });
  writeFileSync(file, JSON.stringify(settings));
  return made;
}

await test('Claude Code lists igloo as connected', async () => {
  await checkListed(await home(), claude, ['mcp', 'list'], /igloo.*Connected/);
});

async function runsCode(server) {
  const { env, project } = await home(server);
  const model = await checkRunsCode({ name: kTool }, (url) =>
    run(claude, ['-p', 'go', '--allowedTools', kTool], { env: { ...env, ...modelAt(url) }, cwd: project }));
  // Shown to the model in full from the start, not only by name.
  check(model.requests.some(({ text }) => text.includes(`"name":"${kTool}"`) && text.includes('"timeout_seconds"')), 'the tool is deferred');
}

await test('Claude Code runs code without a terminal', () => runsCode());
await test('Claude Code runs code over HTTP', () => withHttpServer(runsCode));

await test('Claude Code gives up a call that takes too long, and nothing goes on running', async () => {
  const { env, project } = await home();
  await checkGivesUp({ name: kTool }, (url) => {
    const variables = { ...env, ...modelAt(url), MCP_TOOL_TIMEOUT: '3000' };
    return start(claude, ['-p', 'go', '--allowedTools', kTool], { env: variables, cwd: project });
  });
});

await test('Claude Code runs a long call as a task in a terminal', async () => {
  const { env, project } = await home();
  const input = { code: `import time\ntime.sleep(14)\n${product.code}`, env: 'python', timeout_seconds: 60 };
  await withModel([{ name: kTool, input }], async (model) => {
    const terminal = start('script', ['-qfec', `stty rows 50 cols 120; '${claude}' go --allowedTools ${kTool}`, '/dev/null'], {
      env: { ...env, TERM: 'xterm-256color', ...modelAt(model.url) }, cwd: project,
    });
    try {
      const said = (part) => model.requests.some(({ text }) => text.includes(part));
      await until('a result for the call', () => model.results.length > 0, 60).catch((error) => {
        throw new Error(`${error.message}\n${excerpt(terminal.out)}`);
      });
      const first = JSON.stringify(model.results[0]);
      check(/server-side task|background/.test(first) && !first.includes(product.output), `the call did not become a task: ${excerpt(first)}`);
      await until('the output of the task', () => said(product.output), 60);
    } finally {
      terminal.child.kill('SIGTERM');
      await terminal.ended;
    }
  });
});
