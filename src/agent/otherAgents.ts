// Two agents in one network namespace program the same kernel state. Nothing stops the second one, for a rolling
// replacement may start it before the first has ended; but it is warned.
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { createServer, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isRecord } from '../input/fields.js';

/**
 * Name of an abstract Unix socket (unix(7)): the kernel keeps one per network namespace, and removes it with the process
 * that holds it, however that ends. The name fills the whole of sun_path, because versions of Node differ in the length
 * that they give to a shorter one.
 */
const NAME = '\0kube-netlink-proxy agent'.padEnd(108, '.');

/** Time for the other agent to say who it is, in ms. */
const ANSWER_LIMIT = 1000;
/** Time to the next try to take the name, in ms: after further answers that did not come, and after anything else. */
const RETRY = { later: 5000, usual: 250 };
/** Agents that wait for the end of one. */
const MOST_WAITING = 16;

/** Who an agent is. */
export interface AgentIdentity {
  readonly pid: number;
  /** The PID namespace in which it has this id: `pid:[4026531836]`. */
  readonly pidNamespace: string;
  readonly version: string;
  /** When its process started, ms since 1970. */
  readonly startedAt: number;
}

/** This process as an agent. */
export function ownIdentity(version: string, startedAt: number): AgentIdentity {
  return { pid: process.pid, pidNamespace: readlinkSync('/proc/self/ns/pid'), version, startedAt };
}

/**
 * Warns while another agent runs in this network namespace, and logs its end; until closed.
 *
 * @param name name of the socket that one agent holds
 */
export function watchForOtherAgents(
  own: AgentIdentity,
  log: Pick<Logger, 'warn' | 'info' | 'debug'>,
  name = NAME,
): { close(): void } {
  const closed = new AbortController();
  hold(own, log, name, closed.signal).catch((err: unknown) => {
    if (!closed.signal.aborted) log.debug({ err: String(err) }, 'other agents cannot be noticed');
  });
  return { close: () => closed.abort() };
}

/** Takes the name, as soon as no other agent holds it. */
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
    // A process that is killed may lose its connections before its name: one answer that did not come proves nothing.
    if (unanswered !== 1) {
      const fields = describe(holder);
      const said = JSON.stringify(fields);
      if (said !== warned) log.warn(fields, 'another kube-netlink-proxy runs in this network namespace');
      warned = said;
    }
    await ended;
    // Also where an agent has ended: another program may hold the name, and end each connection at once.
    await wait(unanswered > 1 ? RETRY.later : RETRY.usual, undefined, { signal: closed, ref: false });
  }
}

/** Holds the name and answers others. Resolves to false when another process holds it. */
async function listen(own: AgentIdentity, name: string, closed: AbortSignal): Promise<boolean> {
  const waiting = new Set<Socket>();
  const server = createServer((socket) => {
    waiting.add(socket);
    // The other side may end at any time; its bytes are read and dropped.
    socket.on('error', () => {}).once('close', () => waiting.delete(socket));
    socket.resume().unref();
    socket.write(`${JSON.stringify(own)}\n`);
  });
  server.maxConnections = MOST_WAITING;
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

/** Asks the holder of the name who it is. `ended` resolves when its process has ended, or does not accept. */
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

/** The identity that the other side sends first; undefined when it sends none in time. */
async function identityFrom(socket: Socket): Promise<AgentIdentity | undefined> {
  try {
    const [data] = await once(socket, 'data', { signal: AbortSignal.timeout(ANSWER_LIMIT) });
    socket.resume();
    return decodeIdentity(JSON.parse(String(data)));
  } catch {
    // It is no agent, or it has just ended: the caller tries again.
    return undefined;
  }
}

/** Any process of the host may hold the name: only the form of an identity gets into the log. */
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
