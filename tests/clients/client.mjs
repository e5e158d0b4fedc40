// What the tests of all clients share: a home of their own, igloo installed in it by igloo itself, and
// what must be seen of a call.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { check, checkIncludes, excerpt, product, run, scratch } from '../support/testing.mjs';
import { startModel } from './model.mjs';

export const igloo = process.argv[2];
check(igloo, 'usage: tests/clients/run IGLOO');

/** A home in which `igloo mcp install CLIENT` has run, and a project to work in. */
export async function makeHome(client, { variables = {} } = {}) {
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

/** Runs `body` with a model that asks for `calls`, and gives the model back. */
export async function withModel(calls, body) {
  const model = await startModel(calls);
  try {
    await body(model);
  } finally {
    await model.close();
  }
  return model;
}

/** What the model saw of the only call holds what only a run could have said. */
export function checkProduct(model, end) {
  const seen = JSON.stringify(model.results);
  check(model.results.length === 1, `the model saw ${model.results.length} results: ${excerpt(seen)}\n${excerpt(end.out + end.err)}`);
  checkIncludes(seen, product.output);
}

export const productInput = { code: product.code, env: 'python' };
