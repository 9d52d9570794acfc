// What a user can do after an error, in one sentence.
import { ErrorWithNextStep, NetlinkError } from '../errors.js';

const ROOT_NEEDED =
  'run it as root, or with the capabilities NET_ADMIN and NET_RAW: see Privileges in docs/migrate.md';

/** The next step after an error, without a period; undefined if the message says all that is known. */
export function nextStepOf(error: unknown): string | undefined {
  if (error instanceof ErrorWithNextStep) return error.nextStep;
  const isRefused = error instanceof NetlinkError && (error.code === 'EPERM' || error.code === 'EACCES');
  return isRefused ? ROOT_NEEDED : undefined;
}
