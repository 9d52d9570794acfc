// Opens nftables.
import { loadAddon } from '../shared/addon.js';
import { openCalls } from '../shared/calls.js';
import type { OpenOptions } from '../shared/types.js';
import { NETLINK_NETFILTER, NftablesClient } from './client.js';
import type { Nftables } from './types.js';

/**
 * Opens nftables. The kernel loads nf_tables by itself with the first call, which is refused (`EINVAL`) if the kernel has none.
 *
 * Rejects with NetlinkError `ENOENT` when `options.netns` is missing, `EINVAL` when it is not a network namespace, and `EPERM` without
 * CAP_SYS_ADMIN, which it needs. Calls need CAP_NET_ADMIN over the network namespace.
 */
export async function openNftables(options: OpenOptions = {}): Promise<Nftables> {
  const native = new (loadAddon().NetlinkClient)(NETLINK_NETFILTER, true);
  return new NftablesClient(await openCalls(native, options, { operation: 'nftables.open' }));
}
