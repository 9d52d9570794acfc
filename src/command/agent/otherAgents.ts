// Detects other agents in the network namespace: they program the same kernel state. A second agent of the same mode only logs
// a warning, because a rolling replacement may start it before the first has ended. Agents of two modes, or of two layouts of one, would remove
// each other's state in turns: the second one waits for the end of the first, and is refused if it does not end. A process of an ordinary user is
// not believed.
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { createServer, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isRecord } from '../../proxy/input/fields.js';
import { ownerOf } from './socketOwner.js';

/**
 * Name of an abstract Unix socket (unix(7)). It is unique in a network namespace, and the kernel removes it when its
 * process ends. The name fills sun_path, because versions of Node.js differ in the length of a shorter name.
 */
const NAME = '\0kube-netlink-proxy agent'.padEnd(108, '.');

/** Time for the other agent to send its identity, in ms. */
const ANSWER_LIMIT = 1000;
/** Time to the next attempt to bind the name, in ms: `later` after the second missing answer, otherwise `usual`. */
const RETRY = { later: 5000, usual: 250 };
/** Time for an agent of another mode to end before this one is refused, in ms. A pod has 30 s to end by default. */
const GRACE = 40_000;
/** Maximum number of agents that are connected to one, to wait for its end. */
const MAX_WAITING = 16;

/** Identity of an agent. */
interface AgentIdentity {
  readonly pid: number;
  /** The PID namespace of `pid`: `pid:[4026531836]`. */
  readonly pidNamespace: string;
  readonly version: string;
  /** `ipvs`; absent in agents before 0.1.0. */
  readonly mode?: string;
  /** The layout of its rules: `scalable`; absent in modes that have one only. */
  readonly layout?: string | undefined;
  /** Start time of its process, in ms since 1970. */
  readonly startedAt: number;
}

/** The identity of this process. */
export function ownIdentity(
  version: string,
  { mode, layout }: { readonly mode: string; readonly layout?: string | undefined },
  startedAt: number,
): AgentIdentity {
  const pidNamespace = readlinkSync('/proc/self/ns/pid');
  return {
    pid: process.pid,
    pidNamespace,
    version,
    mode,
    ...(layout !== undefined && { layout }),
    startedAt,
  };
}

/** How agents find each other. */
interface Meeting {
  /** Name of the socket, which one agent binds; default that of all agents of a network namespace. */
  readonly name?: string | undefined;
  /** Time for an agent of another mode to end, in ms; default 40 s. */
  readonly grace?: number;
  /** The user that listens on a socket; undefined if it is unknown. Default: as the kernel tells. */
  readonly ownerOf?: (name: string) => Promise<number | undefined>;
  /** An agent of another mode runs and has not ended in that time: this agent must not program the kernel. */
  readonly refused: (reason: string) => void;
}

/** The watch for other agents. */
interface OtherAgents {
  /**
   * Resolves when this agent may program the kernel: no agent of another mode answers. A process that has the name but does not
   * answer, or is not an agent, delays it by at most 1.5 s.
   */
  readonly admitted: Promise<void>;
  close(): void;
}

/** Logs a warning if another agent runs in this network namespace, and its end, until closed. */
export function watchForOtherAgents(
  own: AgentIdentity,
  log: Pick<Logger, 'warn' | 'info' | 'debug'>,
  meeting: Meeting,
): OtherAgents {
  const closed = new AbortController();
  let admit = () => {};
  const admitted = new Promise<void>((resolve) => {
    admit = resolve;
  });
  new Watch(own, log, meeting, { closed: closed.signal, admit }).hold().catch((err: unknown) => {
    if (closed.signal.aborted) return;
    log.debug({ err: String(err) }, 'cannot detect other agents');
    admit();
  });
  return { admitted, close: () => closed.abort() };
}

/** One agent's watch. */
class Watch {
  readonly #own: AgentIdentity;
  readonly #log: Pick<Logger, 'warn' | 'info'>;
  readonly #name: string;
  readonly #grace: number;
  readonly #ownerOf: (name: string) => Promise<number | undefined>;
  readonly #refused: (reason: string) => void;
  readonly #closed: AbortSignal;
  readonly #admit: () => void;
  #warned: string | undefined;

