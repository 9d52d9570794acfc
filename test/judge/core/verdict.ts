// The verdict on a recording: every violation of a rule.
import { AffinityJudge } from './affinity.js';
import { AffinityEndJudge } from './affinityEnd.js';
import { answerViolation, SourceJudge } from './answers.js';
import { EstablishedJudge } from './established.js';
import { FairnessJudge, type FairnessKey } from './fairness.js';
import { healthViolation } from './health.js';
import type { Observation, Recording } from './observations.js';
import type { Bounds } from './rules.js';
import { SilenceJudge } from './silence.js';
import { Timeline, type Window } from './timeline.js';
import type { Violation } from './violation.js';

/** Judges a recording. Observations are judged in the order of their ends. */
export function judge(recording: Recording, bounds: Bounds): Violation[] {
  const timeline = new Timeline(recording, bounds);
  const requests = new RequestJudge(bounds);
  const affinity = new AffinityJudge(timeline, bounds);
  const affinityEnd = new AffinityEndJudge(timeline, bounds);
  const established = new EstablishedJudge(timeline);
  const byAddress = bounds.ipvs ? byVirtualService : byFrontend;
  const fairness = [new FairnessJudge(bounds, byAddress), new FairnessJudge(bounds, byService)];
  const violations: Violation[] = [];
  const found = (violation: Violation | undefined) => violation && violations.push(violation);
  for (const observation of recording.observations) {
    const isNew = established.isNew(observation);
    const window = timeline.window(observation.began, observation.ended, observation.target);
    if (observation.target.kind === 'healthCheck') {
      found(healthViolation(observation, window, timeline));
      continue;
    }
    if (observation.use === 'long' && !isNew) {
      found(established.judge(observation));
      continue;
    }
    established.open(observation);
    if (!isUnserved(observation, timeline)) found(requests.judge(observation, window, isNew));
    if (observation.use === 'stream' && !isNew) continue;
    found(affinity.judge(observation, window));
    affinityEnd.count(observation, window);
    for (const one of fairness) one.count(observation, window);
  }
  for (const one of [...fairness, affinityEnd]) violations.push(...one.end());
  return violations;
}

/** Whether a node port at localhost may be without an answer, because the proxy runs in another mode, which has none. */
function isUnserved({ began, ended, result, target }: Observation, timeline: Timeline): boolean {
  return target.kind === 'localhost' && result !== 'answered' && timeline.forgets(began, ended);
}

/** Judges requests by themselves: whether they are answered, by whom, and what the pod sees. */
class RequestJudge {
  readonly #silence: SilenceJudge;
  readonly #sources = new SourceJudge();

  constructor(bounds: Bounds) {
    this.#silence = new SilenceJudge(bounds);
  }

  judge(observation: Observation, window: Window, isNew: boolean): Violation | undefined {
    if (observation.result !== 'answered') {
      return window.damaged ? undefined : this.#silence.judge(observation, window);
    }
    this.#silence.answered(observation);
    const wrong = answerViolation(observation, window, isNew);
    if (wrong || window.damaged) return wrong;
    return this.#sources.judge(observation, window);
  }
}

/** One frontend, as one client dials it. */
const byFrontend: FairnessKey = ({ target: { client, address, port, protocol } }) =>
  `${client} ${address} ${port} ${protocol}`;

/** The scheduler `rr` deals in turn: of two clients that take turns, each may have one endpoint for ever. */
const byVirtualService: FairnessKey = ({ target: { address, port, protocol } }) =>
  `${address} ${port} ${protocol}`;

/** A port of a Service, at all its addresses in a family. */
const byService: FairnessKey = ({ target: { family, protocol } }, service) =>
  `${service} ${family} ${protocol}`;
