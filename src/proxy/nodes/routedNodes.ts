// Nodes behind gateways. Flows without a reply to their endpoints raise the question whether they are there; the node itself answers it.
// A firewall may drop packets to a pod, and a process may not answer: flows alone condemn nobody.
import type { Conntrack, Flow } from '../../kernel/conntrack/types.js';
import type { ReachListener } from './types.js';

/** Time between two listings of flows without a reply, in ms. */
const PERIOD = 800;
/** Time between two questions to a node that is unreachable, and to one that has never answered, in ms. */
const AGAIN = 500;
const NEVER_ANSWERED = 60_000;
/** Most endpoints whose nodes are looked up for a listing, and most flows of it that are read. */
const MOST_ENDPOINTS = 256;
const MOST_FLOWS = 10_000;

/** A node behind a gateway. */
class Routed {
  readonly address: string;
  /** One that has never answered is not judged. */
  hasAnswered = false;
  reachable = true;
  isBeingAsked = false;
  /** When it is asked without a flow that raises the question, in ms; undefined: never. */
  askAt: number | undefined = Number.NEGATIVE_INFINITY;
  /** The flows without a reply of the last listing, and whether one of them was in the listing before. */
  unanswered: ReadonlySet<number> = new Set();
  lasts = false;

  constructor(address: string) {
    this.address = address;
  }
}

/** What nodes behind gateways need. */
export interface RoutedParts {
  readonly conntrack: Pick<Conntrack, 'list'>;
  readonly listener: Pick<ReachListener, 'nodeOf' | 'failed'>;
  /** A node has answered for the first time. */
  readonly firstAnswer: () => void;
  /** Asks a node whether it is there. */
  readonly answers: (address: string, signal: AbortSignal) => Promise<boolean>;
  readonly changed: (node: string, address: string, reachable: boolean) => void;
  /** A monotonic clock, in ms. */
  readonly now: () => number;
}

/** Watches them until it is closed. */
export class RoutedNodes {
  readonly #parts: RoutedParts;
  readonly #nodes = new Map<string, Routed>();
  readonly #end = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: RoutedParts) {
    this.#parts = parts;
  }

  /** Number of nodes that have answered. */
  get answered(): number {
    return [...this.#nodes.values()].filter(({ hasAnswered }) => hasAnswered).length;
  }

  add(node: string, address: string): void {
    this.#nodes.set(node, new Routed(address));
    this.#timer ??= setTimeout(() => void this.#round(), 0).unref();
  }

  remove(node: string): void {
    this.#nodes.delete(node);
  }

  close(): void {
    this.#end.abort();
    clearTimeout(this.#timer);
  }

  async #round(): Promise<void> {
    const start = this.#parts.now();
    try {
      if ([...this.#nodes.values()].some(({ hasAnswered }) => hasAnswered)) await this.#listFlows();
    } catch (error) {
      this.#parts.listener.failed(error);
    }
    for (const [name, node] of this.#nodes) {
      const isRaised = node.hasAnswered && node.reachable && node.unanswered.size > 0;
      const isDue = node.askAt !== undefined && node.askAt <= this.#parts.now();
      if (!node.isBeingAsked && (isRaised || isDue)) void this.#ask(name, node);
    }
    this.#timer = undefined;
    if (this.#end.signal.aborted || this.#nodes.size === 0) return;
    const isOut = [...this.#nodes.values()].some(({ reachable }) => !reachable);
    const left = (isOut ? AGAIN : PERIOD) - (this.#parts.now() - start);
    this.#timer = setTimeout(() => void this.#round(), Math.max(left, 0)).unref();
  }

  async #listFlows(): Promise<void> {
    const { conntrack, listener } = this.#parts;
    const byNode = new Map<string, Set<number>>();
    const nodeOf = new Map<string, string | undefined>();
    let count = 0;
    const { signal } = this.#end;
    for await (const flow of conntrack.list({ notStatus: ['SEEN_REPLY'] }, { partial: true, signal })) {
      if (++count > MOST_FLOWS) break;
      const endpoint = flow.reply.source;
      if (!isTranslated(flow) || (!nodeOf.has(endpoint) && nodeOf.size === MOST_ENDPOINTS)) continue;
      if (!nodeOf.has(endpoint)) nodeOf.set(endpoint, listener.nodeOf(flow));
      const node = nodeOf.get(endpoint);
      if (node === undefined || !this.#nodes.has(node)) continue;
      const flows = byNode.get(node) ?? new Set<number>();
      byNode.set(node, flows.add(flow.id));
    }
    for (const [name, node] of this.#nodes) {
      const flows = byNode.get(name) ?? NO_FLOWS;
      node.lasts = [...flows].some((id) => node.unanswered.has(id));
      node.unanswered = flows;
    }
  }

  async #ask(name: string, node: Routed): Promise<void> {
    node.isBeingAsked = true;
    const answered = await this.#parts.answers(node.address, this.#end.signal).catch((error: unknown) => {
      this.#parts.listener.failed(error);
      return undefined;
    });
    node.isBeingAsked = false;
    if (this.#end.signal.aborted || this.#nodes.get(name) !== node || answered === undefined) return;
    const { changed, firstAnswer, now } = this.#parts;
    if (answered) {
      const isFirst = !node.hasAnswered;
      node.hasAnswered = true;
      node.askAt = undefined;
      if (isFirst) firstAnswer();
    } else if (!node.hasAnswered) node.askAt = now() + NEVER_ANSWERED;
    const reachable = answered || (node.reachable && !(node.hasAnswered && node.lasts));
    if (!reachable) node.askAt = now() + AGAIN;
    if (reachable === node.reachable) return;
    node.reachable = reachable;
    changed(name, node.address, reachable);
  }
}

const NO_FLOWS: ReadonlySet<number> = new Set();

/** Its destination is not whom it was sent to: a Service, or another program, translated it. */
function isTranslated({ original, reply }: Flow): boolean {
  return original.destination !== reply.source || original.destinationPort !== reply.sourcePort;
}
