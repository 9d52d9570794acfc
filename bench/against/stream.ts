// Endpoints that change at a steady rate, each until a client of the Service reaches the new one.
import { once } from 'node:events';
import { createServer, connect as openSocket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiServer } from '../apiServer/server.js';
import { type ProbedService, probedService } from '../cluster.js';
import { check, NODE_LINK, type Sandbox } from '../sandbox.js';
import { quantile } from '../statistics.js';
import { type ProxyProcess, QUIET, QUIET_LIMIT } from './proxyProcess.js';
import type { StreamFigure, StreamOptions } from './types.js';

/** Services whose endpoint changes, in turn: each has the time of so many changes. */
const SERVICES = 500;
/** Time for the pass with these Services, in ms. */
const SETTLE = 10_000;
/** Time between two attempts of a client, and the longest time of one, in ms. */
const PAUSE = 1;
const ATTEMPT = 500;

/** All addresses of pods are this machine's, so that one server answers for every endpoint. */
const POD_NETWORK = '10.128.0.0/9';
const POD_PORT = 8080;

/** Changes the endpoints of Services of their own, which are added to those of the cluster. */
export async function measureStream(
  { host }: Sandbox,
  proxy: ProxyProcess,
  { store }: ApiServer,
  { rate, seconds }: StreamOptions,
): Promise<StreamFigure> {
  check(
    await host.rtnetlink.apply([
      { do: 'addRoute', route: { destination: POD_NETWORK, link: 'lo', type: 'local' } },
      { do: 'addRoute', route: { destination: '0.0.0.0/0', link: NODE_LINK } },
    ]),
  );
  const answers = createServer((socket) => {
    socket.on('error', () => {}); // the client resets the connection
    socket.end(socket.localAddress ?? '');
  }).listen(POD_PORT, '0.0.0.0');
  await once(answers, 'listening');
  try {
    const services = Array.from({ length: SERVICES }, (_, place) => probedService(place));
    for (const { objects } of services) for (const { object } of objects) store.set(object);
    const settled = await reaches(services.at(-1) as ProbedService, performance.now() + SETTLE, () => false);
    if (settled === undefined) throw new Error(`no client reached an added Service within ${SETTLE} ms`);
    await proxy.quiet(QUIET, QUIET_LIMIT);
    const before = proxy.cpuTime;
    const began = performance.now();
    const running: Promise<number | undefined>[] = [];
    for (let change = 0; change < rate * seconds; change++) {
      await delay(Math.max(0, began + (change / rate) * 1000 - performance.now()));
      running.push(changed(services, change, store));
    }
    const times = (await Promise.all(running)).filter((time) => time !== undefined).sort((a, b) => a - b);
    const took = performance.now() - began;
    return {
      rate,
      changes: running.length,
      missed: running.length - times.length,
      p50: quantile(times, 0.5),
      p90: quantile(times, 0.9),
      p99: quantile(times, 0.99),
      max: times.at(-1) ?? Number.NaN,
      cpus: (proxy.cpuTime - before) / took,
      resident: proxy.memory.resident,
    };
  } finally {
    answers.close();
  }
}

/** Replaces the endpoint of the next Service; the time until a client has reached it, in ms, or undefined if the next change came first. */
async function changed(
  services: ProbedService[],
  change: number,
  store: ApiServer['store'],
): Promise<number | undefined> {
  const place = change % SERVICES;
  const next = probedService(place, change + SERVICES);
  services[place] = next;
  const began = performance.now();
  for (const { object } of next.objects.slice(1)) store.set(object);
  const reached = await reaches(next, Number.POSITIVE_INFINITY, () => services[place] !== next);
  return reached === undefined ? undefined : reached - began;
}

/** When a client has reached the endpoint, as of `performance.now()`; undefined after the time, or once it is no longer wanted. */
async function reaches(
  { address, endpoint }: ProbedService,
  until: number,
  isOver: () => boolean,
): Promise<number | undefined> {
  while (performance.now() < until && !isOver()) {
    if ((await answerAt(address)) === endpoint) return performance.now();
    await delay(PAUSE);
  }
  return undefined;
}

/** The address of the pod that answers at the Service; empty without an answer. */
async function answerAt(address: string): Promise<string> {
  const socket = openSocket({ host: address, port: 80 });
  socket.setTimeout(ATTEMPT, () => socket.destroy());
  let text = '';
  socket.setEncoding('latin1').on('data', (piece) => {
    text += piece;
    socket.resetAndDestroy(); // no connection waits in TIME_WAIT
  });
  await new Promise((resolve) => socket.once('close', resolve).on('error', resolve));
  return text;
}
