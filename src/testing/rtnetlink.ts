// Links and addresses that live in memory.
import type { OperationResult } from '../kernel/ipvs/types.js';
import type { Link, LinkAddress, RtnetlinkOperation } from '../kernel/rtnetlink/types.js';
import { familyOf } from '../net/address.js';
import { attempt, type Fault, type Faults } from './faults.js';

/** A fake of rtnetlink. */
export class FakeRtnetlink implements Faults {
  fault: Fault = () => undefined;
  readonly #links = new Map<string, { link: Link; addresses: Map<string, LinkAddress> }>();

  async getLink(name: string): Promise<Link | undefined> {
    return this.#links.get(name)?.link;
  }

  async listAddresses(link?: string): Promise<LinkAddress[]> {
    const links = [...this.#links.values()].filter((held) => link === undefined || held.link.name === link);
    return links.flatMap(({ addresses }) => [...addresses.values()]);
  }

  async apply(operations: readonly RtnetlinkOperation[]): Promise<OperationResult[]> {
    return operations.map((operation) => {
      const target = 'name' in operation ? operation.name : operation.address.address;
      return attempt(this, `rtnetlink.${operation.do}`, target, () => this.#do(operation));
    });
  }

  /** What `ip addr show dev LINK` prints, as far as addresses go. */
  dump(name: string): string {
    const held = this.#links.get(name);
    if (!held) return '';
    const addresses = [...held.addresses.values()].map(
      ({ address, prefix }) =>
        `inet${familyOf(address) === 6 ? '6' : ''} ${address}/${prefix} scope global ${name}\n`,
    );
    return `${name}: <BROADCAST,NOARP> mtu 1500 qdisc noop state DOWN group default\n${addresses.sort().join('')}`;
  }

  #do(operation: RtnetlinkOperation): string | undefined {
    if ('name' in operation) {
      const there = this.#links.has(operation.name);
      if (operation.do === 'deleteLink') return this.#links.delete(operation.name) ? undefined : 'ENODEV';
      if (there) return 'EEXIST';
      const index = this.#links.size + 1;
      const link = { index, name: operation.name, kind: operation.kind, flags: 0, mtu: 1500, up: false };
      this.#links.set(operation.name, { link, addresses: new Map() });
      return undefined;
    }
    const { link, address, prefix } = operation.address;
    const addresses = this.#links.get(link)?.addresses;
    if (!addresses) return 'ENODEV';
    const key = `${address}/${prefix}`;
    if (operation.do === 'deleteAddress') return addresses.delete(key) ? undefined : 'EADDRNOTAVAIL';
    if (addresses.has(key)) return 'EEXIST';
    addresses.set(key, { link, address, prefix, scope: 0, flags: 0 });
    return undefined;
  }
}
