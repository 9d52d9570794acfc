// Which messages the kernel answers with a listing: the bits of NLM_F_DUMP mean something else in messages that change.
import { NLM_F_DUMP } from './flags.js';

const NETLINK_ROUTE = 0;
const NETLINK_NETFILTER = 12;
const RTNL_KIND_GET = 2;

/** The commands of netfilter that get, by subsystem: the upper and the lower byte of the type. */
const NETFILTER_GETS: Readonly<Record<number, readonly number[]>> = {
  1: [1, 3, 4, 5, 6, 7], // enum cntl_msg_types
  2: [1, 3], // enum ctnl_exp_msg_types
  6: [7, 8], // enum ipset_cmd: LIST and SAVE
  7: [1, 2], // enum nfnl_acct_msg_types
  8: [1, 4], // enum ctnl_timeout_msg_types
  9: [1], // enum nfnl_cthelper_msg_types
  10: [1, 4, 7, 10, 13, 16, 19, 21, 23, 25, 33], // enum nf_tables_msg_types
  11: [0], // NFNL_MSG_COMPAT_GET
  12: [0], // enum nfnl_hook_msg_types
};

/**
 * Whether the kernel answers a message with a listing, whose replies would wait in the socket. The bits of `NLM_F_DUMP` are also
 * `NLM_F_REPLACE` and `NLM_F_EXCL` of messages that change, and `NLM_F_NONREC` of those that delete. rtnetlink_rcv_msg() and the
 * subsystems of netfilter look for either bit, in messages that get; genl_family_rcv_msg() for both.
 */
export function asksForListing(protocol: number, type: number, flags: number): boolean {
  if (protocol === NETLINK_ROUTE) return type % 4 === RTNL_KIND_GET && (flags & NLM_F_DUMP) !== 0;
  const gets = protocol === NETLINK_NETFILTER && NETFILTER_GETS[type >> 8]?.includes(type & 0xff);
  return gets ? (flags & NLM_F_DUMP) !== 0 : (flags & NLM_F_DUMP) === NLM_F_DUMP;
}
