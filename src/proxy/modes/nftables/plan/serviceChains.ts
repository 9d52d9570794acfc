// The chains of a Service port and of its endpoints. Most items of a large cluster are such chains. They have no rules: these are made
// when they are written or compared.

import { type Family, joinHostPort, parseAddressAsIs } from '../../../../kernel/net/address.js';
import type { AddressPorts } from '../../../../kernel/net/addressPorts.js';
import type { Protocol } from '../../../../kernel/net/protocol.js';
import type { NewElement } from '../../../../kernel/nftables/types.js';
import {
  addressIn,
  DROP,
  hasProtocol,
  isOfHost,
  localTraffic,
  type Part,
  type Rule,
  remember,
  rule,
  setMark,
  to,
  toLoaded,
} from '../../nftablesRules/plan/expressions.js';
import { ADDRESS_TYPE, TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import { ownSetName } from '../../nftablesRules/plan/setNames.js';
import type { LocalMatch } from '../../shared/plan/localDetector.js';
import type { ChainItem } from './items.js';
import { endpointText, hashedName } from './names.js';
import { addressInAny } from './ranges.js';

/** A chain whose rules follow from a few facts. */
abstract class OwnChain implements ChainItem {
  readonly family: Family;
  readonly name: string;
  readonly service: string | undefined;

  /** @param service `namespace/name`; undefined if the chain was read */
  constructor(family: Family, name: string, service: string | undefined) {
    this.family = family;
    this.name = name;
    this.service = service;
  }

  get kind() {
    return 'chain' as const;
  }

  abstract get rules(): readonly Rule[];
}

/** `dnat to 10.0.0.1:80` */
function toEndpoint(family: Family, address: string, port: number): Part {
  return [
    { kind: 'immediate', register: 1, data: bytesOf(address) },
    { kind: 'immediate', register: 2, data: Uint8Array.of(port >> 8, port & 255) },
    { kind: 'nat', type: 'dnat', family: TABLE_FAMILY[family], address: 1, port: 2 },
  ];
}

/** Selects an endpoint of a Service port: first the one to which the client was connected before, then a random one. */
export class BalancingChain extends OwnChain {
  readonly protocol: Protocol;
  readonly endpoints: AddressPorts;
  /** With client-IP affinity: the text in the names of the endpoints' chains, see `portText`. */
  readonly affinity: string | undefined;
  /** A single endpoint needs no map, unless there is affinity. */
  readonly direct: boolean;
  /** The number of slots of each endpoint in the map; undefined: each has one. */
  readonly slots: readonly number[] | undefined;

  constructor(
    { family, name, service }: Pick<ChainItem, 'family' | 'name' | 'service'>,
    protocol: Protocol,
    endpoints: AddressPorts,
    { affinity, direct = false, slots }: Partial<Pick<BalancingChain, 'affinity' | 'direct' | 'slots'>> = {},
  ) {
    super(family, name, service);
    this.protocol = protocol;
    this.endpoints = endpoints;
    this.affinity = affinity;
    this.direct = direct;
    this.slots = slots;
  }

  hasSameRules(other: ChainItem): boolean | undefined {
    if (!(other instanceof BalancingChain)) return undefined;
    // The usual change. The rules of tens of thousands of endpoints take as long as the rest of it.
    if (!other.endpoints.equals(this.endpoints)) return false;
    const isSame =
      other.protocol === this.protocol &&
      other.affinity === this.affinity &&
      other.#isDirect === this.#isDirect &&
      other.#hasSameSlots(this);
    return isSame || undefined;
  }

  #hasSameSlots({ slots }: BalancingChain): boolean {
    if (slots === this.slots) return true;
    return (
      slots?.length === this.slots?.length && slots?.every((slot, i) => slot === this.slots?.[i]) === true
    );
  }

  get rules(): readonly Rule[] {
    const { affinity, endpoints, family } = this;
    if (affinity === undefined) {
      const translate = this.#isDirect
        ? toEndpoint(family, endpoints.addressAt(0), endpoints.portAt(0))
        : this.#toRandom();
      return [rule([hasProtocol(this.protocol), translate])];
    }
    const names = inOrder(endpoints, this.slots).map((endpoint) => ({
      ...endpointNames(affinity, endpoint),
      slots: endpoint.slots,
    }));
    return [
      ...names.map(({ chain, set }) => rule([addressIn(family, 'saddr', set), to('goto', chain)])),
      rule([randomChain(names, this.name)]),
    ];
  }

  get #isDirect(): boolean {
    return this.direct && this.affinity === undefined && this.endpoints.size === 1;
  }

  /** `dnat ip to numgen random mod 2 map { 0 : 10.0.0.1 . 80, 1 : 10.0.0.2 . 80 }` */
  #toRandom(): Part {
    const { family } = this;
    const order = inOrder(this.endpoints, this.slots);
    const elements = inSlots(order).map(
      ({ address, port }, slot): NewElement => ({ key: slot, data: [address, port] }),
    );
    return [
      { kind: 'numgen', type: 'random', modulus: elements.length, register: 1 },
      {
        kind: 'lookup',
        set: {
          key: 'integer',
          data: [ADDRESS_TYPE[family], 'inet_service'],
          elements,
          name: ownSetName(this.name, order.map(({ text, slots }) => slotsText(text, slots)).join(' ')),
        },
        source: 1,
        register: 1,
      },
      toLoaded(family),
    ];
  }
}

