// Neighbours in memory, with the kernel's rules.
import { constants } from 'node:os';
import { canonicalAddressAsIs, familyOf } from '../../net/address.js';
import type { Neighbour, NeighbourId, NeighbourState, NewNeighbour } from '../../rtnetlink/types.js';
import type { Refusal } from '../client.js';
import { BAD_HARDWARE_ADDRESS, NO_HARDWARE_ADDRESS } from './refusals.js';

const { EEXIST, ENOENT } = constants.errno;

/** A change of a neighbour. */
type NeighbourChanged = (neighbour: Neighbour, deleted: boolean) => void;

/** States in which the hardware address is known (NUD_VALID). */
const WITH_ADDRESS: ReadonlySet<NeighbourState> = new Set([
  'reachable',
  'stale',
  'delay',
  'probe',
  'permanent',
  'noarp',
]);

/** The neighbours of a network namespace. */
export class FakeNeighbours {
  readonly #neighbours = new Map<string, Neighbour>();
  readonly #changed: NeighbourChanged;

  constructor(changed: NeighbourChanged) {
    this.#changed = changed;
  }

  list(): Neighbour[] {
    return [...this.#neighbours.values()];
  }

  get(id: NeighbourId): Neighbour | undefined {
    return this.#neighbours.get(keyOf(id));
  }

  write(
    verb: 'add' | 'change' | 'replace',
    given: NewNeighbour & { readonly link: string },
  ): Refusal | undefined {
    const { link, proxy, hardwareAddress, flags = [], state = 'permanent', protocol } = given;
    const held = this.get(given);
    if (verb === 'add' && held && !proxy) return EEXIST;
    if (verb === 'change' && !held) return ENOENT;
    const known = hardwareAddress?.toLowerCase() ?? held?.hardwareAddress;
    if (!proxy && known === undefined && WITH_ADDRESS.has(state)) return NO_HARDWARE_ADDRESS;
    // The links of the fake are Ethernet.
    if (known !== undefined && known.split(':').length !== 6) return BAD_HARDWARE_ADDRESS;
    const address = canonicalAddressAsIs(given.address) ?? given.address;
    const neighbour: Neighbour = {
      link,
      address,
      family: familyOf(address),
      state: proxy ? 'none' : state,
      flags,
      ...(proxy && { proxy }),
      ...(known !== undefined && !proxy && { hardwareAddress: known }),
      ...(protocol !== undefined && { protocol }),
    };
    this.#neighbours.set(keyOf(given), neighbour);
    this.#changed(neighbour, false);
    return undefined;
  }

  delete(id: NeighbourId): number | undefined {
    const held = this.get(id);
    if (!held) return ENOENT;
    this.#neighbours.delete(keyOf(id));
    this.#changed(held, true);
    return undefined;
  }

  /** Forgets the neighbours of a link. Those that are permanent stay when it only goes down. */
  forget(link: string, deleted: boolean): void {
    for (const neighbour of this.list()) {
      if (neighbour.link === link && (deleted || neighbour.state !== 'permanent')) this.delete(neighbour);
    }
  }
}

function keyOf({ link, address, proxy = false }: NeighbourId): string {
  return `${link} ${canonicalAddressAsIs(address) ?? address} ${proxy}`;
}
