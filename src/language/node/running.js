// Runs code as at a prompt, in one realm.

// Code that the inspector evaluates has no loader, so `import(...)` becomes a call of our own. It
// must not change strings, templates, comments and regular expressions that only talk of it.
function withImports(code) {
  if (!/\bimport\s*\(/.test(code)) return code;
  const token = /\s+|\/\/.*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|[\w$]+|[^]/y;
  const template = /(?:[^`\\$]|\\[^]|\$(?!\{))*(?:`|\$\{|$)/y;
  const regexp = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
  const operand = /^(?!(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)$)[\w$"'`)\]}]/;
  const braces = []; // one for each open {; true for one that a template opened
  let result = '', last = '';
  for (let at = 0; at < code.length;) {
    const take = (pattern) => { pattern.lastIndex = at; return pattern.exec(code)?.[0]; };
    let word = take(token);
    if (word === '/' && !operand.test(last)) word = take(regexp) ?? word;
    if (word === '{') braces.push(false);
    if (word === '`' || (word === '}' && braces.pop())) {
      at += 1;
      result += word;
      word = take(template);
      if (word.endsWith('${')) braces.push(true);
    }
    at += word.length;
    const call = word === 'import' && last !== '.' && /\s*\(/y.test(code.slice(at, at + 100));
    result += call ? '__igloo_import' : word;
    if (!/^(?:\s|\/\/|\/\*)/.test(word)) last = word;
  }
  return result;
}

// As from a file in the working directory.
function load(name, options) {
  let target = String(name);
  if (/^\.{0,2}\//.test(target)) {
    target = pathToFileURL(path.resolve(target)).href;
  } else if (!isBuiltin(target) && !/^[a-z]+:/.test(target)) {
    try {
      target = pathToFileURL(createRequire(`${process.cwd()}/`).resolve(target)).href;
    } catch { /* import() says it better */ }
  }
  return import(target, options);
}

// `{a: 1}` is an object at a prompt, and a block in a file.
function asPrompt(code) {
  if (!/^\s*\{/.test(code) || /;\s*$/.test(code)) return code;
  try {
    new vm.Script(`(${code}\n)`);
    return `(${code}\n)`;
  } catch {
    return code;
  }
}

// The object behind the inspector's description of it.
const kTake = Symbol.for('igloo.take');
const kGo = Symbol.for('igloo.go');
function real(remote) {
  if (!remote.objectId) {
    return remote.unserializableValue ? vm.runInThisContext(remote.unserializableValue) : remote.value;
  }
  let value;
  globalThis[kTake] = (taken) => { value = taken; };
  inspector.post('Runtime.callFunctionOn', {
    objectId: remote.objectId,
    functionDeclaration: `function () { 'use strict'; globalThis[Symbol.for('igloo.take')](this); }`,
  });
  delete globalThis[kTake];
  return value;
}

// The inspector's way of a prompt: let, const and class can be declared again, and await works.
// Around it a script of vm, which alone can be broken by SIGINT while it does not come back.
const entry = new vm.Script(`globalThis[Symbol.for('igloo.go')]()`);
function evaluate(id, code) {
  return new Promise((settle) => {
    const current = run ?? {};
    current.interrupt = () => settle({ interrupted: current.interrupted = true });
    globalThis[kGo] = () => inspector.post('Runtime.evaluate', {
      expression: `${withImports(code)}\n//# sourceURL=<run-${id}>`, replMode: true, objectGroup: 'run',
    }, (error, answer) => settle(error ? { interrupted: true } : answer));
    try {
      entry.runInThisContext({ breakOnSigint: true });
    } catch {
      current.interrupt();
    }
  });
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function execute(id, code, echo) {
  run = { id };
  sources.set(id, code.split('\n'));
  if (sources.size > KEPT_SOURCES) sources.delete(sources.keys().next().value);
  const answer = await evaluate(id, echo ? asPrompt(code) : code);
  await turn(); // rejections that nobody handles are told after the microtasks
  const result = { status: 0 };
  const details = answer.exceptionDetails;
  const error = details?.exception ? real(details.exception) : new Error(details?.text);
  // A child that the same SIGINT ended may have come back before Node noticed it.
  if (answer.interrupted || run.interrupted || (details && error?.signal === 'SIGINT')) {
    Object.assign(result, { status: 130, error: 'interrupted', interrupted: true });
  } else if (details) {
    const compiled = error instanceof SyntaxError && !/<run /.test(error.stack);
    report(error, compiled ? [id, details.lineNumber + 1, details.columnNumber + 1] : undefined);
    Object.assign(result, { status: 1, error: describe(error) });
  } else {
    if (run.failed) Object.assign(result, { status: 1, error: run.failed });
    const value = real(answer.result);
    if (echo && value !== undefined) result.value = shorten(util.inspect(value, { maxStringLength: MAX_VALUE - 100 }));
  }
  // A script that sets it fails without an error.
  if (process.exitCode) result.status ||= process.exitCode & 255;
  process.exitCode = undefined;
  inspector.post('Runtime.releaseObjectGroup', { objectGroup: 'run' });
  run = null;
  sendParts(id);
  send('done', id, result);
}
