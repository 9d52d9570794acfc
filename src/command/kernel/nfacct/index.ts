// Counters of nfacct over netlink.
import { NetlinkError } from '../../../kernel/errors.js';
import { openNetlink } from '../../../kernel/netlink/index.js';
import type { Netlink } from '../../../kernel/netlink/types.js';
import type { OpenOptions } from '../../../kernel/shared/types.js';
import { addRequest, getRequest, readCounter } from './codec.js';
import type { Nfacct } from './types.js';

export type * from './types.js';

/** Opens the counters of a network namespace. Rejects with a NetlinkError, as every client of netlink. */
export async function openNfacct(options: OpenOptions = {}): Promise<Nfacct> {
  return nfacctOver(await openNetlink({ ...options, protocol: 'netfilter' }));
}

/** The counters, over netlink of the protocol `netfilter`, which is closed with them. */
export function nfacctOver(netlink: Pick<Netlink, 'query' | 'send' | 'close'>): Nfacct {
  return {
    async get(name) {
      try {
        const [reply] = await netlink.query(getRequest(name));
        if (reply) return readCounter(reply);
      } catch (error) {
        if (!(error instanceof NetlinkError)) throw error;
        if (error.code === 'ENOENT') return undefined;
        throw new NetlinkError({ ...error, operation: 'nfacct.get', target: name });
      }
      const kernelMessage = 'the kernel sent no counter';
      throw new NetlinkError({
        code: 'ERR_MALFORMED_REPLY',
        operation: 'nfacct.get',
        target: name,
        kernelMessage,
      });
    },
    async add(name) {
      const [error] = await netlink.send([addRequest(name)]);
      // nfnl_acct_new() returns EBUSY for a counter that exists, unless it is to be replaced.
      if (error === undefined || error.code === 'EBUSY') return undefined;
      return new NetlinkError({ ...error, operation: 'nfacct.add', target: name });
    },
    close: () => netlink.close(),
  };
}
