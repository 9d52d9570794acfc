// From the addon's failures to the one error type: names of errno numbers, and general hints.
import { constants } from 'node:os';
import { NetlinkError } from '../../errors.js';
import { namespaceHint, permissionHint, recent } from './hints.js';

/** An operation, as errors describe it. */
export interface Attempt {
  /** `family.verb`: `ipvs.addRealServer`. */
  readonly operation: string;
  /** Its target, in the tools' notation. */
  readonly target?: string | undefined;
  /** The hint for a code, where the operation has a better one than {@link toNetlinkError}. */
  readonly hint?: ((code: string, kernelMessage: string | undefined) => string | undefined) | undefined;
  /** The code for a number of the family's own, beside errno; undefined for every other. */
  readonly codeOf?: ((errno: number) => string | undefined) | undefined;
}

/** The addon's description of a failure: a NativeFailure, or a NativeError's fields. */
export interface Reported {
  readonly errno: number;
  readonly code: string;
  readonly message: string;
}

// Linux gives two numbers two names each; these are the ones that kernel sources use.
const PREFERRED = ['EAGAIN', 'EOPNOTSUPP'] as const;
const ERRNO_NAMES: ReadonlyMap<number, string> = new Map([
  ...Object.entries(constants.errno).map(([name, number]) => [number, name] as const),
  ...PREFERRED.map((name) => [constants.errno[name], name] as const),
]);

/** `ENOENT` for 2; `ERRNO_600` for a number that Node has no name for. */
export function errnoName(errno: number): string {
  return ERRNO_NAMES.get(errno) ?? `ERRNO_${errno}`;
}

/** The error for a failure of the addon. */
export function toNetlinkError(reported: Reported, attempt: Attempt): NetlinkError {
  const code = reported.code || attempt.codeOf?.(reported.errno) || errnoName(reported.errno);
  const kernelMessage = reported.message || undefined;
  return new NetlinkError({
    code,
    errno: reported.errno,
    operation: attempt.operation,
    target: attempt.target,
    kernelMessage,
    hint: attempt.hint?.(code, kernelMessage) ?? generalHint(code, kernelMessage),
  });
}

/** The error for a call after close(). */
export function closedError(operation: string): NetlinkError {
  return new NetlinkError({ code: 'ERR_CLOSED', operation, hint: 'the client was closed' });
}

/** The message of the addon for setns(2) that failed: native/netlink/network_namespace.cc. */
const NOT_ENTERED = 'cannot enter the network namespace';
/** The beginning of that for a file that cannot be opened; its path follows. */
const NOT_OPENED = 'cannot open network namespace ';

function generalHint(code: string, kernelMessage: string | undefined): string | undefined {
  switch (code) {
    case 'EPERM': {
      const entered = kernelMessage === NOT_ENTERED;
      return recent(`EPERM ${entered}`, () => permissionHint(entered));
    }
    case 'ENOENT':
      return kernelMessage?.startsWith(NOT_OPENED)
        ? namespaceHint(kernelMessage.slice(NOT_OPENED.length))
        : undefined;
    case 'ERR_UNKNOWN_OUTCOME':
      return 'the kernel may have done it: observe before sending it again';
    default:
      return undefined;
  }
}
