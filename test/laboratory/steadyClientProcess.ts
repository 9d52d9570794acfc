// The process of a SteadyClient.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { serveParent } from './namespaceProcess.js';
import type { SteadyAsk, SteadyOpen, SteadyReport, SteadyReports } from './steadyClient.js';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** What has happened so far, by the names of connections. */
const reports: Record<string, Writable<SteadyReport>> = {};

serveParent(async (ask: SteadyAsk): Promise<SteadyReports> => {
  if (ask.do === 'open') await open(ask);
  return reports;
});

async function open(asked: SteadyOpen): Promise<void> {
  const answers: Writable<SteadyReport['answers']> = {};
  reports[asked.name] = { answers };
  let hasAnswered: () => void = () => {};
  const answered = new Promise<void>((resolve) => {
    hasAnswered = resolve;
  });
  /** A response of the server has its name. */
  const heard = (text: string) => {
    for (const [, by = ''] of text.matchAll(/"by":"([^"]*)"/g)) {
      const now = Date.now();
      const { count, first, last, gap } = answers[by] ?? { count: 0, first: now, last: now, gap: 0 };
      answers[by] = { count: count + 1, first, last: now, gap: Math.max(gap, now - last) };
    }
    hasAnswered();
  };
  await (asked.protocol === 'tcp' ? openTcp(asked, heard) : openUdp(asked, heard));
  await answered;
}

/** Sends a request of HTTP after each interval, whether the last one has been answered or not. */
async function openTcp({ name, address, port, every }: SteadyOpen, heard: (text: string) => void) {
  const socket = connect({ host: address, port, noDelay: true });
  await once(socket, 'connect');
  socket.setEncoding('utf8').on('data', heard);
  const timer = setInterval(() => socket.write('GET / HTTP/1.1\r\nHost: lab\r\n\r\n'), every);
  socket.on('error', ({ code }: NodeJS.ErrnoException) => ended(name, code ?? 'error'));
  // After a reset, the event 'end' may come before the error: a write takes the error from the socket, and the next read finds its end.
  socket.on('close', () => {
    clearInterval(timer);
    ended(name, 'end');
  });
}

/** Sends from one socket, whose flow stays the same. An error of a datagram, such as a rejection, does not end it. */
async function openUdp({ address, port, every }: SteadyOpen, heard: (text: string) => void) {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  socket.connect(port, address);
  await once(socket, 'connect');
  socket.on('message', (message) => heard(message.toString()));
  socket.on('error', () => {});
  setInterval(() => socket.send('who is there?', () => {}), every);
}

function ended(name: string, error: string): void {
  const report = reports[name];
  if (report && report.error === undefined) Object.assign(report, { error, errorAt: Date.now() });
}
