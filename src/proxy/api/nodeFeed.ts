// The Nodes, listed and watched once for two receivers: the wait at the start, and the source afterwards.
import { describeProblem, type Problem } from '../../kernel/errors.js';
import type { Node, ObjectChange } from '../objects/types.js';
import type { SourceEvents } from '../source/source.js';

/** Something to wait for on a Node. */
export interface NodeCondition {
  readonly name: string;
  readonly ready: (node: Node) => boolean;
  /** Time to wait at most once the Nodes have been read, in ms. Until then, there is no limit. */
  readonly limit: number;
  /** Called once the Nodes have been read, if there is no Node of that name. */
  readonly missing?: (() => void) | undefined;
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined;
}

/** Keeps the Nodes until there is a receiver, and passes the changes on afterwards. */
export class NodeFeed {
  readonly #nodes = new Map<string, Node>();
  /** By their description. */
  readonly #problems = new Map<string, Problem>();
  readonly #waiting = new Set<() => void>();
  readonly #end: AbortSignal;
  readonly #own: string;
  readonly #listed: Promise<void>;
  #events: SourceEvents | undefined;
  /** The receiver was told that this node's Node is unknown. */
  #lacksOwn = false;
  /** Takes in that the Nodes have been read once. */
  listed: () => void = () => {};

  /**
   * @param own name of this node
   * @param end ends every wait
   */
  constructor(own: string, end: AbortSignal) {
    this.#own = own;
    this.#end = end;
    this.#listed = new Promise((resolve) => {
      this.listed = resolve;
    });
  }

  /** Takes in changes of Nodes. */
  changed(changes: readonly ObjectChange[]): void {
    for (const { type, object } of changes) {
      if (object.kind !== 'Node') continue;
      if (type === 'set') this.#nodes.set(object.name, object);
      else this.#nodes.delete(object.name);
    }
    for (const look of this.#waiting) look();
    this.#events?.changed(changes);
    if (!this.#lacksOwn || !this.#nodes.has(this.#own)) return;
    this.#lacksOwn = false;
    this.#events?.incomplete?.([]);
  }

  /** Takes in problems of Nodes. */
  problems(problems: readonly Problem[]): void {
    for (const problem of problems) this.#problems.set(describeProblem(problem), problem);
    this.#events?.problems(problems);
  }

  /** Takes in that problems are mended. */
  mended(problems: readonly Problem[]): void {
    for (const problem of problems) this.#problems.delete(describeProblem(problem));
    this.#events?.mended?.(problems);
  }

  /**
   * Reports everything known up to now, and then every change. As long as this node's Node was never read, the objects are
   * incomplete: its addresses and zone decide about rules.
   */
  deliver(events: SourceEvents): void {
    this.#events = events;
    this.#lacksOwn = !this.#nodes.has(this.#own);
    if (this.#lacksOwn) events.incomplete?.([`Node ${this.#own}`]);
    if (this.#nodes.size > 0) {
      events.changed([...this.#nodes.values()].map((object) => ({ type: 'set', object })));
    }
    if (this.#problems.size > 0) events.problems([...this.#problems.values()]);
  }

  /** Resolves to the Node once it is ready, or to its state when the time is over or the signal aborts. */
  wait({ name, ready, limit, missing, signal }: NodeCondition): Promise<{
    node: Node | undefined;
    met: boolean;
  }> {
    const signals = [this.#end, ...(signal ? [signal] : [])];
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      let ended = false;
      const end = () => {
        ended = true;
        clearTimeout(timer);
        for (const ending of signals) ending.removeEventListener('abort', end);
        this.#waiting.delete(look);
        const node = this.#nodes.get(name);
        resolve({ node, met: node !== undefined && ready(node) });
      };
      const look = () => {
        const node = this.#nodes.get(name);
        if (node && ready(node)) end();
      };
      void this.#listed.then(() => {
        if (ended) return;
        timer = setTimeout(end, limit);
        if (!this.#nodes.has(name)) missing?.();
      });
      for (const ending of signals) ending.addEventListener('abort', end, { once: true });
      this.#waiting.add(look);
      if (signals.some(({ aborted }) => aborted)) end();
      else look();
    });
  }
}
