// The records of transactions of netfilter. `npm run task -- layouts` writes them to native/netlink/layouts.h.
import { layout, u8, u32, unused } from '../shared/records/layout.js';

/** What the kernel answered to a transaction. The {@link TRANSACTION_FAILURE}s follow; none if it was committed. */
export const TRANSACTION_ANSWER = layout({
  /** 1 when more messages may have failed, whose errors did not fit into the receive buffer, else 0. */
  errorsLost: u8,
  unused: unused(3),
});

/** A message that the kernel refused. Its text follows, padded to 4 bytes. */
export const TRANSACTION_FAILURE = layout({
  /** Place of the message in the transaction; that of the message that begins it is 0. */
  index: u32,
  errno: u32,
  /** Place of the offending attribute in the message, in bytes; 0 if the kernel does not say. */
  offset: u32,
  /** Bytes of the text of the extended acknowledgement. */
  textLength: u32,
});
