// Watches which other nodes answer: neighbours by the neighbour table, nodes behind gateways by flows and questions.
import { performance } from 'node:perf_hooks';
import type { Conntrack } from '../../kernel/conntrack/types.js';
import type { Neighbour, Rtnetlink } from '../../kernel/rtnetlink/types.js';
import { NeighbourRounds, type NeighbourVerdict } from './neighbourRounds.js';
import { answers } from './questions.js';
import { RoutedNodes } from './routedNodes.js';
import type { ReachListener, ReachSign, ReachWatch } from './types.js';

/** Time after which the route to each node is looked up again, in ms, and after which a watch that ended is opened again. */
const ROUTES = 60_000;
const REOPEN = 1000;

/** The kernel's parts that a watch needs. */
export interface ReachKernel {
  readonly rtnetlink: Pick<Rtnetlink, 'getRoute' | 'getNeighbour' | 'apply' | 'watch'>;
  readonly conntrack: Pick<Conntrack, 'list'>;
}

/** Watches other nodes with this kernel. */
export function watchNodes(kernel: ReachKernel, listener: ReachListener): ReachWatch {
  return new NodesWatch(kernel, listener);
}

/** How a node is asked. */
interface Way {
  readonly address: string;
  /** The link on which it is a neighbour; undefined: it is behind a gateway. */
  readonly link: string | undefined;
}

class NodesWatch implements ReachWatch {
  readonly #kernel: ReachKernel;
  readonly #listener: ReachListener;
  readonly #end = new AbortController();
  readonly #rounds = new NeighbourRounds();
  readonly #routed: RoutedNodes;
  /** The nodes to watch. */
  #nodes: ReadonlyMap<string, readonly string[]> = new Map();
  /** The nodes that are watched. */
  readonly #ways = new Map<string, Way>();
  readonly #unreachable = new Map<string, { readonly address: string; readonly sign: ReachSign }>();
  #roundTimer: NodeJS.Timeout | undefined;
  #routesTimer: NodeJS.Timeout | undefined;
  #reopenTimer: NodeJS.Timeout | undefined;
  /** The look-up of routes under way. */
  #looking: Promise<void> = Promise.resolve();
  /** What the kernel reports of neighbours is read: without it, there is no question and no verdict. */
  #isListening = false;
  #isAsking = false;
  /** Number of nodes that have answered, as it was told. */
  #judged = 0;

  constructor(kernel: ReachKernel, listener: ReachListener) {
    this.#kernel = kernel;
    this.#listener = listener;
    const changed = (node: string, address: string, reachable: boolean) =>
      this.#changed({ node, address, reachable }, 'flows');
    const { conntrack } = kernel;
    const firstAnswer = () => this.#count();
    const now = () => performance.now();
    this.#routed = new RoutedNodes({ conntrack, listener, answers, firstAnswer, changed, now });
  }

  follow(nodes: ReadonlyMap<string, readonly string[]>): void {
    const former = this.#nodes;
    this.#nodes = nodes;
    const isOther = (node: string) => former.get(node)?.join() !== nodes.get(node)?.join();
    this.#look(new Set([...former.keys(), ...nodes.keys()].filter(isOther)));
  }

