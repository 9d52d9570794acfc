// Detects other agents in the network namespace: they program the same kernel state. The second agent only logs a
// warning, because a rolling replacement may start it before the first has ended.
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { createServer, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isRecord } from '../input/fields.js';

/**
 * Name of an abstract Unix socket (unix(7)). It is unique in a network namespace, and the kernel removes it when its
 * process ends. The name fills sun_path, because versions of Node differ in the length of a shorter name.
 */
const NAME = '\0kube-netlink-proxy agent'.padEnd(108, '.');

/** Time for the other agent to send its identity, in ms. */
const ANSWER_LIMIT = 1000;
/** Time to the next attempt to bind the name, in ms: `later` after the second missing answer, otherwise `usual`. */
const RETRY = { later: 5000, usual: 250 };
/** Maximum number of agents that are connected to one, to wait for its end. */
const MAX_WAITING = 16;

/** Identity of an agent. */
export interface AgentIdentity {
  readonly pid: number;
  /** The PID namespace of `pid`: `pid:[4026531836]`. */
  readonly pidNamespace: string;
  readonly version: string;
  /** Start time of its process, in ms since 1970. */
  readonly startedAt: number;
}

/** The identity of this process. */
export function ownIdentity(version: string, startedAt: number): AgentIdentity {
  return { pid: process.pid, pidNamespace: readlinkSync('/proc/self/ns/pid'), version, startedAt };
}

/**
 * Logs a warning if another agent runs in this network namespace, and its end, until closed.
 *
 * @param name name of the socket, which one agent binds
 */
export function watchForOtherAgents(
  own: AgentIdentity,
  log: Pick<Logger, 'warn' | 'info' | 'debug'>,
  name = NAME,
): { close(): void } {
  const closed = new AbortController();
  hold(own, log, name, closed.signal).catch((err: unknown) => {
    if (!closed.signal.aborted) log.debug({ err: String(err) }, 'cannot detect other agents');
  });
  return { close: () => closed.abort() };
}

/** Binds the name as soon as no other agent has it. */
async function hold(
  own: AgentIdentity,
  log: Pick<Logger, 'warn' | 'info'>,
  name: string,
  closed: AbortSignal,
): Promise<void> {
  let warned: string | undefined;
  let unanswered = 0;
  while (!closed.aborted) {
    if (await listen(own, name, closed)) {
      if (warned !== undefined) log.info('the other kube-netlink-proxy has ended');
      return;
    }
    const { holder, ended } = await meet(name, closed);
    unanswered = holder === undefined ? unanswered + 1 : 0;
    // A killed process may lose its connections before its name. One missing answer proves nothing.
    if (unanswered !== 1) {
      const fields = describe(holder);
      const text = JSON.stringify(fields);
      if (text !== warned) log.warn(fields, 'another kube-netlink-proxy runs in this network namespace');
      warned = text;
    }
    await ended;
    // Wait also after the end of an agent: another program may have the name and close each connection at once.
    await wait(unanswered > 1 ? RETRY.later : RETRY.usual, undefined, { signal: closed, ref: false });
  }
}

/** Binds the name and answers other agents. Resolves to false if another process has the name. */
async function listen(own: AgentIdentity, name: string, closed: AbortSignal): Promise<boolean> {
  const waiting = new Set<Socket>();
  const server = createServer((socket) => {
    waiting.add(socket);
    // The peer may disconnect at any time. Its data is discarded.
    socket.on('error', () => {}).once('close', () => waiting.delete(socket));
    socket.resume().unref();
    socket.write(`${JSON.stringify(own)}\n`);
  });
  server.maxConnections = MAX_WAITING;
  server.unref();
  server.listen({ path: name });
  try {
    await once(server, 'listening', { signal: closed });
  } catch (error) {
    server.close();
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  const close = () => {
    server.close();
    for (const socket of waiting) socket.destroy();
  };
  closed.addEventListener('abort', close, { once: true });
  return true;
}

/** Reads the identity of the process that has the name. `ended` resolves when it closes or refuses the connection. */
async function meet(
  name: string,
  closed: AbortSignal,
): Promise<{ holder: AgentIdentity | undefined; ended: Promise<void> }> {
  const socket = new Socket();
  const end = () => socket.destroy();
  const ended = new Promise<void>((resolve) => {
    socket
      .on('error', () => {})
      .once('close', () => {
        // The socket's own option `signal` would keep each socket until the signal aborts.
        closed.removeEventListener('abort', end);
        resolve();
      });
  });
  closed.addEventListener('abort', end, { once: true });
  socket.connect({ path: name }).unref();
  const holder = await identityFrom(socket);
  if (holder === undefined) socket.destroy();
  return { holder, ended };
}

/** The identity that the peer sends first; undefined if it sends none in time. */
async function identityFrom(socket: Socket): Promise<AgentIdentity | undefined> {
  try {
    const [data] = await once(socket, 'data', { signal: AbortSignal.timeout(ANSWER_LIMIT) });
    socket.resume();
    return decodeIdentity(JSON.parse(String(data)));
  } catch {
    // It is not an agent, or it has just ended: the caller retries.
    return undefined;
  }
}

/** Validates an identity before it is logged, because any process of the host may bind the name. */
function decodeIdentity(raw: unknown): AgentIdentity | undefined {
  if (!isRecord(raw)) return undefined;
  const { pid, pidNamespace, version, startedAt } = raw;
  const isTime = Number.isInteger(startedAt) && Math.abs(startedAt as number) < 8.64e15;
  if (!Number.isInteger(pid) || !isTime) return undefined;
  if (!/^pid:\[\d{1,20}\]$/.test(String(pidNamespace)) || !/^[\w.+-]{1,64}$/.test(String(version))) {
    return undefined;
  }
  return raw as unknown as AgentIdentity;
}

function describe(holder: AgentIdentity | undefined): object {
  if (holder === undefined) return { pid: 'unknown' };
  const { pid, pidNamespace, version, startedAt } = holder;
  return { pid, pidNamespace, version, startedAt: new Date(startedAt).toISOString() };
}
