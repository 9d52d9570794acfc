// Failures on demand, shared by all fakes.
import { NetlinkError } from '../errors.js';

/** Decides whether an operation fails: the error it fails with, or undefined to let it happen. */
export type Fault = (operation: string, target: string) => NetlinkError | undefined;

/** Where a test says what is to fail. */
export interface Faults {
  /** Called for every operation of the fake; replace it to make operations fail. Nothing fails by default. */
  fault: Fault;
}

/** A fault that fails the nth operation (from 1), once, as a kernel out of memory would. */
export function failNth(n: number): Fault {
  let count = 0;
  return (operation, target) =>
    ++count === n ? new NetlinkError({ code: 'ENOMEM', errno: 12, operation, target }) : undefined;
}

/** Does one operation unless its fault says otherwise; `act` names the error of an operation the kernel would refuse. */
export function attempt(
  faults: Faults,
  operation: string,
  target: string,
  act: () => string | undefined,
): NetlinkError | undefined {
  const fault = faults.fault(operation, target);
  if (fault) return fault;
  const code = act();
  return code === undefined ? undefined : new NetlinkError({ code, operation, target });
}
