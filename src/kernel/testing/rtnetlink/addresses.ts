// Addresses of links in memory, with the kernel's rules.
import { canonicalAddressAsIs, familyOf, isLinkLocalIPv6 } from '../../net/address.js';
import { NEW_FLAGS } from '../../rtnetlink/addresses/codec.js';
import type { AddressFlag, LinkAddress, LinkAddressId, NewLinkAddress } from '../../rtnetlink/types.js';
import type { Refusal } from '../client.js';
import { networkOf } from './prefix.js';
import { REFUSALS } from './refusals.js';

/** An address whose link has a name. */
type NamedAddress = NewLinkAddress & { readonly link: string };

/** A change of an address. */
type AddressChanged = (address: LinkAddress, deleted: boolean) => void;

/** The addresses of one link. They keep no order among them: deleting the first of a network deletes no other. */
export class FakeAddresses {
  readonly #addresses = new Map<string, LinkAddress>();
  readonly #changed: AddressChanged;

  constructor(changed: AddressChanged) {
    this.#changed = changed;
  }

  list(link: string): LinkAddress[] {
    return [...this.#addresses.values()].map((address) => ({ ...address, link }));
  }

  write(verb: 'add' | 'replace', given: NamedAddress): Refusal | undefined {
    const address = completed(given);
    const key = keyOf(address);
    if (verb === 'add' && this.#addresses.has(key)) return REFUSALS[familyOf(address.address)].assigned;
    this.#addresses.set(key, address);
    this.#changed(address, false);
    return undefined;
  }

  delete(id: LinkAddressId): Refusal | undefined {
    const key = keyOf({ ...id, address: canonicalAddressAsIs(id.address) ?? id.address });
    const held = this.#addresses.get(key);
    if (!held || held.prefix !== id.prefix) return REFUSALS[familyOf(id.address)].notAssigned;
    this.#addresses.delete(key);
    this.#changed(held, true);
    return undefined;
  }
}

function completed({ address: text, peer, broadcast, flags = [], ...given }: NamedAddress): LinkAddress {
  const address = canonicalAddressAsIs(text) ?? text;
  const family = familyOf(address);
  const { validLifetime } = given;
  // The other flags of one that was listed are the kernel's.
  const set: AddressFlag[] = NEW_FLAGS.filter((flag) => flags.includes(flag));
  if (validLifetime === undefined) set.push('permanent');
  const preferred = given.preferredLifetime ?? validLifetime;
  return {
    ...given,
    address,
    ...(peer !== undefined && { peer: canonicalAddressAsIs(peer) ?? peer }),
    ...(broadcast !== undefined && { broadcast }),
    ...(preferred !== undefined && { preferredLifetime: preferred }),
    ...(family === 4 && { label: given.label ?? given.link }),
    scope: scopeOf(address, given),
    flags: set,
  };
}

/** A link has an IPv6 address once, and an IPv4 address once for each network of the other end, as sameAddress() has it. */
function keyOf({ address, prefix, peer = address }: Omit<LinkAddressId, 'link'>): string {
  return familyOf(address) === 6 ? address : `${address} ${networkOf(peer, prefix)}`;
}

/** The kernel gives IPv6 addresses the scope that they have by themselves, and IPv4 addresses the one that is asked for. */
function scopeOf(address: string, { scope }: Pick<NewLinkAddress, 'scope'>): LinkAddress['scope'] {
  if (familyOf(address) === 4) return scope ?? (address.startsWith('127.') ? 'host' : 'global');
  if (address === '::1') return 'host';
  return isLinkLocalIPv6(address) ? 'link' : 'global';
}
