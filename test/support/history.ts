// One random life of a proxy on a kernel in memory: changes arrive at every moment of its passes, audits, retries, ends and starts.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { NetlinkError } from '../../src/errors.js';
import { FakeKernel, type Fault } from '../../src/kernel/testing/index.js';
import { formerState as formerIptables, RULES as IPTABLES_RULES } from '../../src/modes/iptables/former.js';
import { createIptablesMode, IPTABLES_DEFAULTS } from '../../src/modes/iptables/index.js';
import { formerState as formerIpvs, RULES as IPVS_RULES } from '../../src/modes/ipvs/former.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../src/modes/ipvs/index.js';
import type { FormerMode, FormerState, KeyedOperation, Mode } from '../../src/modes/mode.js';
import { iptablesWithout } from '../../src/modes/shared/rulesInUse.js';
import type { ObjectChange } from '../../src/objects/types.js';
import { createProxy, type ServiceProxy } from '../../src/proxy.js';
import type { SourceEvents } from '../../src/source/source.js';
import { comparable, RANDOM_HOST, RandomCluster, randomFrom } from './randomCluster.js';
import { outputOf } from './testNode.js';
import { VirtualTime } from './virtualTime.js';

/** A mode of a history. */
export type HistoryMode = 'ipvs' | 'iptables';

/** Period of audits, in ms: no other delay of the proxy is as long. */
const AUDIT = 10_000_000;
/** Steps of a history. */
const STEPS = 16;
/** Turns of the event loop without a call of the kernel, after which the proxy waits for a timer. */
const QUIET = 12;

const ADDRESSES = [{ link: 'lo', address: '127.0.0.1', prefix: 8 }, ...RANDOM_HOST.interfaces].map(
  (address) => ({
    ...address,
    scope: 'global' as const,
    flags: [],
  }),
);

/** What happened in histories, to show that they are not dull. */
export interface HistoryCounts {
  changes: number;
  duringCalls: number;
  audits: number;
  failures: number;
  ends: number;
  switches: number;
}

/** Runs the history of a seed. Rejects if the kernel does not have exactly the plan of the last objects at its end. */
export async function runHistory(seed: number, mode: HistoryMode, counts: HistoryCounts): Promise<void> {
  const time = new VirtualTime();
  try {
    await new History(seed, mode, time, counts).run();
  } finally {
    time.restore();
  }
}

class History {
  readonly #random: () => number;
  readonly #cluster: RandomCluster;
  readonly #kernel = new FakeKernel();
  readonly #slow: FakeKernel;
  readonly #time: VirtualTime;
  readonly #counts: HistoryCounts;
  #mode: HistoryMode;
  #proxy: ServiceProxy | undefined;
  #source: SourceEvents | undefined;
  /** Number of calls of the kernel. */
  #calls = 0;
  #ended = false;
  #switched = false;
  /** Number of proxies that were started. */
  #starts = 0;
  /** The state of the former mode may still be there. */
  #former = false;
  /** Operations may have failed since the proxy last had nothing to do. */
  #broken = false;
  readonly #unexpected: unknown[] = [];

