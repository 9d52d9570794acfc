// The items that excludeCIDRs protect: they are compared and changed like all others, but never deleted.
import { networkContains, parseNetwork } from '../../../../kernel/net/network.js';
import type { Item } from './items.js';
import type { IpvsOptions } from './options.js';

/** Whether an address is in a network of excludeCIDRs. */
export function excludedAddresses({ excludeCIDRs }: IpvsOptions): (address: string) => boolean {
  const networks = excludeCIDRs.flatMap((text) => parseNetwork(text) ?? []);
  return (address) => networks.some((network) => networkContains(network, address));
}

/** Whether an item must not be deleted: a virtual service in excludeCIDRs and, with `--cures excluded-addresses`, its address. */
export type IsProtected = (item: Item) => boolean;

/** The items that these options protect, whoever added them. */
export function protectedItems(options: IpvsOptions): IsProtected {
  const excluded = excludedAddresses(options);
  const addresses = options.cures.has('excluded-addresses');
  return (item) => {
    if (item.kind === 'virtualService') return excluded(item.service.address);
    return addresses && item.kind === 'address' && excluded(item.address);
  };
}
