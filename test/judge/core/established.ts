// The rule for established TCP connections.
import type { Observation } from './observations.js';
import type { Timeline } from './timeline.js';
import { type Violation, violationOf } from './violation.js';

/** Judges the later requests of long connections. */
export class EstablishedJudge {
  readonly #timeline: Timeline;
  /** The first request of each long connection and stream. */
  readonly #opened = new Map<number, Observation>();

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** Whether a request opens its connection or socket. */
  isNew({ use, connection }: Observation): boolean {
    return use === 'once' || !this.#opened.has(connection);
  }

  /** Remembers the request that opens a connection. */
  open(observation: Observation): void {
    if (observation.use !== 'once' && !this.#opened.has(observation.connection)) {
      this.#opened.set(observation.connection, observation);
    }
  }

  /** Judges a later request of a long connection. */
  judge(observation: Observation): Violation | undefined {
    const opened = this.#opened.get(observation.connection);
    if (opened?.result !== 'answered' || opened.by === undefined) return undefined;
    const { promises, damaged } = this.#timeline.window(opened.began, observation.ended, observation.target);
    if (damaged) return undefined;
    if (observation.result === 'answered') {
      if (observation.by === opened.by) return undefined;
      const moved = `answered by ${observation.by}, but opened to ${opened.by}`;
      return violationOf('established-kept', observation, moved);
    }
    const { by } = opened;
    // The Service and the endpoint were there the whole time, and never was the client shut out.
    const concerned = promises.some(({ present, excluded }) => !present.has(by) || excluded);
    if (concerned) return undefined;
    return violationOf('established-kept', observation, `${observation.result}; ${by} has never left`);
  }
}
