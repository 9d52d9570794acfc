// The rule for session affinity.
import { affinityKey, targetKey } from './frontends.js';
import type { Observation } from './observations.js';
import type { Bounds } from './rules.js';
import type { Timeline, Window } from './timeline.js';
import { type Violation, violationOf } from './violation.js';

/** Judges new connections of clients to Services with affinity. */
export class AffinityJudge {
  readonly #timeline: Timeline;
  readonly #bounds: Bounds;
  /** The last answer of each pod, by client and Service port; in ipvs mode by client and virtual service. */
  readonly #answers = new Map<string, Map<string, Observation>>();

  constructor(timeline: Timeline, bounds: Bounds) {
    this.#timeline = timeline;
    this.#bounds = bounds;
  }

  /**
   * Judges a new connection. A pod that answered this client within the timeout, and could be chosen ever since, must answer
   * again; with several such pods, one of them.
   */
  judge(observation: Observation, window: Window): Violation | undefined {
    const { target, by, result } = observation;
    if (result !== 'answered' || by === undefined) return undefined;
    const { service } = window.last;
    const key = this.#bounds.ipvs ? `${service} ${targetKey(target)}` : affinityKey(service, target);
    const answers = this.#answers.get(key) ?? new Map<string, Observation>();
    this.#answers.set(key, answers);
    const bound = answers.has(by) ? undefined : this.#boundPod(observation, answers);
    answers.set(by, observation);
    if (bound === undefined) return undefined;
    return violationOf('affinity', observation, `${by} answered; the client belongs to ${bound}`);
  }

  /** The pod that must answer again. */
  #boundPod(observation: Observation, answers: ReadonlyMap<string, Observation>): string | undefined {
    for (const [pod, last] of answers) {
      if (last.ended >= observation.began) continue;
      const { promises, damaged } = this.#timeline.window(last.began, observation.ended, observation.target);
      if (damaged || this.#timeline.forgets(last.began, observation.ended)) continue;
      const passed = observation.ended - last.began;
      const holds = promises.every(({ affinity, always }) => affinity * 1000 > passed && always.has(pod));
      if (holds) return pod;
    }
    return undefined;
  }
}
