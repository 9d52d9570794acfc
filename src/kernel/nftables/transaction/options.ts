// The options of a transaction. Pure.
import {
  argumentError,
  findInvalidCallOptions,
  invalidInteger,
  invalidObject,
} from '../../shared/arguments.js';
import type { TransactionOptions } from '../types.js';

/** The largest number of a generation: it has 32 bits. */
const LAST_GENERATION = 0xffff_ffff;

/** Throws the error of a transaction whose options are invalid. */
export function checkTransactionOptions(options: TransactionOptions): void {
  const noObject = invalidObject('options', options);
  if (noObject) throw argumentError('nftables.apply', noObject);
  const { generation, ...call } = options;
  const invalid =
    findInvalidCallOptions(call) ??
    (generation === undefined ? undefined : invalidInteger('generation', generation, 1, LAST_GENERATION));
  if (invalid) throw argumentError('nftables.apply', invalid);
}