  close(): void {
    this.#end.abort();
    this.#routed.close();
    clearTimeout(this.#roundTimer);
    clearTimeout(this.#routesTimer);
    clearTimeout(this.#reopenTimer);
  }

  /** Finds the way to these nodes, after the look-up under way; by default to all of them. */
  #look(names?: ReadonlySet<string>): void {
    this.#looking = this.#looking
      .then(() => this.#findWays(names ?? new Set(this.#nodes.keys())))
      .catch((error: unknown) => this.#failed(error))
      .then(() => {
        if (!this.#end.signal.aborted)
          this.#routesTimer ??= setTimeout(() => this.#lookAgain(), ROUTES).unref();
      });
  }

  #lookAgain(): void {
    this.#routesTimer = undefined;
    this.#look();
  }

  async #findWays(names: ReadonlySet<string>): Promise<void> {
    for (const node of names) {
      if (this.#end.signal.aborted) return;
      const addresses = this.#nodes.get(node) ?? [];
      const former = this.#ways.get(node);
      // The way to a node that does not answer stays, unless it has another address.
      if (this.#unreachable.has(node) && former && addresses.includes(former.address)) continue;
      this.#setWay(node, await this.#wayTo(addresses));
    }
    this.#count();
    if (this.#rounds.size > 0) this.#listen();
  }

  #count(): void {
    const judged = this.#rounds.answered + this.#routed.answered;
    if (judged === this.#judged) return;
    this.#judged = judged;
    this.#listener.judged(judged);
  }

  /** Undefined for a node without an address, and where no route leads to one. */
  async #wayTo([address]: readonly string[]): Promise<Way | undefined> {
    if (address === undefined) return undefined;
    const { rtnetlink } = this.#kernel;
    const { signal } = this.#end;
    const route = await rtnetlink.getRoute(address, {}, { signal }).catch(() => undefined);
    if (route === undefined || route.type !== 'unicast') return undefined;
    const { link } = route;
    if (link === undefined || route.gateway !== undefined) return { address, link: undefined };
    const neighbour = await rtnetlink.getNeighbour({ link, address }, { signal }).catch(() => undefined);
    return { address, link: isAskable(neighbour) ? link : undefined };
  }

  #setWay(node: string, way: Way | undefined): void {
    const former = this.#ways.get(node);
    if (former?.address === way?.address && former?.link === way?.link) return;
    const out = this.#unreachable.get(node);
    if (out) this.#changed({ node, address: out.address, reachable: true }, out.sign);
    if (former?.link !== undefined) this.#rounds.remove(former.link, former.address);
    else if (former) this.#routed.remove(node);
    if (!way) {
      this.#ways.delete(node);
      return;
    }
    this.#ways.set(node, way);
    if (way.link === undefined) this.#routed.add(node, way.address);
    else this.#rounds.add(node, way.link, way.address);
  }

  /** Reads what the kernel reports of neighbours, from the first one that is asked on. */
  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    void this.#read().finally(() => {
      this.#isListening = false;
      if (!this.#end.signal.aborted) this.#reopenTimer = setTimeout(() => this.#listen(), REOPEN).unref();
    });
  }

  async #read(): Promise<void> {
    const { rtnetlink } = this.#kernel;
    const { signal } = this.#end;
    try {
      for await (const event of rtnetlink.watch({ kinds: ['neighbour'], signal, keepAlive: false })) {
        if (event.kind === 'resync') this.#startRounds();
        else if (event.kind === 'neighbour') this.#heard(event.neighbour, event.deleted);
      }
    } catch (error) {
      this.#failed(error);
    }
  }

  #heard(neighbour: Neighbour, deleted: boolean): void {
    const { link, address, state } = neighbour;
    const node = this.#rounds.nodeOf(link, address);
    if (node !== undefined && !deleted && !isAskable(neighbour)) this.#look(new Set([node]));
    const { verdict, isFirst } = this.#rounds.heard(link, address, deleted ? undefined : state);
    if (isFirst) this.#count();
    if (verdict) this.#changed(verdict, 'neighbour');
  }

  /** Answers before now may not have been reported. */
  #startRounds(): void {
    this.#rounds.forgive();
    if (this.#isAsking) return;
    this.#isAsking = true;
    void this.#round();
  }

  async #round(): Promise<void> {
    if (!this.#isListening || this.#end.signal.aborted) {
      this.#isAsking = false;
      return;
    }
    const { operations, verdicts } = this.#rounds.round(performance.now());
    for (const verdict of verdicts) this.#changed(verdict, 'neighbour');
    try {
      const flat = operations.flat();
      const results =
        flat.length === 0 ? [] : await this.#kernel.rtnetlink.apply(flat, { signal: this.#end.signal });
      for (const [index, error] of results.entries()) {
        const refused = error && flat[index]?.neighbour;
        if (refused) this.#rounds.refused(String(refused.link), refused.address);
      }
    } catch (error) {
      this.#failed(error);
    }
    const due = this.#rounds.dueIn(performance.now());
    // Answers that came meanwhile are read before the next round.
    const next = () => setImmediate(() => void this.#round());
    this.#roundTimer = setTimeout(next, due).unref();
  }

  #changed({ node, address, reachable }: NeighbourVerdict, sign: ReachSign): void {
    if (reachable) this.#unreachable.delete(node);
    else this.#unreachable.set(node, { address, sign });
    this.#listener.changed({ node, address, sign, reachable });
  }

  #failed(error: unknown): void {
    if (!this.#end.signal.aborted) this.#listener.failed(error);
  }
}

/** Entries that an administrator or a network plugin has set say nothing of the node, and stay as they are. */
function isAskable(neighbour: Neighbour | undefined): boolean {
  if (neighbour === undefined) return true;
  const { state, flags } = neighbour;
  return state !== 'permanent' && state !== 'noarp' && !flags.includes('extern_learn');
}
