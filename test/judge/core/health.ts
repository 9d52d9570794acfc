// The rule for health-check node ports, which the proxy answers itself.
import type { Observation } from './observations.js';
import type { Timeline, Window } from './timeline.js';
import { type Violation, violationOf } from './violation.js';

/** The violation if a health-check node port answers otherwise than in any state that may be in force. During a fault, the proxy may not answer, or answer 503 for itself. */
export function healthViolation(
  observation: Observation,
  { promises }: Window,
  timeline: Timeline,
): Violation | undefined {
  const { began, by = '', ended, result } = observation;
  if (timeline.isDisturbed(began, ended)) return undefined;
  const isAnswered = result === 'answered';
  if (promises.some(({ answers, may }) => (isAnswered ? may.has(by) : !answers))) return undefined;
  const allowed = [...new Set(promises.flatMap(({ may }) => [...may]))].join(' or ') || 'no answer';
  return violationOf('health-check', observation, `${isAnswered ? by : result}; ${allowed} is right`);
}
