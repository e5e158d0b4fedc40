// The real Claude Code, started by claudebox and claude-sandbox as their users start it.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { check, checkIncludes, excerpt, npmPackage, run, test } from '../support/testing.mjs';
import { igloo, withModel } from '../clients/client.mjs';
import { kDone } from '../clients/model.mjs';
import { changedPaths, checkResults, checkTold, git, makeScene, steps, treeOf } from './agent.mjs';

const agent = { name: 'claude', program: join(npmPackage('@anthropic-ai/claude-code-linux-x64'), 'claude') };
const shell = (command) => ({ name: 'Bash', input: { command, description: 'as asked' } });
const variables = (scene, model) => ({ ...scene.env, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-ant-stand-in' });

// Without a list of hosts there is none to be missing from.
const work = steps.filter(({ ask }) => !ask.includes('unlisted') && !ask.includes('noproxy'));

const launchers = [
  {
    name: 'claudebox', told: 'a sandbox that claudebox, a part of igloo, made for one project',
    words: (model, words) => ['-y', '--reach', String(model.port), ...words],
    conversations: (scene) => join(scene.home, '.claudebox/projects'),
    own: ['.claudebox/', '.claude.json'],
  },
  {
    name: 'claude-sandbox', told: 'a sandbox that claude-sandbox, a part of igloo, made for one project',
    words: (model, words) => ['--minimal', '--reach', String(model.port), '--', ...words],
    conversations: (scene) => join(scene.home, '.claude/projects'),
    own: ['.claude/', '.claude.json'],
  },
];

async function start(launcher, scene, model, words) {
  const all = launcher.words(model, words);
  const end = await run(join(dirname(igloo), launcher.name), all, { env: variables(scene, model), cwd: scene.project, seconds: 170 });
  check(end.code === 0, `${launcher.name} ${all.join(' ')} ended with ${end.code}: ${excerpt(end.out + end.err)}`);
  checkIncludes(end.out, kDone);
}

/** Claude Code without a box. */
async function startPlain(scene, model, words) {
  const end = await run(agent.program, words, { env: variables(scene, model), cwd: scene.project, seconds: 170 });
  check(end.code === 0, `claude ${words.join(' ')} ended with ${end.code}: ${excerpt(end.out + end.err)}`);
}

const conversation = (model) => model.requests.map(({ text }) => text).join('\n');

const filesBelow = (root) => (existsSync(root) ? readdirSync(root, { recursive: true }).filter((name) => name.endsWith('.jsonl')) : []);

for (const launcher of launchers) {
  await test(`Claude Code started by ${launcher.name} works on its project, commits, and is refused everything else`, async () => {
    const scene = makeScene(agent);
    const before = treeOf(scene.project);
    const home = treeOf(scene.home);
    const model = await withModel(work.map(({ ask }) => shell(ask)), (each) => start(launcher, scene, each, ['-p', 'go-and-work']));
    checkTold(model, launcher.told);
    checkResults(model, work);
    check(git(scene.home, scene.project, 'log', '--format=%s') === 'by the agent\nfirst', 'the commit is not there');
    const changed = changedPaths(before, treeOf(scene.project)).filter((path) => !path.startsWith('.git/')).sort();
    check(changed.join() === 'made.txt,tracked.txt', `in the project, these are others now: ${changed}`);
    const own = ['.local/', '.local/state/', ...launcher.own];
    const strangers = changedPaths(home, treeOf(scene.home)).filter((path) => !path.startsWith('code/project/') && !own.some((each) => path.startsWith(each)));
    check(strangers.length === 0, `in the home directory, these are others now: ${strangers}`);
    check(filesBelow(launcher.conversations(scene)).length === 1, 'the conversation is not kept where it belongs');
  });

  await test(`Claude Code started by ${launcher.name} goes on with a conversation, and leaves nothing in the project`, async () => {
    const scene = makeScene(agent);
    const before = treeOf(scene.project);
    await withModel([], (each) => start(launcher, scene, each, ['-p', 'go-and-work']));
    const model = await withModel([], (each) => start(launcher, scene, each, ['--continue', '-p', 'and-on']));
    checkIncludes(conversation(model), 'go-and-work');
    // To look at the state of its files, git writes down when it last did.
    const changed = changedPaths(before, treeOf(scene.project)).filter((path) => path !== '.git/index');
    check(changed.length === 0, `these are others now: ${changed}`);
  });
}

await test('a conversation goes from a plain Claude Code into claude-sandbox and out again', async () => {
  const scene = makeScene(agent);
  const sandbox = launchers.find(({ name }) => name === 'claude-sandbox');
  await withModel([], (each) => startPlain(scene, each, ['-p', 'said-outside']));
  const inside = await withModel([], (each) => start(sandbox, scene, each, ['--continue', '-p', 'said-inside']));
  checkIncludes(conversation(inside), 'said-outside');
  const outside = await withModel([], (each) => startPlain(scene, each, ['--continue', '-p', 'said-at-last']));
  checkIncludes(conversation(outside), 'said-outside');
  checkIncludes(conversation(outside), 'said-inside');
});