/** `numgen random mod 2 vmap { 0 : goto …, 1 : goto … }`: continues in the chain of a random endpoint. */
function randomChain(names: readonly { readonly chain: string; readonly slots: number }[], of: string): Part {
  const set = ownSetName(of, names.map(({ chain, slots }) => slotsText(chain, slots)).join(' '));
  const elements = inSlots(names).map(({ chain }, slot): NewElement => {
    return { key: slot, data: { verdict: 'goto', chain } };
  });
  return [
    { kind: 'numgen', type: 'random', modulus: elements.length, register: 1 },
    {
      kind: 'lookup',
      set: { key: 'integer', data: 'verdict', elements, name: set },
      source: 1,
      register: 0,
    },
  ];
}

/** What the slots of a map contain, each once for each of its slots. */
function inSlots<Content extends { readonly slots: number }>(
  contents: readonly Content[],
): readonly Content[] {
  if (contents.every(({ slots }) => slots === 1)) return contents;
  return contents.flatMap((content) => new Array<Content>(content.slots).fill(content));
}

/** The text of what a map contains, with the number of slots if there are several. */
function slotsText(text: string, slots: number): string {
  return slots === 1 ? text : `${text}*${slots}`;
}

/** An endpoint of a list. */
interface Endpoint {
  readonly text: string;
  /** Canonical. */
  readonly address: string;
  readonly port: number;
  /** Number of its slots. */
  readonly slots: number;
}

/** Endpoints in the order of their text, as in kube-proxy: by UTF-16 code units. */
function inOrder(list: AddressPorts, slots: BalancingChain['slots']): Endpoint[] {
  const endpoints: Endpoint[] = [];
  for (let index = 0; index < list.size; index++) {
    const address = list.addressAt(index);
    const port = list.portAt(index);
    endpoints.push({ text: joinHostPort(address, port), address, port, slots: slots?.[index] ?? 1 });
  }
  return endpoints.sort((a, b) => (a.text < b.text ? -1 : 1));
}

/**
 * The names of the chain of an endpoint and of the set of its clients.
 *
 * @param port text in the names, see `portText`
 */
export function endpointNames(
  port: string,
  endpoint: Pick<Endpoint, 'address' | 'port'>,
): { readonly chain: string; readonly set: string } {
  const text = endpointText(port, endpoint.address, endpoint.port);
  return { chain: hashedName('endpoint', text), set: hashedName('affinity', text) };
}

/** The set of an endpoint's clients has the name of its chain, with another beginning. */
const ENDPOINT = 'endpoint';

