// Failures on demand, shared by all fakes.
import { NetlinkError } from '../errors.js';
import { checkArgument, integer } from '../shapes.js';

/** Decides whether an operation fails: the error it fails with, or undefined to allow it. */
export type Fault = (operation: string, target: string) => NetlinkError | undefined;

/** The faults that a test sets. */
export interface Faults {
  /** Called for every change, with the names that errors give it; replace it to make changes fail. None fails by default. */
  fault: Fault;
  /** The same for everything that reads. */
  readFault: Fault;
}

/** A fault that fails the nth operation (from 1), once, as a kernel out of memory would. */
export function failNth(n: number): Fault {
  checkArgument('failNth', 'n', n, integer(1, Number.MAX_SAFE_INTEGER));
  let count = 0;
  return (operation, target) =>
    ++count === n ? new NetlinkError({ code: 'ENOMEM', errno: 12, operation, target }) : undefined;
}
