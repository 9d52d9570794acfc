// The process of clients: new connections in turn, and a long connection or a stream for each target.
import { serveParent } from '../../laboratory/namespaceProcess.js';
import { AffinityPauses, isKept, targetKey } from '../core/frontends.js';
import type { Observation, Reply, Use } from '../core/observations.js';
import { monotonic } from './clock.js';
import { Connection } from './connection.js';
import type { DialledTarget, TrafficAsk, TrafficReport, TrafficTimes } from './traffic.js';

/** Most connections of SCTP at a time: both ends of each start a process, and User Mode Linux has one CPU. */
const MOST_SCTP = 2;

/** A process whose timers were this late cannot tell a lost packet from its own delay, in ms. */
const LATE = 250;
/** Period in which the lateness is measured, in ms. */
const LOOK = 20;

/** A target with its lasting connection. */
interface Dialled extends DialledTarget {
  readonly key: string;
  lasting: Connection | undefined;
  /** The id of the lasting connection. */
  connection: number;
  /** Whether a request of it is under way. */
  busy: boolean;
}

class Clients {
  readonly #times: TrafficTimes;
  #targets: Dialled[] = [];
  #observations: Observation[] = [];
  #late = 0;
  #next = 0;
  readonly #pauses = new AffinityPauses();
  #connections: number;
  /** Connections of SCTP that wait for their answer. */
  #sctp = 0;
  /** The last time at which the process was late. */
  #lastLate = Number.NEGATIVE_INFINITY;

  constructor(times: TrafficTimes, first: number) {
    this.#times = times;
    this.#connections = first;
    let looked = monotonic();
    setInterval(() => {
      const now = monotonic();
      if (now - looked > LOOK + LATE) this.#lastLate = now;
      looked = now;
    }, LOOK);
    setInterval(() => this.#dialNext(), times.pause);
    setInterval(() => this.#askAll(), times.repeat);
  }

  dial(targets: readonly DialledTarget[]): void {
    const known = new Map(this.#targets.map((dialled) => [dialled.key, dialled]));
    this.#targets = targets.map(({ target, ...from }) => {
      const key = targetKey(target);
      const old = known.get(key);
      known.delete(key);
      return old
        ? Object.assign(old, from)
        : { key, target, ...from, lasting: undefined, connection: 0, busy: false };
    });
    for (const { lasting } of known.values()) lasting?.close();
  }

  collect(): TrafficReport {
    const report = { observations: this.#observations, late: this.#late };
    this.#observations = [];
    this.#late = 0;
    return report;
  }

  #dialNext(): void {
    const dialled = this.#targets[this.#next++ % Math.max(1, this.#targets.length)];
    if (!dialled || (dialled.group && !this.#pauses.opens(dialled.group, monotonic()))) return;
    const isSctp = dialled.target.protocol === 'SCTP';
    if (isSctp && this.#sctp === MOST_SCTP) return;
    if (isSctp) this.#sctp++;
    const connection = new Connection(dialled);
    void this.#request(connection, 'once', ++this.#connections, dialled).then(() => {
      if (isSctp) this.#sctp--;
      connection.close();
    });
  }

  #askAll(): void {
    this.#targets.forEach((dialled, i) => {
      if (dialled.busy || !isKept(dialled.target)) return;
      dialled.busy = true;
      // Spread over half of the period.
      const after = (i / this.#targets.length) * (this.#times.repeat / 2);
      setTimeout(() => {
        void this.#ask(dialled).finally(() => {
          dialled.busy = false;
        });
      }, after);
    });
  }

  /** One request of a lasting connection. A TCP connection that failed is replaced; a socket of UDP stays. */
  async #ask(dialled: Dialled): Promise<void> {
    const isStream = dialled.target.protocol === 'UDP';
    if (!dialled.lasting) {
      dialled.lasting = new Connection(dialled);
      dialled.connection = ++this.#connections;
    }
    const { lasting } = dialled;
    const reply = await this.#request(lasting, isStream ? 'stream' : 'long', dialled.connection, dialled);
    if (!isStream && reply.result !== 'answered') {
      lasting.close();
      dialled.lasting = undefined;
    }
    if (!this.#targets.includes(dialled)) lasting.close();
  }

  async #request(to: Connection, use: Use, connection: number, { target }: Dialled): Promise<Reply> {
    const began = monotonic();
    const reply = await to.request(this.#times.patience);
    const ended = monotonic();
    if (to.isClosed) return reply;
    const isLate = this.#lastLate >= began - LATE || ended - began > this.#times.patience + LATE;
    if (isLate && reply.result !== 'answered') this.#late++;
    else this.#observations.push({ use, connection, target, began, ended, ...reply });
    return reply;
  }
}

let clients: Clients | undefined;

serveParent(async (ask: TrafficAsk): Promise<TrafficReport | undefined> => {
  if (ask.do === 'start') clients = new Clients(ask.times, ask.first);
  else if (ask.do === 'dial') clients?.dial(ask.targets);
  else return clients?.collect();
  return undefined;
});