/** Remembers the client of an endpoint, and translates the destination. */
export class EndpointChain extends OwnChain {
  readonly protocol: Protocol;
  /** Canonical. */
  readonly address: string;
  readonly port: number;

  constructor(
    { family, name, service }: Pick<ChainItem, 'family' | 'name' | 'service'>,
    protocol: Protocol,
    address: string,
    port: number,
  ) {
    super(family, name, service);
    this.protocol = protocol;
    this.address = address;
    this.port = port;
  }

  hasSameRules(other: ChainItem): boolean | undefined {
    const isSame =
      other instanceof EndpointChain &&
      other.protocol === this.protocol &&
      other.address === this.address &&
      other.port === this.port;
    return isSame || undefined;
  }

  get rules(): readonly Rule[] {
    const { family, address, port } = this;
    return [
      rule([remember(family, `affinity${this.name.slice(ENDPOINT.length)}`)]),
      rule([hasProtocol(this.protocol), toEndpoint(family, address, port)]),
    ];
  }
}

/** Where external traffic of a Service port goes. */
interface ExternalTraffic {
  readonly localPolicy: boolean;
  /** The chain of all endpoints. */
  readonly cluster: string;
  /** The chain of the endpoints that the policy allows; undefined if there are none. */
  readonly policy: string | undefined;
  /** How local traffic is detected; undefined if it is not. */
  readonly local: LocalMatch | undefined;
  readonly mark: number;
}

/** External traffic of a Service port. With policy Local, traffic of this node's pods and of the node itself may reach all endpoints. */
export class ExternalChain extends OwnChain {
  readonly traffic: ExternalTraffic;

  constructor(
    { family, name, service }: Pick<ChainItem, 'family' | 'name' | 'service'>,
    traffic: ExternalTraffic,
  ) {
    super(family, name, service);
    this.traffic = traffic;
  }

  hasSameRules(other: ChainItem): boolean | undefined {
    if (!(other instanceof ExternalChain)) return undefined;
    const { localPolicy, cluster, policy, mark } = this.traffic;
    const { traffic } = other;
    // With policy Local, the detection of local traffic may differ: the rules decide.
    const isSame =
      !localPolicy &&
      !traffic.localPolicy &&
      traffic.cluster === cluster &&
      traffic.policy === policy &&
      traffic.mark === mark;
    return isSame || undefined;
  }

  get rules(): readonly Rule[] {
    const { localPolicy, cluster, policy, local, mark } = this.traffic;
    const rules: Rule[] = [];
    if (!localPolicy) rules.push(rule([setMark(mark)], 'masquerade'));
    else {
      const toAll = to('goto', cluster);
      if (local) rules.push(rule([localTraffic(this.family, local), toAll], 'short-circuit pod traffic'));
      rules.push(rule([isOfHost('saddr'), setMark(mark)], 'masquerade local traffic'));
      rules.push(rule([isOfHost('saddr'), toAll], 'short-circuit local traffic'));
    }
    if (policy !== undefined) rules.push(rule([to('goto', policy)]));
    return rules;
  }
}

/** Drops traffic to load-balancer IPs whose source is in none of the networks. */
export class FirewallChain extends OwnChain {
  /** Networks, canonical; at least one. */
  readonly sources: readonly string[];

  constructor(
    { family, name, service }: Pick<ChainItem, 'family' | 'name' | 'service'>,
    sources: readonly string[],
  ) {
    super(family, name, service);
    this.sources = sources;
  }

  hasSameRules(other: ChainItem): boolean | undefined {
    if (!(other instanceof FirewallChain) || other.sources.length !== this.sources.length) return undefined;
    // In another order, they are the same ones.
    return other.sources.every((source, i) => source === this.sources[i]) || undefined;
  }

  get rules(): readonly Rule[] {
    return [rule([addressInAny(this.family, 'saddr', this.sources, this.name, true), DROP])];
  }
}

/** The bytes of a canonical address, in network order. */
function bytesOf(address: string): Uint8Array {
  return parseAddressAsIs(address) as Uint8Array;
}
