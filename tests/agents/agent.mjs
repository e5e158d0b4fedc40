// An unmodified agent in a box, from end to end: `igloo agent NAME` is started as a person would start it, in a
// home and a project of the test's own, and a scripted model asks the agent for what it may do and for what
// the wall refuses.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { check, checkIncludes, excerpt, product, run, scratch, test } from '../support/testing.mjs';
import { igloo, withModel } from '../clients/client.mjs';
import { kDone } from '../clients/model.mjs';

// Each stands where the agent must not get to, and in no command that it is asked to run.
export const canaries = { key: 'canary-of-the-key-5e1f', project: 'canary-of-the-other-project-77c2', variable: 'canary-of-a-variable-9b04' };
const kTold = 'You run inside a sandbox that igloo made for one project';

export function git(home, directory, ...words) {
  const env = { HOME: home, PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1' };
  const done = spawnSync('git', ['-C', directory, ...words], { env, encoding: 'utf8' });
  check(done.status === 0, `git ${words.join(' ')}: ${done.stderr}`);
  return done.stdout.trim();
}

function put(path, text, mode = 0o644) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

/** A home with what a user has, the agent on PATH, and a project that is a git repository. */
export function makeScene({ name, program, files }) {
  const home = mkdtempSync(join(scratch, `${name}-`));
  chmodSync(home, 0o755);
  const project = join(home, 'code/project');
  put(join(home, '.ssh/id_ed25519'), canaries.key, 0o600);
  put(join(home, 'code/other/secret.txt'), canaries.project);
  // What the user's own git would run: not inside.
  put(join(home, 'hooks/post-commit'), `#!/bin/sh\ntouch '${join(home, 'hook-ran')}'\necho HOOK-RAN\n`, 0o755);
  put(join(home, '.gitconfig'), `[user]\nname = Ann Person\nemail = ann@example.org\n[init]\ndefaultBranch = main\n[core]\nhooksPath = ${join(home, 'hooks')}\n`);
  put(join(home, 'bin/.keep'), '');
  for (const [path, text] of Object.entries(files ?? {})) put(join(home, path), text);
  symlinkSync(program, join(home, 'bin', name));
  put(join(project, 'tracked.txt'), 'old\n');
  git(home, project, 'init', '-q');
  git(home, project, 'add', '.');
  git(home, project, '-c', 'core.hooksPath=/nonexistent', 'commit', '-qm', 'first');
  const env = {
    HOME: home, PATH: `${join(home, 'bin')}:${process.env.PATH}`, TERM: 'dumb', LANG: 'C.UTF-8', USER: 'ann',
    HOST_CANARY: canaries.variable,
  };
  return { home, project, env };
}

/** Path -> what is there, in the whole tree. */
export function treeOf(root, at = '', found = new Map()) {
  for (const name of readdirSync(join(root, at)).sort()) {
    const path = join(at, name);
    const info = lstatSync(join(root, path));
    if (info.isDirectory()) {
      found.set(`${path}/`, info.mode);
      treeOf(root, path, found);
    } else {
      found.set(path, info.isSymbolicLink() ? readlinkSync(join(root, path)) : `${info.mode} ${readFileSync(join(root, path), 'hex')}`);
    }
  }
  return found;
}

export const changedPaths = (before, after) =>
  [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path));

/** Starts the agent in a box; `options` are igloo's. */
async function runBox(agent, scene, model, options, variables) {
  const words = ['agent', agent.name, '--yes', ...options, '--', ...agent.arguments(model)];
  const end = await run(igloo, words, { env: { ...scene.env, ...variables }, cwd: scene.project, seconds: 170 });
  check(end.code === 0, `igloo ${words.join(' ')} ended with ${end.code}: ${excerpt(end.out + end.err)}`);
  checkIncludes(end.out, kDone);
  return end;
}

const kOpen = (agent) => ['--network', 'allow', ...(agent.options ?? [])];

/** The agent as a user starts it, with a provider of the user's own on loopback. */
const runOnLoopback = (agent, scene, model) =>
  runBox(agent, scene, model, [...kOpen(agent), '--reach', String(model.port)], agent.variables(model.url));

