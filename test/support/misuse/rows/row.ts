// Examples of valid calls, which the misuse test changes one value at a time.
import type { CallOptions, KernelClient } from '../../../../src/kernel/shared/types.js';

/** Valid calls of each verb of an interface, by their arguments. Together they have every field of the types. */
export type Rows<Client> = {
  readonly [Verb in Exclude<keyof Client, keyof KernelClient<never>>]: Client[Verb] extends (
    ...args: infer Args
  ) => unknown
    ? readonly Readonly<Args>[]
    : never;
};

/** The options of a call. */
export const CALL: CallOptions = { signal: new AbortController().signal };

/** Lists of one operation each, as `apply()` takes them. */
export function alone<Operation>(...operations: readonly Operation[]): [readonly Operation[], CallOptions][] {
  return operations.map((operation) => [[operation], CALL]);
}
