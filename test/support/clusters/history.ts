// One random life of a proxy on a kernel in memory: changes arrive at every moment of its passes, audits, retries, ends and starts.
// The rules of iptables mode may be those of a real kernel.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { NetlinkError } from '../../../src/kernel/errors.js';
import { FakeKernel, type Fault } from '../../../src/kernel/testing/index.js';
import type { FormerMode } from '../../../src/proxy/modes/mode.js';
import type { ObjectChange } from '../../../src/proxy/objects/types.js';
import { createProxy, type ServiceProxy } from '../../../src/proxy/proxy.js';
import type { SourceEvents } from '../../../src/proxy/source/source.js';
import { VirtualTime } from '../fakes/virtualTime.js';
import { openRealRules, type RealRules } from '../namespaces/realRules.js';
import { outputOf, tableLines } from '../oracle/testNode.js';
import { createMode, formerModesOf, type HistoryMode, isIpvs } from './historyModes.js';
import { comparable, RANDOM_HOST, RandomCluster, randomFrom } from './randomCluster.js';

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
  /** Audits that were started; changes may join one. */
  audits: number;
  failures: number;
  ends: number;
  switches: number;
}

/**
 * Runs the history of a seed. Rejects if the kernel does not have exactly the plan of the last objects at its end.
 *
 * @param real iptables mode changes the rules of the network namespace of this thread, which has none; default false
 */
export async function runHistory(
  seed: number,
  mode: HistoryMode,
  counts: HistoryCounts,
  real = false,
): Promise<void> {
  const time = new VirtualTime();
  const kernel = new FakeKernel();
  const rules = real ? openRealRules(kernel.iptables) : undefined;
  try {
    await new History(seed, mode, time, counts, kernel, rules).run();
  } finally {
    time.restore();
    await rules?.close();
  }
}

class History {
  readonly #random: () => number;
  readonly #cluster: RandomCluster;
  readonly #kernel: FakeKernel;
  readonly #rules: RealRules | undefined;
  /** The kernel of each mode: they have separate rules if those of iptables mode are real. */
  readonly #slow: Readonly<Record<HistoryMode, FakeKernel>>;
  readonly #time: VirtualTime;
  readonly #counts: HistoryCounts;
  #mode: HistoryMode;
  #proxy: ServiceProxy | undefined;
  #source: SourceEvents | undefined;
  /** Number of calls of the kernel, of those that have ended, and of those that are under way. */
  #calls = 0;
  #ends = 0;
  #underWay = 0;
  #ended = false;
  #switched = false;
  /** Number of proxies that were started. */
  #starts = 0;
  /** The modes whose state may still be there, beside that of the mode. */
  #formers: HistoryMode[] = [];
  /** The modes of the history. */
  readonly #modes: readonly HistoryMode[];
  /** Operations may have failed since the proxy last had nothing to do. */
  #broken = false;
  readonly #unexpected: unknown[] = [];

