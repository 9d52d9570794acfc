// VLANs of bridges and their ports in memory, with the kernel's rules.
import { constants } from 'node:os';
import type { BridgeVlan, BridgeVlanId, Link, NewBridgeVlan } from '../../rtnetlink/types.js';
import type { Refusal } from '../client.js';

const { EOPNOTSUPP } = constants.errno;

interface Flags {
  readonly pvid: boolean;
  readonly untagged: boolean;
}

/** The VLANs of one port as long as it has this master, or of a bridge. */
interface Held {
  readonly master: string | undefined;
  readonly vlans: Map<number, Flags>;
}

/** The VLANs of a network namespace. */
export class FakeBridgeVlans {
  readonly #held = new Map<number, Held>();
  readonly #find: (name: string) => Link | undefined;

  constructor(find: (name: string) => Link | undefined) {
    this.#find = find;
  }

  /** Forgets the VLANs of a link that has another master, or is gone. */
  follow({ index, master }: Link, deleted: boolean): void {
    if (deleted || this.#held.get(index)?.master !== master) this.#held.delete(index);
  }

  /** The VLANs of a link: none if it is neither a bridge nor a port of one. */
  list(link: Link): BridgeVlan[] {
    const vlans = [...(this.#of(link)?.vlans ?? [])].sort(([a], [b]) => a - b);
    const self = link.kind === 'bridge';
    return vlans.map(([vlan, flags]) => ({ link: link.name, vlan, self, ...flags }));
  }

  add(link: Link, given: NewBridgeVlan): Refusal | undefined {
    const { vlan, lastVlan = vlan, self = false, pvid = false, untagged = false } = given;
    const held = this.#of(link);
    if (!held || self !== (link.kind === 'bridge')) return EOPNOTSUPP;
    if (pvid) for (const [other, flags] of held.vlans) held.vlans.set(other, { ...flags, pvid: false });
    for (let each = vlan; each <= lastVlan; each++) held.vlans.set(each, { pvid, untagged });
    return undefined;
  }

  delete(link: Link, { vlan, lastVlan = vlan, self = false }: BridgeVlanId): Refusal | undefined {
    const held = this.#of(link);
    if (!held || self !== (link.kind === 'bridge')) return EOPNOTSUPP;
    for (let each = vlan; each <= lastVlan; each++) held.vlans.delete(each);
    return undefined;
  }

  /** A new bridge and a new port have the default VLAN. */
  #of({ index, kind, master, bridge }: Link): Held | undefined {
    const above = master === undefined ? undefined : this.#find(master);
    const settings = kind === 'bridge' ? bridge : above?.kind === 'bridge' ? (above.bridge ?? {}) : undefined;
    if (!settings) return undefined;
    let held = this.#held.get(index);
    if (!held || held.master !== master) {
      const first = settings.vlanDefaultPvid ?? 1;
      held = { master, vlans: new Map(first === 0 ? [] : [[first, { pvid: true, untagged: true }]]) };
      this.#held.set(index, held);
    }
    return held;
  }
}
