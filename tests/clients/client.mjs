// What the tests of all clients share: a home of their own, igloo installed in it by igloo itself, and
// what must be seen of a call.
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { check, checkIncludes, endlessCode, excerpt, processesNamed, product, run, scratch, startHttp, stop, until } from '../support/testing.mjs';
import { kDone, startModel } from './model.mjs';

check(process.argv[2], 'usage: tests/clients/run IGLOO');
export const igloo = resolve(process.argv[2]); // it is started in other directories

/** A home in which `igloo mcp install CLIENT` has run, and a project to work in. */
export async function makeHome(client, variables = {}) {
  const home = mkdtempSync(join(scratch, `${client}-`));
  const project = join(home, 'project');
  mkdirSync(project);
  const env = { HOME: home, PATH: process.env.PATH, TERM: 'dumb', LANG: 'C.UTF-8', ...variables };
  const installed = await run(igloo, ['mcp', 'install', client], { env, cwd: project });
  check(installed.code === 0, `igloo mcp install ${client}: ${installed.err}`);
  return { home, project, env };
}

/** What `command` says about the servers that it knows. */
export async function checkListed({ env, project }, command, args, expected) {
  const listed = await run(command, args, { env, cwd: project, seconds: 60 });
  const text = listed.out + listed.err;
  check(expected.test(text), `${expected} is not in: ${excerpt(text)}`);
}

/** Runs `body` with a server of its own on HTTP: its address and its token. */
export async function withHttpServer(body) {
  const home = mkdtempSync(join(scratch, 'server-'));
  const tokenFile = join(home, 'token');
  const server = await startHttp(igloo, ['mcp', '--http', '127.0.0.1:0', '--token-file', tokenFile], {
    env: { HOME: home, PATH: process.env.PATH },
  });
  try {
    await body({ url: server.url, token: readFileSync(tokenFile, 'utf8').trim() });
  } finally {
    await stop(server);
  }
}

/** Runs `body` with a model that asks for `calls`, and gives the model back. */
export async function withModel(calls, body, at) {
  const model = await startModel(calls, at);
  try {
    await body(model);
  } finally {
    await model.close();
  }
  return model;
}

/** The client, run by `session` with the address of its model, makes one call, whose result holds what only a run could have said. */
export async function checkRunsCode(call, session) {
  let end;
  const model = await withModel([{ ...call, input: { code: product.code, env: 'python' } }], async ({ url }) => {
    end = await session(url);
  });
  check(end.code === 0, `the client ended with ${end.code}: ${excerpt(end.out + end.err)}`);
  checkIncludes(end.out, kDone);
  const seen = JSON.stringify(model.results);
  check(model.results.length === 1, `the model saw ${model.results.length} results: ${excerpt(seen)}\n${excerpt(end.out + end.err)}`);
  checkIncludes(seen, product.output);
  return model;
}

/** The client that `begin` starts gives up an endless call, and the run ends, not only because the client does. */
export async function checkGivesUp(call, begin) {
  const endless = endlessCode();
  const input = { code: endless.code, env: 'python', timeout_seconds: 600 };
  const model = await withModel([{ ...call, input }], async (each) => {
    // Until it is answered the client goes on: its end would end the server and every run with it.
    const { promise, resolve } = Promise.withResolvers();
    each.patience = promise;
    const session = begin(each.url);
    session.child.stdin.end();
    await until('the run', () => processesNamed(endless.name).length > 0);
    await until('the end of the run', () => processesNamed(endless.name).length === 0);
    check(session.child.exitCode === null, 'the client ended before the run did');
    resolve();
    const end = await session.ended;
    check(end.code === 0, `the client ended with ${end.code}: ${excerpt(end.out + end.err)}`);
  });
  check(/time|cancel/i.test(JSON.stringify(model.results)), `the model saw ${JSON.stringify(model.results)}`);
}
