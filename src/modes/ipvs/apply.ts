// Applies operations, in order. Consecutive operations of one phase on the same part of the kernel are one batch.

import { NetlinkError } from '../../errors.js';
import { TimeSlice } from '../../timeSlice.js';
import type { IpvsKernel } from './kernel.js';
import type { KernelCall, Operation } from './operations.js';

type Result = NetlinkError | undefined;

/** Maximum operations in one batch. Short batches let other work, and the end of the process, run in between. */
const MOST = 256;

/** Returns one result per operation. A failure does not stop later operations. */
export async function apply(kernel: IpvsKernel, operations: readonly Operation[]): Promise<Result[]> {
  const results: Result[] = [];
  const failed = unknownAmong(operations);
  const slice = new TimeSlice();
  for (let start = 0; start < operations.length; ) {
    const first = operations[start] as Operation;
    let end = start + 1;
    const limit = Math.min(operations.length, start + MOST);
    while (end < limit && goTogether(first, operations[end] as Operation)) end++;
    for (const [operation, result] of await together(kernel, operations.slice(start, end), failed)) {
      if (result) failed.add(operation.key);
      results.push(result);
    }
    start = end;
    if (slice.spend()) await slice.yield();
  }
  return results;
}

/** Keys in `after` for which there is no operation: their state is unknown. */
function unknownAmong(operations: readonly Operation[]): Set<string> {
  const awaited = new Set(operations.flatMap(({ after = [] }) => after));
  if (awaited.size > 0) for (const { key } of operations) awaited.delete(key);
  return awaited;
}

/** Whether both are in one batch. A batch has one phase: an address is added only after its virtual services. */
function goTogether(a: Operation, b: Operation): boolean {
  return a.phase === b.phase && a.call.on === b.call.on;
}

/** Applies a group. Returns its operations with their results; those after a failed one are held back. */
async function together(
  kernel: IpvsKernel,
  group: readonly Operation[],
  failed: ReadonlySet<string>,
): Promise<[Operation, Result][]> {
  const due = group.filter(({ after = [] }) => !after.some((key) => failed.has(key)));
  const answers = await batch(
    kernel,
    due.map(({ call }) => call),
  );
  const results = new Map(
    due.map((operation, i) => [operation, isDone(operation, answers[i]) ? undefined : answers[i]]),
  );
  return group.map((operation) => [
    operation,
    results.has(operation) ? results.get(operation) : heldBack(operation),
  ]);
}

/** Errors that mean that the change has already been made. These are successes. */
const NOTHING_TO_DO: Readonly<Record<string, readonly string[]>> = {
  addAddress: ['EEXIST'],
  deleteAddress: ['EADDRNOTAVAIL', 'ENODEV'],
  deleteLink: ['ENODEV'],
  deleteService: ['ESRCH'],
  deleteRealServer: ['ENOENT', 'ESRCH'],
};

function isDone({ call }: Operation, error: Result): boolean {
  if (error === undefined || (call.on !== 'rtnetlink' && call.on !== 'ipvs')) return false;
  return NOTHING_TO_DO[call.operation.do]?.includes(error.code) ?? false;
}

function heldBack({ key, after = [] }: Operation): NetlinkError {
  const hint = `waits for ${after.join(', ')}`;
  return new NetlinkError({ code: 'ERR_HELD_BACK', operation: 'kernel.apply', target: key, hint });
}

/** All calls are on one part of the kernel. If the batch itself fails, each call has its error. */
async function batch(kernel: IpvsKernel, calls: readonly KernelCall[]): Promise<Result[]> {
  try {
    switch (calls[0]?.on) {
      case 'ipvs':
        return await kernel.ipvs.apply(only(calls, 'ipvs').map(({ operation }) => operation));
      case 'ipset':
        return await kernel.ipset.apply(only(calls, 'ipset').map(({ operation }) => operation));
      case 'rtnetlink':
        return await kernel.rtnetlink.apply(only(calls, 'rtnetlink').map(({ operation }) => operation));
      case 'iptables':
        return await restore(kernel, only(calls, 'iptables'));
      case 'timeouts':
        return await Promise.all(only(calls, 'timeouts').map((call) => setTimeouts(kernel, call)));
      case 'sysctl':
        return await Promise.all(only(calls, 'sysctl').map((call) => writeSysctl(kernel, call)));
      default:
        return [];
    }
  } catch (error) {
    return calls.map(() => asNetlinkError(error, calls[0]?.on ?? 'kernel'));
  }
}

type CallOn<On extends KernelCall['on']> = Extract<KernelCall, { readonly on: On }>;

function only<On extends KernelCall['on']>(calls: readonly KernelCall[], on: On): CallOn<On>[] {
  return calls.filter((call): call is CallOn<On> => call.on === on);
}

/** Starts one process for each family with changes. */
async function restore(kernel: IpvsKernel, calls: readonly CallOn<'iptables'>[]): Promise<Result[]> {
  const families = [...new Set(calls.map(({ family }) => family))];
  const errors = new Map<number, Result>();
  for (const family of families) {
    const operations = calls.filter((call) => call.family === family).map(({ operation }) => operation);
    errors.set(family, await kernel.iptables.restore(family, operations));
  }
  return calls.map(({ family }) => errors.get(family));
}

async function setTimeouts(kernel: IpvsKernel, { timeouts }: CallOn<'timeouts'>): Promise<Result> {
  try {
    const { tcp, tcpFin, udp } = timeouts;
    await kernel.ipvs.setTimeouts({ tcp, tcpFin, udp });
    return undefined;
  } catch (error) {
    return asNetlinkError(error, 'ipvs.setTimeouts');
  }
}

async function writeSysctl(kernel: IpvsKernel, { name, value }: CallOn<'sysctl'>): Promise<Result> {
  try {
    await kernel.sysctl.write(name, value);
    return undefined;
  } catch (error) {
    return asNetlinkError(error, 'sysctl.write');
  }
}

function asNetlinkError(error: unknown, operation: string): NetlinkError {
  if (error instanceof NetlinkError) return error;
  return new NetlinkError({ code: 'ERR_UNKNOWN', operation, kernelMessage: String(error) });
}