// What the model asks the agent's shell for, and what it must be told about it.
export const steps = [
  { ask: "sed -i s/old/new/ tracked.txt && printf 'made by the agent' > made.txt && cat tracked.txt made.txt", told: /new\s+made by the agent/ },
  { ask: `python3 -c '${product.code}'`, told: product.output },
  { ask: 'git add -A && git commit -m "by the agent" && git log -1 --format="%an <%ae>"', told: 'Ann Person <ann@example.org>', never: 'HOOK-RAN' },
  { ask: "printf 'x' > .git/hooks/post-commit; git config core.hooksPath /tmp", told: /Read-only file system|Device or resource busy/i },
  { ask: 'cat ~/.ssh/id_ed25519', told: 'No such file', never: canaries.key },
  { ask: 'ls ..; cat ../other/secret.txt', told: 'No such file', never: canaries.project },
  { ask: 'env; cat /proc/1/environ /proc/self/environ', told: 'IGLOO_BOX=', never: canaries.variable },
  { ask: 'curl -sS -m 20 http://10.1.2.3/', told: /is a private network\s.*rule that would allow it: 10\.1\.2\.3/s },
  { ask: 'curl -sS -m 20 http://unlisted.example/', told: /is not in the list\s.*rule that would allow it: unlisted\.example/s },
  { ask: "curl -sS -m 5 --noproxy '*' http://10.1.2.3/", told: /(couldn't|failed to|could not) connect|unreachable/i },
];

/** All texts of a result, in whatever form an API has them. */
function textsOf(result) {
  const texts = [];
  JSON.stringify(result, (_, value) => {
    if (typeof value === 'string') texts.push(value);
    return value;
  });
  return texts.join('\n');
}

export function checkResults(model, expected) {
  check(model.results.length === expected.length, `the model saw ${model.results.length} of ${expected.length} results: ${excerpt(JSON.stringify(model.results))}`);
  expected.forEach(({ ask, told, never }, at) => {
    const seen = textsOf(model.results[at]);
    const right = told instanceof RegExp ? told.test(seen) : seen.includes(told);
    check(right, `'${ask}' was answered with ${excerpt(seen)}`);
    check(!never || !seen.includes(never), `'${ask}' shows '${never}'`);
  });
}

/** The first request of the conversation says where the agent is. One without tools asks for a title and the like. */
export function checkTold(model, told = kTold) {
  const first = model.requests.find(({ text }) => text.includes('go-and-work') && /"(additional_)?tools"/.test(text));
  check(first, 'no request of the conversation holds the prompt');
  checkIncludes(first.text, told);
}

/** What of the home directory is another one now, but for igloo's own state and the agent's. */
function strangers(agent, scene, before) {
  const own = ['.local/', '.local/state/', '.local/state/igloo', ...agent.state];
  return changedPaths(before, treeOf(scene.home)).filter((path) => !path.startsWith('code/project/') && !own.some((each) => path.startsWith(each) || `${each}/` === path));
}

export async function testAgent(agent) {
  await test(`${agent.title} in a box works on its project, commits, and is refused everything else with the reason`, async () => {
    const scene = makeScene(agent);
    const before = treeOf(scene.project);
    const home = treeOf(scene.home);
    const calls = steps.map(({ ask }) => agent.shell(ask));
    const model = await withModel(calls, (each) => runOnLoopback(agent, scene, each));
    checkTold(model);
    checkResults(model, steps);
    check(git(scene.home, scene.project, 'log', '--format=%s %an <%ae>') === 'by the agent Ann Person <ann@example.org>\nfirst Ann Person <ann@example.org>', 'the commit is not there');
    check(git(scene.home, scene.project, 'status', '--porcelain') === '', 'something is in the project that is not committed');
    const changed = changedPaths(before, treeOf(scene.project)).filter((path) => !path.startsWith('.git/')).sort();
    check(changed.join() === 'made.txt,tracked.txt', `in the project, these are others now: ${changed}`);
    check(!existsSync(join(scene.project, '.git/hooks/post-commit')) && !existsSync(join(scene.home, 'hook-ran')), 'a hook was planted, or has run');
    check(strangers(agent, scene, home).length === 0, `in the home directory, these are others now: ${strangers(agent, scene, home)}`);
  });

  await test(`${agent.title} in a box leaves nothing in a project in which it does nothing`, async () => {
    const scene = makeScene(agent);
    const before = treeOf(scene.project);
    await withModel([], (each) => runOnLoopback(agent, scene, each));
    // To look at the state of its files, git writes down when it last did.
    const changed = changedPaths(before, treeOf(scene.project)).filter((path) => path !== '.git/index' && !agent.inGit?.includes(path));
    check(changed.length === 0, `these are others now: ${changed}`);
  });

  await test(`${agent.title} in a box changes no settings that run programs: it proposes them`, async () => {
    const scene = makeScene(agent);
    const { file, text } = agent.guarded;
    const at = join(scene.home, file);
    const before = existsSync(at) ? readFileSync(at, 'utf8') : undefined;
    const write = `mkdir -p ~/${dirname(file)} && printf '%s' '${text}' > ~/${file} && cat ~/${file}`;
    await withModel([agent.shell(write)], async (model) => {
      await runOnLoopback(agent, scene, model);
      check(model.results.length === 1, `the model saw ${model.results.length} results`);
      checkIncludes(textsOf(model.results[0]), 'planted');
    });
    const after = existsSync(at) ? readFileSync(at, 'utf8') : undefined;
    check(!after?.includes('planted'), `'${file}' of the host is now: ${after}`);
    check(before === undefined || after !== undefined, `'${file}' is gone`);
    const listed = await run(igloo, ['agent', 'proposals', '--json'], { env: scene.env, cwd: scene.project });
    const { proposals } = JSON.parse(listed.out);
    const mine = proposals.filter((each) => each.file === at && each.after?.includes('planted'));
    check(mine.length > 0, `nothing of '${file}' is proposed: ${excerpt(listed.out)}`);
    for (const { id } of mine) {
      const confirmed = await run(igloo, ['agent', 'proposals', 'confirm', id], { env: scene.env, cwd: scene.project });
      check(confirmed.code === 0, `confirm: ${confirmed.err}`);
    }
    checkIncludes(readFileSync(at, 'utf8'), 'planted');
  });

  await test(`${agent.title} in a box works with a key that it never sees`, async () => {
    const scene = makeScene(agent);
    const key = 'sk-key-of-the-user-8f31c2d90a';
    put(join(scene.project, 'look.py'), readFileSync(join(import.meta.dirname, 'look.py')));
    put(join(scene.home, '.config/igloo/config.toml'), '[network]\nresolver = "93.184.216.53"\n');
    const backwards = [...key].reverse().join('');
    const search = `python3 look.py ${backwards} /etc /run /tmp /dev/shm ~`;
    const control = await run('python3', ['look.py', backwards, scene.home], { env: { ...scene.env, [agent.key]: key }, cwd: scene.project });
    check(/\/proc\/\d+\/environ/.test(control.out), `control: without a box it is found: ${excerpt(control.out + control.err)}`);
    const expected = [
      { ask: `printenv ${agent.keyInside ?? agent.key}`, told: 'igloo-placeholder-', never: key },
      { ask: search, told: /looked into \d+ files: nothing/, never: key },
    ];
    const socket = join(process.env.IGLOO_PROVIDER, 'model.sock');
    const model = await withModel(expected.map(({ ask }) => agent.shell(ask)), async (each) => {
      const variables = { [agent.key]: key, SSL_CERT_FILE: join(process.env.IGLOO_PROVIDER, 'ca.pem') };
      await runBox(agent, scene, {}, kOpen(agent), variables);
      check(each.requests.length > 0, 'nothing reached the provider');
    }, socket);
    checkTold(model);
    checkResults(model, expected);
    const carried = model.requests.filter(({ headers }) => JSON.stringify(headers).includes(key));
    check(carried.length >= expected.length, 'the provider did not get the key');
    check(model.requests.every(({ text }) => !text.includes(key)), 'the key stands in the conversation');
  });
}
