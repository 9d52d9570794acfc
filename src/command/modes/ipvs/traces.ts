// Finds the state of ipvs mode without IPVS, and without the code of the mode.
import { NetlinkError } from '../../../kernel/errors.js';
import type { Ipset } from '../../../kernel/ipset/types.js';
import type { Iptables } from '../../../kernel/iptables/types.js';
import type { Family } from '../../../kernel/net/address.js';
import type { Rtnetlink } from '../../../kernel/rtnetlink/types.js';
import { LINK, REBUILD } from '../../../proxy/modes/ipvs/plan/items.js';
import { SET_ROLES, setOf } from '../../../proxy/modes/ipvs/plan/sets.js';
import type { KernelSigns } from '../shared/definition.js';

/** Chains that only ipvs mode has. */
const OWN_CHAINS = [
  'nat/KUBE-NODE-PORT',
  'nat/KUBE-LOAD-BALANCER',
  'filter/KUBE-NODE-PORT',
  'filter/KUBE-SOURCE-RANGES-FIREWALL',
  'filter/KUBE-IPVS-FILTER',
  'filter/KUBE-IPVS-OUT-FILTER',
];

/** The parts of the kernel in which the state is found without IPVS. */
interface TracesKernel {
  readonly rtnetlink: Pick<Rtnetlink, 'getLink'>;
  readonly iptables: Pick<Iptables, 'chains'>;
  /** Undefined if the kernel has not loaded ipset. */
  readonly openIpset: (() => Promise<Pick<Ipset, 'list' | 'close'>>) | undefined;
}

/** Whether ipvs mode left kube-ipvs0, a chain or a set. Loads no kernel module. */
export async function hasTraces(kernel: TracesKernel, families: readonly Family[]): Promise<boolean> {
  if (await kernel.rtnetlink.getLink(LINK)) return true;
  for (const family of families) {
    for await (const piece of kernel.iptables.chains(family))
      if (piece.some(({ table, name }) => OWN_CHAINS.includes(`${table}/${name}`))) return true;
  }
  return hasSets(kernel.openIpset);
}

/** Whether ipvs mode has programmed the kernel. Sets alone are what a removal has left. */
export async function isProgrammed({ chains, hasLink }: KernelSigns): Promise<boolean> {
  return OWN_CHAINS.some((id) => chains.has(id)) || (await hasLink(LINK));
}

async function hasSets(open: TracesKernel['openIpset']): Promise<boolean> {
  if (!open) return false;
  let ipset: Awaited<ReturnType<typeof open>>;
  try {
    ipset = await open();
  } catch (error) {
    // Without libipset, no proxy on this host made sets.
    if (error instanceof NetlinkError && error.code === 'ERR_LIBRARY') return false;
    throw error;
  }
  try {
    const names = new Set<string>(SET_ROLES.flatMap((role) => [setOf(role, 4).name, setOf(role, 6).name]));
    return (await ipset.list()).some(({ name }) => names.has(name) || name === REBUILD);
  } finally {
    ipset.close();
  }
}