  constructor(seed: number, mode: HistoryMode, time: VirtualTime, counts: HistoryCounts) {
    this.#random = randomFrom(seed);
    this.#cluster = new RandomCluster(seed + 0x5eed);
    this.#mode = mode;
    this.#time = time;
    this.#counts = counts;
    const { conntrack, ipvs, ipset, rtnetlink, iptables, sysctl, procNet } = this.#kernel;
    const parts = { conntrack, ipvs, ipset, rtnetlink, iptables, sysctl, procNet };
    const slow = Object.entries(parts).map(([name, part]) => [name, this.#slowed(part)]);
    this.#slow = Object.fromEntries(slow) as FakeKernel;
  }

  async run(): Promise<void> {
    for (let i = this.#below(4); i > 0; i--) this.#cluster.change();
    await this.#start();
    for (let step = 0; step < STEPS; step++) {
      await this.#step();
      for (let i = this.#below(8); i > 0; i--) await turn();
    }
    this.#ended = true;
    this.#break(0, 0);
    if (!this.#proxy) await this.#start();
    await this.#settle();
    await this.#stop();
    assert.deepEqual(this.#unexpected, []);
    assert.deepEqual(this.#stateOf(this.#kernel), this.#stateOf(await this.#fresh()));
  }

  async #step(): Promise<void> {
    const kind = this.#random();
    if (kind < 0.4) this.#change();
    else if (kind < 0.7) this.#fire(() => true);
    else if (kind < 0.8) this.#break(this.#random() < 0.5 ? 0.1 : 0, this.#random() < 0.3 ? 0.05 : 0);
    else if (kind < 0.9) {
      // Only the process that made a virtual service without a record in a set knows that it is ours.
      if (this.#broken && (this.#mode === 'ipvs' || this.#former)) {
        this.#break(0, 0);
        await this.#settle();
      }
      await this.#stop();
      if (this.#random() < 0.3) this.#change();
      await this.#start();
    }
  }

  /** Starts a proxy, sometimes in the other mode. */
  async #start(): Promise<void> {
    const former = this.#mode;
    if (this.#starts++ > 0 && this.#random() < 0.3) {
      this.#mode = former === 'ipvs' ? 'iptables' : 'ipvs';
      this.#switched = true;
      this.#former = true;
      this.#counts.switches++;
    }
    const other = this.#mode === 'ipvs' ? 'iptables' : 'ipvs';
    this.#proxy = this.#create(this.#slow, this.#mode, this.#former ? [this.#formerMode(other)] : []);
    await this.#proxy.start();
    for (let i = this.#below(4); i > 0; i--) {
      await turn();
      this.#moment();
    }
    this.#source?.synced();
  }

  async #stop(): Promise<void> {
    this.#source = undefined;
    await this.#proxy?.stop();
    this.#proxy = undefined;
    this.#counts.ends++;
  }

  #create(kernel: FakeKernel, mode: HistoryMode, formerModes: FormerMode[]): ServiceProxy {
    const { rtnetlink, conntrack } = kernel;
    return createProxy({
      source: {
        start: async (events) => {
          this.#source = events;
          events.changed([...this.#cluster.objects.values()].map((object) => ({ type: 'set', object })));
        },
        stop: () => {},
      },
      mode: createMode(kernel, mode),
      formerModes,
      rtnetlink: { listAddresses: async () => [...ADDRESSES, ...(await rtnetlink.listAddresses())] },
      conntrack,
      watchHost: async () => ({ close: () => {} }),
      nodeName: 'node-a',
      rest: mode === 'iptables' && kernel === this.#slow ? 1000 * this.#below(3) : 0,
      events: {
        synced: ({ full, services, failures }) => {
          if (full && services === 0) this.#counts.audits++;
          this.#counts.failures += failures.length;
        },
        problems: () => {},
        failed: (error) => {
          if (!(error instanceof NetlinkError)) this.#unexpected.push(error);
        },
        retrying: () => {},
        switched: (_, { left }) => {
          if (left.length === 0) this.#former = false;
        },
      },
    });
  }

  /** The mode whose state a proxy of the running mode removes. */
  #formerMode(name: HistoryMode): FormerMode {
    const rules = name === 'ipvs' ? IPTABLES_RULES : IPVS_RULES;
    const kernel = { ...this.#slow, iptables: iptablesWithout(this.#slow.iptables, rules) };
    const open = async (): Promise<FormerState> =>
      name === 'iptables'
        ? formerIptables(kernel, IPTABLES_DEFAULTS)
        : { ...formerIpvs(kernel, { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' }), close: () => {} };
    return { name, open };
  }

  /** Waits until the proxy has nothing to do, without audits. Only an audit tries again to remove what a former mode left. */
  async #settle(): Promise<void> {
    for (let fired = 0; ; fired++) {
      assert.ok(fired < 500, 'the proxy never rests');
      for (let quiet = 0, calls = this.#calls; quiet < QUIET; quiet++) {
        await turn();
        if (this.#calls !== calls) quiet = 0;
        calls = this.#calls;
      }
      if (!this.#fire(({ delay }) => delay < AUDIT) && !(this.#former && this.#fire(() => true))) break;
    }
    this.#broken = false;
  }

  #fire(isWanted: (timer: { readonly delay: number }) => boolean): boolean {
    const timers = this.#time.timers.filter(isWanted);
    const timer = timers[this.#below(timers.length)];
    if (timer) this.#time.fire(timer);
    return timer !== undefined;
  }

  #change(): void {
    const before = new Map(this.#cluster.objects);
    this.#cluster.change();
    const changes: ObjectChange[] = [];
    for (const [identity, object] of before)
      if (!this.#cluster.objects.has(identity)) changes.push({ type: 'delete', object });
    for (const [identity, object] of this.#cluster.objects)
      if (before.get(identity) !== object) changes.push({ type: 'set', object });
    this.#counts.changes++;
    this.#source?.changed(changes);
  }

  /** A moment during a call of the kernel. */
  #moment(): void {
    if (this.#ended || this.#random() > 0.05) return;
    this.#counts.duringCalls++;
    this.#change();
  }

  #break(changes: number, reads: number): void {
    if (changes > 0) this.#broken = true;
    const failing =
      (probability: number): Fault =>
      (operation, target) =>
        this.#random() < probability
          ? new NetlinkError({ code: 'ENOMEM', errno: 12, operation, target })
          : undefined;
    this.#kernel.fault = failing(changes);
    this.#kernel.readFault = failing(reads);
  }

  /** A part of the kernel whose calls take some turns of the event loop before and after their effect. */
  #slowed<Part extends object>(part: Part): Part {
    const pause = async () => {
      this.#calls++;
      for (let i = this.#below(3); i > 0; i--) {
        await turn();
        this.#moment();
      }
    };
    return new Proxy(part, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (value.constructor.name !== 'AsyncFunction') return value.apply(target, args);
          return (async () => {
            await pause();
            const result = await value.apply(target, args);
            await pause();
            return result;
          })();
        };
      },
    });
  }

  /** A kernel that was programmed once, from the last objects. */
  async #fresh(): Promise<FakeKernel> {
    const kernel = new FakeKernel();
    const { failures } = await this.#create(kernel, this.#mode, []).once();
    assert.deepEqual(failures, []);
    return kernel;
  }

  /** After a change of the mode, the chains of kubelet stay, and built-in chains that are empty. */
  #stateOf(kernel: FakeKernel) {
    const state = comparable(outputOf(kernel));
    if (!this.#switched) return state;
    const kept = (chains: string[]) =>
      chains
        .flatMap((chain) => chain.split('\n'))
        .filter((line) => !/KUBE-FIREWALL|block incoming localnet|^mangle|^\w+\/[A-Z]+$/.test(line))
        .sort();
    return { ...state, iptables: kept(state.iptables), ip6tables: kept(state.ip6tables) };
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

function createMode(kernel: FakeKernel, mode: HistoryMode): Mode<unknown, KeyedOperation> {
  const created =
    mode === 'ipvs'
      ? createIpvsMode(kernel, { ...IPVS_DEFAULTS, auditPeriod: AUDIT, kernelRelease: '6.1.0' })
      : createIptablesMode(kernel, { ...IPTABLES_DEFAULTS, auditPeriod: AUDIT });
  return created as unknown as Mode<unknown, KeyedOperation>;
}
