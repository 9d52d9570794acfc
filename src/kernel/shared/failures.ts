// From the addon's failures to the one error type: names of errno numbers, and general hints.
import { constants } from 'node:os';
import { NetlinkError } from '../errors.js';
import type { FailedStep } from './addon.js';
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
export interface Reported extends FailedStep {
  readonly errno: number;
  readonly code: string;
  readonly message: string;
}

// Linux gives two numbers two names each; these are the ones that kernel sources use.
const PREFERRED = ['EAGAIN', 'EOPNOTSUPP'] as const;
/** Numbers of Linux for which Node.js has no name (include/linux/errno.h, include/uapi/asm-generic/errno.h). */
const OTHERS: readonly (readonly [number, string])[] = [[85, 'ERESTART']];
const ERRNO_NAMES: ReadonlyMap<number, string> = new Map([
  ...OTHERS,
  ...Object.entries(constants.errno).map(([name, number]) => [number, name] as const),
  ...PREFERRED.map((name) => [constants.errno[name], name] as const),
]);

/** `ENOENT` for 2; `ERRNO_600` for a number that Node.js has no name for. */
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
    hint: attempt.hint?.(code, kernelMessage) ?? generalHint(code, reported),
  });
}

/**
 * Makes an error that is a result of a batch. It has no stack: nobody throws it, and the stacks of 100 000 results take more memory and time
 * than all else in them.
 */
export function withoutStack<Result extends NetlinkError>(make: () => Result): Result {
  const limit = Error.stackTraceLimit;
  Reflect.set(Error, 'stackTraceLimit', 0); // an assignment would throw where intrinsics are frozen
  try {
    return make();
  } finally {
    Reflect.set(Error, 'stackTraceLimit', limit);
  }
}

/** The error for a call after close(). */
export function closedError(operation: string): NetlinkError {
  return new NetlinkError({ code: 'ERR_CLOSED', operation, hint: 'the client was closed' });
}

function generalHint(code: string, { step, path }: FailedStep): string | undefined {
  switch (code) {
    case 'EPERM': {
      // The kernel has no words for a capability that is missing: what it says is another reason.
      if (step === 'reply') return undefined;
      const entered = step === 'enterNamespace';
      return recent(`EPERM ${entered}`, () => permissionHint(entered));
    }
    case 'ENOENT':
      return step === 'openNamespace' && path !== undefined ? namespaceHint(path) : undefined;
    case 'ERR_UNKNOWN_OUTCOME':
      return 'the kernel may have done it: observe before sending it again';
    default:
      return undefined;
  }
}
