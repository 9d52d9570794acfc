// Makes the faults of a history, each of which ends by itself.
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultName } from '../core/history.js';
import type { FaultPeriod } from '../core/observations.js';
import { isNodeFault, lastNodeFault } from './nodeFaults.js';
import type { JudgedProxy } from './proxy.js';
import type { JudgeServer } from './server.js';
import { type Damage, damage, isDamage, type JudgedMode } from './vandalism.js';

/** The faults of one history. */
export class Faults {
  readonly #proxy: JudgedProxy;
  readonly #server: JudgeServer;
  readonly #namespace: string;
  readonly #now: () => number;
  readonly #periods: FaultPeriod[] = [];
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(proxy: JudgedProxy, server: JudgeServer, namespace: string, now: () => number) {
    this.#proxy = proxy;
    this.#server = server;
    this.#namespace = namespace;
    this.#now = now;
  }

  /** Begins a fault, unless what it concerns already has one. */
  begin(fault: FaultName, lasts: number): void {
    if (isDamage(fault)) {
      const began = this.#now();
      if (!damage(this.#namespace, this.#proxy.mode, fault)) return;
      this.#periods.push({ fault, began, ended: this.#now() });
      return;
    }
    const concerned = concernedBy(fault);
    if (this.#underWay.has(concerned)) return;
    const began = this.#now();
    const period = this.#last(fault, lasts).then((result) => {
      this.#periods.push({ fault, began, ended: this.#now(), ...result });
      this.#underWay.delete(concerned);
    });
    this.#underWay.set(concerned, period);
    // An error is thrown by ended().
    period.catch(() => {});
  }

  /** All faults that happened, when the last one has ended. */
  async ended(): Promise<FaultPeriod[]> {
    await Promise.all(this.#underWay.values());
    return this.#periods.toSorted((a, b) => a.began - b.began);
  }

  /** Makes a fault for a time; resolves at its end to what it did. */
  async #last(
    fault: Exclude<FaultName, Damage>,
    lasts: number,
  ): Promise<Pick<FaultPeriod, 'died' | 'restored'>> {
    if (isNodeFault(fault))
      return (await lastNodeFault(fault, lasts, this.#proxy, this.#namespace)) ? { died: true } : {};
    if (fault === 'proxyStopped') {
      this.#proxy.signal('SIGSTOP');
      await delay(lasts);
      this.#proxy.signal('SIGCONT');
    } else if (fault === 'proxyKilled' || fault === 'proxyEnded') {
      await this.#proxy.end(fault === 'proxyKilled' ? 'SIGKILL' : 'SIGTERM');
      await delay(lasts);
      this.#proxy.start();
    } else if (fault === 'modeChanged') {
      await this.#changeMode(this.#proxy.otherMode);
      await delay(lasts);
      await this.#changeMode(this.#proxy.ownMode);
    } else if (fault === 'serverDown') {
      await this.#server.close();
      await delay(lasts);
      await this.#server.start();
    } else {
      const age = this.#server.begin(fault, lasts);
      const restored = age === undefined ? undefined : this.#now() - age;
      await delay(lasts);
      this.#server.recover();
      return restored === undefined ? {} : { restored };
    }
    return {};
  }

  async #changeMode(mode: JudgedMode): Promise<void> {
    await this.#proxy.end('SIGTERM');
    this.#proxy.start(mode);
  }
}

/** What a fault concerns, which has one fault at a time. */
function concernedBy(fault: Exclude<FaultName, Damage>): string {
  if (fault.startsWith('server')) return 'server';
  return isNodeFault(fault) && fault !== 'memoryShort' && fault !== 'descriptorsShort' ? fault : 'proxy';
}
