// Rounds of questions to neighbours. Pure: the caller has the clock and the kernel.
//
// The kernel confirms a neighbour only while it is used, and then only every 15 to 45 s. So each neighbour is asked once a second: in
// state `probe` the kernel asks it at once. An answer makes it `reachable`, which the kernel reports.
//
// Rounds are counted, and not time: a process that was stopped has asked no more often, and an answer that waits is read before the next
// round.
import type { NeighbourState, NewNeighbour } from '../../kernel/rtnetlink/types.js';

/** Time between two questions that are answered, in ms. */
const PERIOD = 1000;
/** Time between two questions while there is no answer, in ms. */
const HURRY = 300;
/** Questions in a row without an answer after which a node is unreachable. With one packet of a hundred lost, one of 10^8 series is so by chance. */
const MOST_UNANSWERED = 5;

/** A neighbour that is asked. */
interface Asked {
  readonly node: string;
  readonly link: string;
  readonly address: string;
  /** It has answered since it is asked: one that never has is not judged. */
  hasAnswered: boolean;
  reachable: boolean;
  /** The kernel knows its hardware address. */
  isKnown: boolean;
  /** Questions since the last answer. */
  open: number;
  /** When it was asked last, in ms. */
  askedAt: number;
}

/** A change of the neighbour table. */
export interface NeighbourOperation {
  readonly do: 'changeNeighbour' | 'replaceNeighbour';
  readonly neighbour: NewNeighbour;
}

/** What a neighbour turned out to be. */
export interface NeighbourVerdict {
  readonly node: string;
  readonly address: string;
  readonly reachable: boolean;
}

/** The neighbours, and who of them owes an answer. */
export class NeighbourRounds {
  readonly #asked = new Map<string, Asked>();

  /** Number of neighbours that have answered. */
  get answered(): number {
    let count = 0;
    for (const { hasAnswered } of this.#asked.values()) if (hasAnswered) count++;
    return count;
  }

  /** Number of neighbours. */
  get size(): number {
    return this.#asked.size;
  }

  /** The node that is this neighbour, if it is asked. */
  nodeOf(link: string, address: string): string | undefined {
    return this.#asked.get(keyOf(link, address))?.node;
  }

  /** No question is open: answers may have been lost on their way from the kernel. */
  forgive(): void {
    for (const asked of this.#asked.values()) asked.open = 0;
  }

  add(node: string, link: string, address: string): void {
    const state = { hasAnswered: false, reachable: true, isKnown: false, open: 0 };
    this.#asked.set(keyOf(link, address), {
      node,
      link,
      address,
      ...state,
      askedAt: Number.NEGATIVE_INFINITY,
    });
  }

  remove(link: string, address: string): void {
    this.#asked.delete(keyOf(link, address));
  }

  /**
   * The kernel has reported a state, undefined for a deletion. Returns a verdict if the neighbour was unreachable, and whether this is its
   * first answer.
   */
  heard(
    link: string,
    address: string,
    state: NeighbourState | undefined,
  ): { readonly verdict?: NeighbourVerdict; readonly isFirst: boolean } {
    const asked = this.#asked.get(keyOf(link, address));
    if (!asked) return NOTHING_NEW;
    asked.isKnown = KNOWN.has(state);
    if (state !== 'reachable') return NOTHING_NEW;
    asked.open = 0;
    const isFirst = !asked.hasAnswered;
    asked.hasAnswered = true;
    if (asked.reachable) return { isFirst };
    asked.reachable = true;
    return { verdict: verdictOf(asked), isFirst };
  }

  /** The kernel has refused a question, which then was not asked. */
  refused(link: string, address: string): void {
    const asked = this.#asked.get(keyOf(link, address));
    if (!asked) return;
    asked.isKnown = false;
    asked.open = Math.max(0, asked.open - 1);
  }

  /** Judges the questions that are open, and returns those of this round. @param now in ms */
  round(now: number): { readonly operations: NeighbourOperation[][]; readonly verdicts: NeighbourVerdict[] } {
    const operations: NeighbourOperation[][] = [];
    const verdicts: NeighbourVerdict[] = [];
    for (const asked of this.#asked.values()) {
      if (now - asked.askedAt < (asked.open > 0 ? HURRY : PERIOD)) continue;
      if (asked.open >= MOST_UNANSWERED && asked.reachable && asked.hasAnswered) {
        asked.reachable = false;
        verdicts.push(verdictOf(asked));
      }
      operations.push(questionOf(asked));
      asked.open++;
      asked.askedAt = now;
    }
    return { operations, verdicts };
  }

  /** Time until the next round, in ms. */
  dueIn(now: number): number {
    let due = PERIOD;
    for (const { open, askedAt } of this.#asked.values())
      due = Math.min(due, askedAt + (open > 0 ? HURRY : PERIOD) - now);
    return Math.max(due, 0);
  }
}

const NOTHING_NEW = { isFirst: false };

/** States with a hardware address, to which the kernel sends the question. */
const KNOWN: ReadonlySet<NeighbourState | undefined> = new Set(['reachable', 'stale', 'delay', 'probe']);

/** In state `probe` the kernel does not ask again before its own time (`retrans_time_ms`, 1 s): the state is another one in between. */
function questionOf({ link, address, isKnown, open }: Asked): NeighbourOperation[] {
  const neighbour = { link, address };
  if (!isKnown)
    return [{ do: 'replaceNeighbour', neighbour: { ...neighbour, state: 'none', flags: ['use'] } }];
  const probe = { do: 'changeNeighbour', neighbour: { ...neighbour, state: 'probe' } } as const;
  if (open === 0) return [probe];
  return [{ do: 'changeNeighbour', neighbour: { ...neighbour, state: 'stale' } }, probe];
}

function verdictOf({ node, address, reachable }: Asked): NeighbourVerdict {
  return { node, address, reachable };
}

function keyOf(link: string, address: string): string {
  return `${link} ${address}`;
}
