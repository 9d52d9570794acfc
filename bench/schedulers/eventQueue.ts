// Events by their time: a binary heap.

interface Event<Value> {
  readonly time: number;
  /** Events of one time keep their order. */
  readonly number: number;
  readonly value: Value;
}

/** Events that are still to come, and the time that is reached. Times are in s. */
export class EventQueue<Value> {
  readonly #heap: Event<Value>[] = [];
  #now = 0;
  #added = 0;

  /** The time of the last event, or the end of the last run. */
  get now(): number {
    return this.#now;
  }

  add(time: number, value: Value): void {
    const event = { time, number: this.#added++, value };
    let place = this.#heap.length;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = this.#heap[above] as Event<Value>;
      if (isBefore(other, event)) break;
      this.#heap[place] = other;
      place = above;
    }
    this.#heap[place] = event;
  }

  /** Acts on all events until a time, in order; these may add others. */
  runUntil(time: number, act: (value: Value) => void): void {
    for (let next = this.#heap[0]; next !== undefined && next.time <= time; next = this.#heap[0]) {
      this.#removeFirst();
      this.#now = next.time;
      act(next.value);
    }
    this.#now = time;
  }

  #removeFirst(): void {
    const last = this.#heap.pop() as Event<Value>;
    if (this.#heap.length === 0) return;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      const [one, other] = [this.#heap[left], this.#heap[left + 1]];
      if (one === undefined) break;
      const below = other !== undefined && isBefore(other, one) ? other : one;
      if (isBefore(last, below)) break;
      this.#heap[place] = below;
      place = below === one ? left : left + 1;
    }
    this.#heap[place] = last;
  }
}

function isBefore<Value>(one: Event<Value>, other: Event<Value>): boolean {
  return one.time < other.time || (one.time === other.time && one.number < other.number);
}
