// Detects that another program changed kube-ipvs0 or its addresses. Without them no traffic reaches IPVS, so the repair
// does not wait for the next audit.
import { isLinkLocalIPv6 } from '../../../../kernel/net/address.js';
import type { HostAddress, HostChange } from '../../../services/types.js';
import type { DisturbedListener } from '../../mode.js';
import { type Item, keyOf, LINK, LINK_KEY } from '../plan/items.js';
import type { IpvsKernel } from './kernel.js';

/** Watches kube-ipvs0 until closed. */
export function watchDevice(
  { rtnetlink }: Pick<IpvsKernel, 'rtnetlink'>,
  watchHost: NonNullable<IpvsKernel['watchHost']>,
  listener: DisturbedListener<Item>,
): Promise<{ close(): void }> {
  return watchHost((change) => {
    if (!change.lost && !isAboutDevice(change)) return;
    listener.disturbed(async (known) => {
      if (!change.lost && !showsTampering(known, change)) return false;
      return differsFrom(known, await rtnetlink.listAddresses());
    });
  });
}

function isAboutDevice({ addresses, links }: HostChange): boolean {
  return isDeleted(links) || addresses.some(({ link }) => link === LINK);
}

/** Whether a change removed kube-ipvs0, removed a known address from it, or added an unknown one. */
function showsTampering(known: ReadonlyMap<string, Item>, { addresses, links }: HostChange): boolean {
  if (isDeleted(links)) return known.has(LINK_KEY);
  const last = new Map(
    addresses
      .filter(({ link, address }) => link === LINK && !isLinkLocalIPv6(address))
      .map(({ address, deleted }) => [address, deleted]),
  );
  return [...last].some(([address, deleted]) => known.has(keyOf({ kind: 'address', address })) === deleted);
}

/** Whether the addresses of kube-ipvs0 differ from the known ones. */
function differsFrom(known: ReadonlyMap<string, Item>, addresses: readonly HostAddress[]): boolean {
  let found = 0;
  for (const { link, address } of addresses) {
    if (link !== LINK || isLinkLocalIPv6(address)) continue;
    if (!known.has(keyOf({ kind: 'address', address }))) return true;
    found++;
  }
  for (const item of known.values()) if (item.kind === 'address') found--;
  return found !== 0;
}

function isDeleted(links: HostChange['links']): boolean {
  return links.some(({ name, deleted }) => deleted && name === LINK);
}
