// Rules for requests without an answer.
import type { Observation } from './observations.js';
import type { Bounds } from './rules.js';
import type { Window } from './timeline.js';
import { type Violation, violationOf } from './violation.js';

/** The violation if an answer, or a refusal at once, was promised in every state that may be in force. */
export function silenceViolation(
  observation: Observation,
  { promises, last }: Window,
  { refusal }: Bounds,
): Violation | undefined {
  const { result, use, began, ended } = observation;
  if (promises.every(({ answers }) => answers)) {
    const rule = use === 'stream' ? 'stream-answers' : 'ready-answers';
    const who = [...last.may].join(', ');
    return violationOf(
      rule,
      observation,
      `${result} after ${Math.round(ended - began)} ms; ${who} should answer`,
    );
  }
  if (
    use !== 'stream' &&
    result === 'timeout' &&
    promises.every(({ refuses }) => refuses) &&
    ended - began > refusal
  ) {
    return violationOf('refused', observation, 'no refusal, although the Service has no endpoint');
  }
  return undefined;
}
