// Notices that others changed kube-ipvs0 or its addresses. Without the device no traffic reaches IPVS, so this is not left
// to the next audit.
import { isLinkLocalIPv6 } from '../../net/address.js';
import type { HostAddress, HostChange } from '../../services/types.js';
import type { DisturbedListener } from '../mode.js';
import { type Item, keyOf, LINK, LINK_KEY } from './items.js';
import type { IpvsKernel } from './kernel.js';

/** Watches the device until closed. */
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

function isAboutDevice({ addresses, deletedLinks }: HostChange): boolean {
  return deletedLinks.includes(LINK) || addresses.some(({ link }) => link === LINK);
}

/** Whether a change removed the device, or an address from it, or added an address that is not known. */
function showsTampering(known: ReadonlyMap<string, Item>, { addresses, deletedLinks }: HostChange): boolean {
  if (deletedLinks.includes(LINK)) return known.has(LINK_KEY);
  const last = new Map(
    addresses
      .filter(({ link, address }) => link === LINK && !isLinkLocalIPv6(address))
      .map(({ address, deleted }) => [address, deleted]),
  );
  return [...last].some(([address, deleted]) => known.has(keyOf({ kind: 'address', address })) === deleted);
}

/** Whether the device lacks an address that is known, or has one that is not. */
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
