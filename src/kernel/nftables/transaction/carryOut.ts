// A transaction from its operations to their results, whoever carries it out.
import { NetlinkError } from '../../errors.js';
import type { OperationResult } from '../../shared/types.js';
import { TimeSlice } from '../../timeSlice.js';
import type { NftablesOperation, TransactionOptions } from '../types.js';
import { type Answer, failedInSteps, resultsInSteps, unsentInSteps } from './answer.js';
import { type WrittenTransaction, writeInSteps } from './write.js';

const NOTHING: Answer = { refused: [], errorsLost: false };

/**
 * Carries a transaction out: one result for each operation.
 *
 * @param inTurn runs work when all earlier calls have ended. A NetlinkError with which it rejects is that of the transaction as a whole,
 *   except ERR_CLOSED.
 * @param send sends the transaction, within this work
 */
export async function carryOut<Kernel>(
  operations: readonly NftablesOperation[],
  { generation, signal }: TransactionOptions,
  inTurn: (work: (kernel: Kernel) => Promise<Answer>) => Promise<Answer>,
  send: (kernel: Kernel, written: WrittenTransaction) => Promise<Answer>,
): Promise<OperationResult[]> {
  const slice = new TimeSlice();
  let written: WrittenTransaction | undefined;
  try {
    const answer = await inTurn(async (kernel) => {
      written = await slice.finish(writeInSteps(operations, generation));
      signal?.throwIfAborted();
      const isSent = written.invalid.size === 0 && written.messages > 0;
      return isSent ? send(kernel, written) : NOTHING;
    });
    const { invalid, firstMessages } = written as WrittenTransaction;
    return await slice.finish(
      invalid.size > 0
        ? unsentInSteps(operations, invalid)
        : resultsInSteps(operations, firstMessages, answer),
    );
  } catch (error) {
    if (!(error instanceof NetlinkError) || error.code === 'ERR_CLOSED') throw error;
    const { errno, code, kernelMessage = '' } = error;
    return slice.finish(failedInSteps(operations, { errno, code, message: kernelMessage }));
  } finally {
    written?.release();
  }
}