  constructor(
    own: AgentIdentity,
    log: Pick<Logger, 'warn' | 'info'>,
    { name = NAME, grace = GRACE, ownerOf: ask = ownerOf, refused }: Meeting,
    { closed, admit }: { readonly closed: AbortSignal; readonly admit: () => void },
  ) {
    this.#own = own;
    this.#log = log;
    this.#name = name;
    this.#grace = grace;
    this.#ownerOf = ask;
    this.#refused = refused;
    this.#closed = closed;
    this.#admit = admit;
  }

  /** Binds the name as soon as no other agent has it. */
  async hold(): Promise<void> {
    let unanswered = 0;
    while (!this.#closed.aborted) {
      if (await listen(this.#own, this.#name, this.#closed)) {
        if (this.#warned !== undefined) this.#log.info('the other kube-netlink-proxy has ended');
        this.#admit();
        return;
      }
      const { holder: named, ended } = await meet(this.#name, this.#closed);
      const uid = named && (await this.#ownerOf(this.#name));
      const holder = isTrusted(uid) ? named : undefined;
      if (named && !holder) this.#warn({ uid });
      unanswered = named === undefined ? unanswered + 1 : 0;
      // A killed process may lose its connections before its name. One missing answer proves nothing.
      if (unanswered !== 1 && (holder || !named)) this.#warn(describe(holder));
      if (holder && isOfAnotherMode(holder, this.#own)) await this.#outlast(holder, ended);
      else this.#admit();
      await ended;
      // Wait also after the end of an agent: another program may have the name and close each connection at once.
      const pause = unanswered > 1 ? RETRY.later : RETRY.usual;
      await wait(pause, undefined, { signal: this.#closed, ref: false });
    }
  }

  #warn(fields: object): void {
    const text = JSON.stringify(fields);
    if (text !== this.#warned)
      this.#log.warn(
        fields,
        'uid' in fields
          ? 'a process of an ordinary user has the name by which agents find each other, and is not believed'
          : 'another kube-netlink-proxy runs in this network namespace',
      );
    this.#warned = text;
  }

  /** Waits for the end of an agent of another mode; refuses this one if it does not end in time. */
  async #outlast({ pid, mode, layout }: AgentIdentity, ended: Promise<void>): Promise<void> {
    const timer = setTimeout(
      () =>
        this.#refused(
          `a kube-netlink-proxy in ${named(mode, layout)} (process ${pid}) runs in this network namespace, and this one is in ` +
            `${named(this.#own.mode, this.#own.layout)}: they would remove each other's state. Stop one of them`,
        ),
      this.#grace,
    );
    timer.unref();
    await ended;
    clearTimeout(timer);
  }
}

/** An agent before 0.1.0 names no mode, and one before 0.2.0 no layout. */
function isOfAnotherMode(holder: AgentIdentity, own: AgentIdentity): boolean {
  if (holder.mode === undefined) return false;
  return holder.mode !== own.mode || (holder.layout !== undefined && holder.layout !== own.layout);
}

function named(mode: string | undefined, layout: string | undefined): string {
  return layout === undefined ? `${mode} mode` : `${mode} mode with layout ${layout}`;
}

/** Agents need the rights of root. If the user is unknown, only the answer counts. */
function isTrusted(uid: number | undefined): boolean {
  return uid === undefined || uid === 0 || uid === process.getuid?.();
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
  const { pid, pidNamespace, version, mode, layout, startedAt } = raw;
  const isTime = Number.isInteger(startedAt) && Math.abs(startedAt as number) < 8.64e15;
  if (!Number.isInteger(pid) || !isTime) return undefined;
  if (!/^pid:\[\d{1,20}\]$/.test(String(pidNamespace)) || !/^[\w.+-]{1,64}$/.test(String(version))) {
    return undefined;
  }
  if (mode !== undefined && !/^\w{1,32}$/.test(String(mode))) return undefined;
  if (layout !== undefined && !/^[\w-]{1,32}$/.test(String(layout))) return undefined;
  return raw as unknown as AgentIdentity;
}

function describe(holder: AgentIdentity | undefined): object {
  if (holder === undefined) return { pid: 'unknown' };
  const { pid, pidNamespace, version, mode, layout, startedAt } = holder;
  return { pid, pidNamespace, version, mode, layout, startedAt: new Date(startedAt).toISOString() };
}
