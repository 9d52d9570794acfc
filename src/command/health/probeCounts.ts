// Numbers of responses to probes, in memory that the threads share: a response costs the main thread nothing.

/** A probe of kube-proxy, by its path. */
export type ProbeName = 'healthz' | 'livez';

const SERIES = (['healthz', 'livez'] as const).flatMap((probe) =>
  ([200, 503] as const).map((status) => ({ probe, status })),
);

/** Numbers of responses by probe and status. */
export class ProbeCounts {
  /** The shared memory, for the counts of another thread. */
  readonly memory: SharedArrayBuffer;
  readonly #counts: Int32Array;

  /** @param memory that of the counts of another thread; default: new counts */
  constructor(memory = new SharedArrayBuffer(SERIES.length * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#counts = new Int32Array(memory);
  }

  /** A response was sent. */
  add(probe: ProbeName, status: number): void {
    const place = SERIES.findIndex((series) => series.probe === probe && series.status === status);
    Atomics.add(this.#counts, place, 1);
  }

  /** Number of responses to a probe with this status. */
  get(probe: ProbeName, status: 200 | 503): number {
    const place = SERIES.findIndex((series) => series.probe === probe && series.status === status);
    return Atomics.load(this.#counts, place);
  }
}
