// Flows at a given rate, and the count of their events.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Conntrack, FlowEvent, NewFlow } from '../../../src/kernel/conntrack/types.js';
import { throwOnFailure } from '../../../src/kernel/shared/throwOnFailure.js';
import type { EventStream } from '../../../src/kernel/shared/types.js';
import { PATIENCE } from '../../laboratory/patience.js';

/** Flows of one step; 20 steps are a second. */
const STEP = 50;

/** Different flows. */
export function differentFlows(count: number): NewFlow[] {
  return Array.from({ length: count }, (_, i) => ({
    protocol: 'udp',
    original: {
      source: `10.${(i >> 14) & 255}.${(i >> 6) & 255}.1`,
      destination: '10.0.0.2',
      sourcePort: 1024 + (i & 63),
      destinationPort: 53,
    },
    timeout: 600,
  }));
}

/** Adds flows at this rate, or as fast as the kernel does; returns the rate, in flows a second. */
export async function addFlows(
  conntrack: Conntrack,
  flows: readonly NewFlow[],
  rate: number,
): Promise<number> {
  const began = performance.now();
  const step = Math.ceil((rate * STEP) / 1000);
  for (let at = 0; at < flows.length; at += step) {
    const operations = flows.slice(at, at + step).map((flow) => ({ do: 'addFlow', flow }) as const);
    throwOnFailure(await conntrack.apply(operations));
    const early = began + ((at + step) / rate) * 1000 - performance.now();
    if (early > 1) await delay(early);
  }
  return Math.round((flows.length * 1000) / (performance.now() - began));
}

/** What a watch has reported so far. */
export class EventCount {
  readonly events: Record<FlowEvent['kind'], number> = { new: 0, update: 0, destroy: 0 };
  losses = 0;
  dropped = 0;
  receiveBuffer = 0;
  /** Resolves once the first event has come. */
  readonly started: Promise<void>;
  readonly ended: Promise<void>;

  constructor(stream: EventStream<FlowEvent>) {
    let start = () => {};
    this.started = new Promise((resolve) => {
      start = resolve;
    });
    this.ended = this.#read(stream, () => start());
  }

  get seen(): number {
    const { new: begun, update, destroy } = this.events;
    return begun + update + destroy;
  }

  /** Waits until this many notifications were reported or counted as lost, at most as long as a test waits. */
  async until(count: number): Promise<void> {
    const end = performance.now() + PATIENCE;
    while (this.seen + this.dropped < count && performance.now() < end) await delay(20);
  }

  async #read(stream: EventStream<FlowEvent>, started: () => void): Promise<void> {
    for await (const event of stream) {
      if (event.kind !== 'resync') {
        this.events[event.kind]++;
      } else if (event.lost) {
        this.losses++;
        this.dropped += event.dropped ?? 0;
      } else {
        this.receiveBuffer = event.receiveBuffer ?? 0;
        started();
      }
    }
  }
}