  constructor(
    seed: number,
    mode: HistoryMode,
    time: VirtualTime,
    counts: HistoryCounts,
    kernel: FakeKernel,
    rules: RealRules | undefined,
  ) {
    this.#random = randomFrom(seed);
    this.#cluster = new RandomCluster(seed + 0x5eed);
    this.#mode = mode;
    this.#time = time;
    this.#counts = counts;
    this.#kernel = kernel;
    this.#rules = rules;
    this.#modes = mode === 'ipvs tables' ? ['ipvs', 'ipvs tables', 'iptables'] : ['ipvs', 'iptables'];
    const { conntrack, ipvs, ipset, nftables, rtnetlink, iptables, sysctl } = this.#kernel;
    const parts = { conntrack, ipvs, ipset, nftables, rtnetlink, iptables, sysctl };
    const slow = Object.entries(parts).map(([name, part]) => [name, this.#slowed(part)]);
    const ipvsMode = Object.fromEntries(slow) as FakeKernel;
    const iptablesMode = rules ? { ...ipvsMode, iptables: this.#slowed(rules) } : ipvsMode;
    this.#slow = { ipvs: ipvsMode, 'ipvs tables': ipvsMode, iptables: iptablesMode as FakeKernel };
  }

  async run(): Promise<void> {
    for (let i = this.#below(4); i > 0; i--) this.#cluster.change();
    await this.#start();
    for (let step = 0; step < STEPS; step++) {
      await this.#step();
      for (let i = this.#below(8); i > 0; i--) await this.#turn();
    }
    this.#ended = true;
    this.#break(0, 0);
    if (!this.#proxy) await this.#start();
    await this.#settle();
    await this.#stop();
    assert.deepEqual(this.#unexpected, []);
    const fresh = await this.#fresh();
    if (this.#rules) this.#judgeRules(fresh, this.#rules);
    if (!this.#rules || isIpvs(this.#mode))
      assert.deepEqual(this.#stateOf(this.#kernel), this.#stateOf(fresh));
  }

  /** After a change to ipvs mode, nothing is left of iptables mode. */
  #judgeRules(fresh: FakeKernel, rules: RealRules): void {
    const wanted = this.#mode === 'iptables' ? fresh.iptables : new FakeKernel().iptables;
    const chainsOf = ({ dump }: { dump(family: 4 | 6): string }) =>
      comparable({ ...outputOf(fresh), iptables: dump(4), ip6tables: dump(6) });
    const [have, want] = [chainsOf(rules), chainsOf({ dump: (family) => wanted.dump(family) })];
    assert.deepEqual(ours(have.iptables), ours(want.iptables));
    assert.deepEqual(ours(have.ip6tables), ours(want.ip6tables));
  }

  /** A turn of the event loop; with a real kernel, often as many as a call takes. */
  async #turn(): Promise<void> {
    const ends = this.#ends;
    const waits = this.#rules !== undefined && this.#random() < 0.5;
    do await turn();
    while (waits && this.#underWay > 0 && this.#ends === ends);
  }

  async #step(): Promise<void> {
    const kind = this.#random();
    if (kind < 0.4) this.#change();
    else if (kind < 0.7) this.#fire(() => true);
    else if (kind < 0.8) this.#break(this.#random() < 0.5 ? 0.1 : 0, this.#random() < 0.3 ? 0.05 : 0);
    else if (kind < 0.9) {
      // Only the process that made a virtual service without a record in a set knows that it is ours.
      if (this.#broken && (isIpvs(this.#mode) || this.#formers.length > 0)) {
        this.#break(0, 0);
        await this.#settle();
      }
      await this.#stop();
      if (this.#random() < 0.3) this.#change();
      await this.#start();
    }
  }

  /** Starts a proxy, sometimes in another mode. */
  async #start(): Promise<void> {
    const others = this.#modes.filter((mode) => mode !== this.#mode);
    if (this.#starts++ > 0 && this.#random() < 0.3) {
      this.#formers = [...this.#formers.filter((mode) => mode !== this.#mode), this.#mode];
      this.#mode =
        others.length === 1
          ? (others[0] as HistoryMode)
          : (others[this.#below(others.length)] as HistoryMode);
      this.#formers = this.#formers.filter((mode) => mode !== this.#mode);
      this.#switched = true;
      this.#counts.switches++;
    }
    this.#proxy = this.#create(
      this.#slow[this.#mode],
      this.#mode,
      formerModesOf({
        running: this.#mode,
        formers: () => this.#formers,
        kernels: this.#slow,
        apart: this.#rules !== undefined,
      }),
    );
    await this.#proxy.start();
    for (let i = this.#below(4); i > 0; i--) {
      await this.#turn();
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
      mode: createMode(kernel, mode, AUDIT),
      formerModes,
      rtnetlink: {
        listAddresses: async () => [...ADDRESSES, ...(await rtnetlink.listAddresses())],
        listLinks: () => rtnetlink.listLinks(),
      },
      conntrack,
      watchHost: async () => ({ close: () => {} }),
      nodeName: 'node-a',
      rest: mode === 'iptables' && kernel === this.#slow.iptables ? 1000 * this.#below(3) : 0,
      events: {
        synced: ({ failures }) => {
          this.#counts.failures += failures.length;
        },
        problems: () => {},
        failed: (error) => {
          if (!(error instanceof NetlinkError)) this.#unexpected.push(error);
        },
        retrying: () => {},
        switched: (name, { left }) => {
          if (left.length === 0) this.#formers = this.#formers.filter((former) => former !== name);
        },
      },
    });
  }

  /** Waits until the proxy has nothing to do, without audits. Only an audit tries again to remove what a former mode left. */
  async #settle(): Promise<void> {
    for (let fired = 0; ; fired++) {
      assert.ok(fired < 500, 'the proxy never rests');
      for (let quiet = 0, calls = this.#calls; quiet < QUIET; quiet++) {
        await turn();
        if (this.#calls !== calls || this.#underWay > 0) quiet = 0;
        calls = this.#calls;
      }
      if (!this.#fire(({ delay }) => delay < AUDIT) && !(this.#formers.length > 0 && this.#fire(() => true)))
        break;
    }
    this.#broken = false;
  }

  #fire(isWanted: (timer: { readonly delay: number }) => boolean): boolean {
    const timers = this.#time.timers.filter(isWanted);
    const timer = timers[this.#below(timers.length)];
    if (!timer) return false;
    if (timer.delay === AUDIT) this.#counts.audits++;
    this.#time.fire(timer);
    return true;
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
          if (value.constructor.name === 'AsyncGeneratorFunction')
            return this.#slowPieces(value.apply(target, args), pause);
          if (value.constructor.name !== 'AsyncFunction') return value.apply(target, args);
          return (async () => {
            await pause();
            const result = await this.#during(() => value.apply(target, args));
            await pause();
            return result;
          })();
        };
      },
    });
  }

  async *#slowPieces<Piece>(
    pieces: AsyncIterable<Piece>,
    pause: () => Promise<void>,
  ): AsyncGenerator<Piece, void> {
    const iterator = pieces[Symbol.asyncIterator]();
    try {
      for (;;) {
        await pause();
        const { value, done } = await this.#during(() => iterator.next());
        if (done) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }

  /** Counts a call of the kernel while it is under way. */
  async #during<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#underWay++;
    try {
      return await call();
    } finally {
      this.#underWay--;
      this.#ends++;
    }
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
    const state = { ...comparable(outputOf(kernel)), tables: tableLines(kernel) };
    if (!this.#switched) return state;
    return { ...state, iptables: ours(state.iptables), ip6tables: ours(state.ip6tables) };
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

/** The lines of chains, without the chains of kubelet, and built-in chains that are empty. */
function ours(chains: string[]): string[] {
  return chains
    .flatMap((chain) => chain.split('\n'))
    .filter((line) => !/KUBE-FIREWALL|block incoming localnet|^mangle|^\w+\/[A-Z]+$/.test(line))
    .sort();
}
