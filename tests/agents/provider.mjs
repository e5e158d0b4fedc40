// provider.mjs DIRECTORY: the models' providers, at the other end of a wire: whoever resolves their names finds
// this machine, which speaks TLS and asks the model behind DIRECTORY/model.sock.
import { createSocket } from 'node:dgram';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';

const directory = process.argv[2];
const kWeb = '93.184.216.34';
const kNames = '93.184.216.53';
const file = (name) => readFileSync(join(directory, name));
const providers = file('names').toString().trim().split('\n');

const server = createServer({ key: file('server.key'), cert: file('server.pem') }, (asked, answer) => {
  const { method, url: path, headers } = asked;
  const behind = request({ socketPath: join(directory, 'model.sock'), method, path, headers }, (response) => {
    answer.writeHead(response.statusCode, response.headers);
    response.pipe(answer);
  });
  behind.on('error', () => answer.destroy());
  asked.pipe(behind);
});

/** An answer to a question for one name: an address of version 4, or none. */
function resolve(query) {
  let at = 12;
  const labels = [];
  for (; query[at] !== 0; at += 1 + query[at]) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]));
  const known = providers.includes(labels.join('.').toLowerCase());
  const found = known && query.readUInt16BE(at + 1) === 1;
  const head = Buffer.from([query[0], query[1], 0x81, known ? 0x80 : 0x83, 0, 1, 0, found ? 1 : 0, 0, 0, 0, 0]);
  const address = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...kWeb.split('.').map(Number)]);
  return Buffer.concat([head, query.subarray(12, at + 5), ...(found ? [address] : [])]);
}

const names = createSocket('udp4');
names.on('message', (query, peer) => names.send(resolve(query), peer.port, peer.address));
names.bind(53, kNames, () => server.listen(443, kWeb, () => writeFileSync(join(directory, 'ready'), '')));
