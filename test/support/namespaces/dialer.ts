// A process that opens connections with chosen ports in a network namespace: starting one for each would take most of the time of a
// test.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { PATIENCE } from '../../laboratory/patience.js';

/**
 * Reads a line for each request, and answers each with one: the answer of the server, an error code, or `no answer` after the number of ms
 * before the request.
 *
 * dial HOST PORT OWN ENDS   connects, asks, and ends: the `client` or the `server` first, or the client with a `reset`
 * open HOST PORT OWN        connects and asks
 * send OWN                  asks on an open connection
 * end OWN                   ends it
 */
const PROGRAM = `
const { connect } = require('node:net');
const sockets = new Map();
let answer;
let timer;
const say = (text) => {
  if (timer === undefined) return;
  clearTimeout(timer);
  timer = undefined;
  console.log(text);
};
const open = (host, port, localPort, ends) => {
  const socket = connect({ host, port: Number(port), localPort: Number(localPort) });
  sockets.set(localPort, socket);
  socket.on('error', ({ code }) => say(code));
  socket.on('connect', () => socket.write(ends ?? 'client'));
  socket.on('close', () => say(answer));
  socket.on('data', (data) => {
    answer = String(data);
    if (ends === undefined) say(answer);
    if (ends === 'client') socket.end();
    if (ends === 'reset') socket.resetAndDestroy();
  });
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [patience, what, ...words] = line.split(' ');
  answer = 'closed';
  timer = setTimeout(say, Number(patience), 'no answer');
  const socket = sockets.get(words[0]);
  if (what === 'send') socket.write('client');
  else if (what === 'end') socket.end();
  else open(...words);
});`;

/** Connects from a network namespace. Close it after the test. */
export class Dialer {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(namespace: string) {
    const words = ['netns', 'exec', namespace, process.execPath, '-e', PROGRAM];
    this.#child = spawn('ip', words, { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    this.#lines = lines[Symbol.asyncIterator]();
  }

  /** Sends a request, one at a time, and resolves to its answer, or `no answer` after so many ms: see the head of the program. */
  async ask(request: string, patience = PATIENCE): Promise<string> {
    this.#child.stdin?.write(`${patience} ${request}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`the process ended before it answered ${request}`);
    return value;
  }

  close(): void {
    this.#child.kill();
  }
}
