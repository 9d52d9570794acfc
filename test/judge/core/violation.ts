// What a verdict finds.
import { keyOf } from './frontends.js';
import type { Observation } from './observations.js';
import type { RuleName } from './rules.js';

/** A promise that was broken. */
export interface Violation {
  readonly rule: RuleName;
  /** When the request ended that shows it, in ms since the start of the recording. */
  readonly at: number;
  /** The request. */
  readonly observation: Observation;
  /** What happened, and what was promised. */
  readonly message: string;
}

/** A violation that a request shows. */
export function violationOf(rule: RuleName, observation: Observation, message: string): Violation {
  return { rule, at: observation.ended, observation, message: `${requestText(observation)}: ${message}` };
}

/** `once from pod to 10.96.30.1 80 TCP at 1200 ms`. */
function requestText({ use, target, began }: Observation): string {
  return `${use} from ${target.client} to ${keyOf(target)} at ${Math.round(began)} ms`;
}
