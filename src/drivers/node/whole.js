// Code that is a program of its own.

// In a file that Node's own loader runs, with Node's defaults for everything, until there is nothing
// left to wait for; a handler of SIGINT for the time before would cost a fourth of a small run, and igloo
// sends none then. Whenever such a program ends in another way, igloo-init tells how; only one that
// comes to its end, or exits, saves that time. All but the code itself is prepared before it comes:
// most interpreters get no other.
const whole = { id: 0, failed: false, main: null };
const noteFailure = () => { whole.failed = true; }; // Node prints the error after the event
const interrupt = () => run?.interrupt?.(); // between runs nothing
function prepareWhole() {
  process.argv.splice(1, 2, CODE_FILE);
  delete Module._cache[__filename]; // a program finds itself alone
  process.once('uncaughtExceptionMonitor', noteFailure);
  process.on('exit', leaveWhole);
}

function leaveWhole(status) {
  try {
    sendParts(whole.id);
    if (whole.failed || process.listenerCount('exit') > 1) return; // more is to come
    sendExit(4, whole.id, status & 255);
    // Taking an engine apart takes longer than most programs, on a processor that the host may need for
    // the answer: it waits until the host has gone, or ends it.
    fs.readSync(3, Buffer.allocUnsafe(1));
  } catch { /* it closed the channel: igloo-init tells how it ended */ }
}

function sendExit(channel, id, status) {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  fs.writeSync(channel, `exit ${id} ${status} ${userCPUTime + systemCPUTime} ${maxRSS}\n`);
}

// The module that Node's loader would make for the program. Looking for the file, its real name and a
// package around it takes as long as all else, and is known before the code comes.
const packaged = ['/run/igloo', '/run', '/'].some((place) => fs.existsSync(path.join(place, 'package.json')));
function prepareMain() {
  const main = new Module(CODE_FILE, null);
  Object.assign(main, { id: '.', filename: CODE_FILE, paths: Module._nodeModulePaths(path.dirname(CODE_FILE)) });
  process.mainModule = Module._cache[CODE_FILE] = whole.main = main;
}

// What may be a module of the other kind is the loader's, as are errors that speak of them: so is code that
// declares a name that every module has.
const redeclares = /\b(?:const|let|class)\b[^;=]*\b(?:require|module|exports|__filename|__dirname)\b/;
const isPlain = (code) => !packaged && !['import', 'export', 'await'].some((word) => code.includes(word)) &&
  !(['const', 'let', 'class'].some((word) => code.includes(word)) && redeclares.test(code));

function executeWhole({ id, code, flags }) {
  whole.id = id;
  if (!flags.includes('filed')) {
    try { fs.writeFileSync(CODE_FILE, code); } catch { /* the loader says that it is not there */ }
  }
  if (isPlain(code) && whole.main) {
    whole.main._compile(code, CODE_FILE, 'commonjs');
    whole.main.loaded = true;
  } else {
    delete Module._cache[CODE_FILE];
    Module._load(CODE_FILE, null, true);
  }
}
