// How errors look.

// Where the driver's own frames begin, nothing is of interest any more. A name with a space cannot
// be given to the engine (it is a comment in the source), so it gets one here.
function prepareStackTrace(error, frames) {
  const own = frames.findIndex((frame) => [__filename, 'node:inspector'].includes(frame.getFileName()));
  const lines = own < 0 ? frames : frames.slice(0, own);
  let head = 'Error';
  try { head = Error.prototype.toString.call(error); } catch { /* a getter of the user's */ }
  return [head, ...lines].join('\n    at ').replace(/<run-(\d+)>/g, '<run $1>');
}

function quote(id, line, column) {
  const text = sources.get(id)?.[line - 1];
  if (text === undefined || text.length > 500) return '';
  return `<run ${id}>:${line}\n${text}\n${text.slice(0, column - 1).replace(/[^\t]/g, ' ')}^\n\n`;
}

// Prints as Node does for a script: the line, then the error with its stack.
function report(error, place) {
  const stack = typeof error?.stack === 'string' ? error.stack : '';
  const frame = place ?? /<run (\d+)>:(\d+):(\d+)/.exec(stack)?.slice(1);
  let text = error instanceof SyntaxError && place ? String(error) : util.inspect(error);
  if (!(error instanceof Error) && !stack) text = `Uncaught ${text}`;
  if (error instanceof SyntaxError && /import statement/.test(error.message)) {
    text += `\n(in a session, write: const name = require('module'), or: await import('module'))`;
  }
  console.error((frame ? quote(frame[0], +frame[1], +frame[2]) : '') + text);
}

function describe(error) {
  let text = 'error';
  try {
    text = error instanceof Error ? `${error.name}: ${error.message}` : `Uncaught ${util.inspect(error)}`;
  } catch { /* a getter of the user's */ }
  return text.replace(/\s+/g, ' ').slice(0, 1000);
}
