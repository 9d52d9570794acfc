// An error as a user reads it, with what can be done after it.

import { ErrorWithNextStep, escapedLines, NetlinkError } from '../../kernel/errors.js';
import { ConfigurationError } from '../config/load.js';

const ROOT_NEEDED =
  'run it as root, or with the capabilities NET_ADMIN and NET_RAW: see Privileges in docs/migrate.md';

/** The next step after an error, without a period; undefined if the message says all that is known. */
export function nextStepOf(error: unknown): string | undefined {
  if (error instanceof ErrorWithNextStep) return error.nextStep;
  const isRefused = error instanceof NetlinkError && (error.code === 'EPERM' || error.code === 'EACCES');
  return isRefused ? ROOT_NEEDED : undefined;
}

/** The lines of an error on standard error. */
export function errorLines(error: unknown): string[] {
  const message = error instanceof Error ? error.message : String(error);
  const lines = error instanceof ConfigurationError ? message.split('\n') : [message];
  const nextStep = nextStepOf(error);
  return [
    ...lines.map((line) => `Error: ${escapedLines(line)}`),
    ...(nextStep === undefined ? [] : [`Next step: ${nextStep}`]),
  ];
}
