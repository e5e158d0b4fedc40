'use strict';
// The driver of Node: runs the code that comes over descriptor 3, one piece after the other, in one
// realm. `run ID SIZE FLAGS` comes, a line of 64 bytes; `ready 0 SIZE`, `part ID SIZE` (`piece ID SIZE` before it) and `done ID SIZE`
// go over descriptor 4, each with JSON behind it. Descriptors 1 and 2 are the
// user's alone. The others keep their numbers, because Node cannot move one, but Node marks everything above
// 2 close-on-exec before this file runs.
const { Console } = require('node:console');
const { Session } = require('node:inspector');
const Module = require('node:module');
const fs = require('node:fs');
const { Socket } = require('node:net');
const path = require('node:path');
const { Writable } = require('node:stream');
const { pathToFileURL } = require('node:url');
const util = require('node:util');
const vm = require('node:vm');

const KEPT_SOURCES = 100; // runs whose lines later errors can quote
const MAX_VALUE = 10000; // characters of a value
const MAX_PART = 8 << 20; // bytes of a part
const PIECE = 128 << 10; // of its UTF-16 in one message: none takes more than 6 bytes, and 1 MB is allowed
const { createRequire, isBuiltin } = Module;

const HEAD = 64; // bytes of an order's line

let control = null; // orders as a stream, once there is a session
const inspector = new Session();
const sources = new Map(); // id of a run -> its lines
const parts = []; // what the run displayed so far
let run = null; // the one that goes on: { id, failed, interrupt, interrupted }

// Half of a surrogate pair is no text, and JSON with one is refused.
const wellFormed = (text) => text.toWellFormed?.() ?? text.replace(/\p{Surrogate}/gu, '\ufffd');
function toJson(value) {
  const json = JSON.stringify(value);
  if (!/\\ud[89a-f]/.test(json)) return json; // a replacer costs more than all the rest
  return JSON.stringify(value, (_, each) => (typeof each === 'string' ? wellFormed(each) : each));
}

function frame(kind, id, payload) {
  const data = Buffer.from(toJson(payload));
  return Buffer.concat([Buffer.from(`${kind} ${id} ${data.length}\n`), data]);
}

const send = (kind, id, payload) => sendBytes(frame(kind, id, payload));

// What was displayed. A part that is too long for one message comes in pieces.
function sendParts(id) {
  for (const { type, data, encoding } of parts.splice(0)) {
    let at = 0;
    while (data.length - at > PIECE) {
      // Never between the halves of a character.
      const end = at + PIECE - (/[\ud800-\udbff]/.test(data[at + PIECE - 1]) ? 1 : 0);
      send('piece', id, { data: data.slice(at, end) });
      at = end;
    }
    send('part', id, { type, data: data.slice(at), encoding });
  }
}

function sendBytes(bytes) {
  while (bytes.length > 0) bytes = bytes.subarray(fs.writeSync(4, bytes));
}

function shorten(text) {
  if (text.length <= MAX_VALUE) return text;
  const cut = `... [${text.length} characters]`;
  return text.slice(0, MAX_VALUE - cut.length) + cut;
}
