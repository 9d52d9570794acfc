// The parts of an error that a contract compares. Kernels differ in their messages, which are compared where it matters.
import assert from 'node:assert/strict';
import { NetlinkError } from '../../../src/kernel/errors.js';
import type { OperationResult } from '../../../src/kernel/shared/types.js';

/** Code, number, operation and target of each result that is an error; `done` for the others. */
export function outcomes(results: readonly OperationResult[]): string[] {
  return results.map((result) => (result === undefined ? 'done' : outcome(result)));
}

function outcome({ code, errno, operation, target }: NetlinkError): string {
  return `${code} ${errno} ${operation} ${target}`;
}

/** The message of the kernel in a result. */
export function messageOf(result: OperationResult): string | undefined {
  return result?.kernelMessage;
}

/** Asserts that a call rejects with this NetlinkError: `ENOENT 2 ipset.flush none`. */
export async function refused(call: Promise<unknown>, expected: string): Promise<void> {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof NetlinkError, String(error));
    assert.equal(outcome(error), expected);
    return true;
  });
}

/** Asserts that every verb of a closed client rejects, and does not throw. */
export async function closed(client: object, ...calls: (() => Promise<unknown>)[]): Promise<void> {
  (client as { close(): void }).close();
  for (const call of calls) await assert.rejects(call(), { name: 'NetlinkError', code: 'ERR_CLOSED' });
}
