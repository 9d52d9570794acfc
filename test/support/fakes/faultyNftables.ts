// A fake of nftables whose transactions fail as a whole: as the kernel, the socket or the network of the addon makes them fail.
import { NetlinkError, ROLLED_BACK } from '../../../src/kernel/errors.js';
import { NAMING } from '../../../src/kernel/nftables/names.js';
import type { NftablesOperation, TransactionOptions } from '../../../src/kernel/nftables/types.js';
import { attemptAt } from '../../../src/kernel/shared/batch.js';
import { toNetlinkError } from '../../../src/kernel/shared/failures.js';
import type { OperationResult } from '../../../src/kernel/shared/types.js';
import { FakeNftables } from '../../../src/kernel/testing/index.js';

/** How a transaction fails. */
export interface TransactionFault {
  readonly code: string;
  readonly errno?: number;
  /**
   * `all`: every operation has the error; `one`: only one, the others `ERR_ROLLED_BACK`; `committed`: every operation has it, although the
   * kernel applied them; `rejected`: the call rejects.
   */
  readonly as: 'all' | 'one' | 'committed' | 'rejected';
}

/** A fake of nftables that counts its transactions, and asks for each whether it fails. */
export class FaultyNftables extends FakeNftables {
  /** Number of transactions so far. */
  transactions = 0;
  /** How the transaction with this number, from 1, fails; undefined: it does not. */
  faultOf: (nth: number, operations: readonly NftablesOperation[]) => TransactionFault | undefined = () =>
    undefined;
  /** Of the errors of a transaction, only the first is reported: the others did not fit into the receive buffer. */
  losesErrors = false;

  protected override async transact(
    operations: readonly NftablesOperation[],
    options: TransactionOptions,
  ): Promise<OperationResult[]> {
    const fault = this.faultOf(++this.transactions, operations);
    if (!fault) return this.#lossy(await super.transact(operations, options));
    const { code, errno = 0, as } = fault;
    if (as === 'rejected') throw new NetlinkError({ code, errno, operation: 'nftables.apply' });
    if (as === 'committed') await super.transact(operations, options);
    const culprit = Math.floor(operations.length / 2);
    return operations.map((operation, place) => {
      const rolledBack = as === 'one' && place !== culprit;
      const reported = rolledBack ? { errno: 0, code: ROLLED_BACK } : { errno, code };
      return toNetlinkError({ ...reported, message: '' }, attemptAt(operation, NAMING));
    });
  }

  #lossy(results: OperationResult[]): OperationResult[] {
    const first = results.findIndex((result) => result && result.code !== ROLLED_BACK);
    if (!this.losesErrors || first < 0) return results;
    return results.map((result, place) =>
      result && place !== first
        ? new NetlinkError({ code: ROLLED_BACK, operation: result.operation })
        : result,
    );
  }
}
