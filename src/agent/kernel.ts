// Opens the kernel's parts, and finds out which IP families of this host can be programmed.
import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { NetlinkError } from '../errors.js';
import { openConntrack } from '../kernel/conntrack/index.js';
import { openIpset } from '../kernel/ipset/index.js';
import { openIptables } from '../kernel/iptables/index.js';
import type { Iptables } from '../kernel/iptables/types.js';
import { type Ipvs, openIpvs } from '../kernel/ipvs/index.js';
import { loadModule } from '../kernel/modules.js';
import { openRtnetlink } from '../kernel/rtnetlink/index.js';
import { type RtnetlinkEvent, watchRtnetlink } from '../kernel/rtnetlink/watch.js';
import { openSysctl } from '../kernel/sysctl/index.js';
import type { Family } from '../net/address.js';
import type { HostChange } from '../services/types.js';
import { openParts } from './openParts.js';

/** Ms for which changes of links and addresses are gathered: a network plugin makes several for each pod. */
const HOST_SETTLES = 200;

/** Every part of the kernel of this process's network namespace. */
export type Kernel = Awaited<ReturnType<typeof openKernel>>;

/**
 * Opens all parts. Rejects with the NetlinkError of the one that cannot be opened, and then holds none open.
 *
 * @param load load the module of IPVS if it is missing
 */
export async function openKernel(load: boolean) {
  const parts = await openParts({
    ipvs: load ? openIpvsWithModule : openIpvs,
    conntrack: openConntrack,
    ipset: openIpset,
    rtnetlink: openRtnetlink,
  });
  return {
    ...parts,
    iptables: openIptables(),
    sysctl: openSysctl(),
    /** Calls back when links or addresses have changed, until closed. */
    watchHost: (changed: (change: HostChange) => void) =>
      watchRtnetlink({ gather: HOST_SETTLES }, ({ lost, events }) =>
        changed({ lost, ...hostChanges(events) }),
      ),
    close: () => {
      for (const part of Object.values(parts)) part.close();
    },
  };
}

/** Changes of the host, as the proxy takes them in. */
function hostChanges(events: readonly RtnetlinkEvent[]): Pick<HostChange, 'addresses' | 'deletedLinks'> {
  return {
    addresses: events.flatMap((event) => {
      if (event.kind !== 'address') return [];
      const { link, address, prefix } = event.address;
      return [{ link, address, prefix, deleted: event.deleted }];
    }),
    deletedLinks: events.flatMap((event) =>
      event.kind === 'link' && event.deleted ? [event.link.name] : [],
    ),
  };
}

/** IPVS's netlink family exists only while its module is loaded, and nothing loads it on demand. */
async function openIpvsWithModule(): Promise<Ipvs> {
  try {
    return await openIpvs();
  } catch (error) {
    if (!(error instanceof NetlinkError) || error.code !== 'ENOENT') throw error;
    const said = await loadModule('ip_vs');
    if (said === undefined) return openIpvs();
    throw new NetlinkError({ ...error, kernelMessage: said, hint: 'IPVS needs the kernel module ip_vs' });
  }
}

/** Families for which the host has both an IP stack and iptables' programs; what is left out is told. */
export async function usableFamilies(iptables: Iptables, log: Logger): Promise<Family[]> {
  const usable: Family[] = [];
  for (const family of [4, 6] as const) {
    const reason = await findObstacle(iptables, family);
    if (reason === undefined) usable.push(family);
    else log.warn({ err: reason }, `IPv${family} is left out`);
  }
  return usable;
}

async function findObstacle(iptables: Iptables, family: Family): Promise<string | undefined> {
  if (family === 6 && !existsSync('/proc/net/if_inet6')) return 'the kernel runs without IPv6';
  try {
    await iptables.save(family);
    return undefined;
  } catch (error) {
    return String(error);
  }
}
