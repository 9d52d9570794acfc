// The chains that distribute connections over the endpoints of a Service port. Most items of a large cluster are such chains. They
// have no texts of rules: their rules are made when they are read.
import type { Family } from '../../../../kernel/net/address.js';
import type { AddressPorts } from '../../../../kernel/net/addressPorts.js';
import type { Protocol } from '../../../../kernel/net/protocol.js';
import { equalTexts } from '../../iptablesRules/plan/describe.js';
import type { ChainItem } from './items.js';
import { endpointChain } from './names.js';
import { chance, comment, hostNetwork, recentList, weightedChance } from './ruleText.js';

/** The facts of a Service port that the rules of its endpoints depend on. */
export interface BalancedPort {
  /** `namespace/name` of the Service. */
  readonly service: string;
  readonly family: Family;
  readonly protocol: Protocol;
  /** Timeout of client-IP affinity, in s; 0 for none. */
  readonly affinitySeconds: number;
  /** Name of the Service port: `default/web:http`. */
  readonly name: string;
  /** Rules of endpoints have comments: not in large clusters. */
  readonly comments: boolean;
}

/** A chain of a Service port whose rules follow from the port. */
abstract class PortChain implements ChainItem {
  readonly port: BalancedPort;
  readonly name: string;

  constructor(port: BalancedPort, name: string) {
    this.port = port;
    this.name = name;
  }

  get kind() {
    return 'chain' as const;
  }

  get table() {
    return 'nat' as const;
  }

  get family(): Family {
    return this.port.family;
  }

  get service(): string {
    return this.port.service;
  }

  abstract get rules(): string[];

  abstract get ruleCount(): number;

  /** Whether the rules of the other chain, which has the same name, depend on the same facts. The name is a hash of the others. */
  protected hasSamePort({ port }: PortChain): boolean {
    return port.affinitySeconds === this.port.affinitySeconds && port.comments === this.port.comments;
  }

  /** A rule's comment, followed by a space: the name of the port, and more. */
  protected comment(more: string): string {
    const { name, comments } = this.port;
    return comments ? `${comment(name + more)} ` : '';
  }
}

/** The chain of an endpoint: masquerades the traffic of the endpoint to itself, and translates the destination. */
export class EndpointChain extends PortChain {
  /** `10.0.0.1:80`, `[fd00::1]:80`. */
  readonly text: string;

  constructor(port: BalancedPort, text: string) {
    super(port, endpointChain(port.name, port.protocol, text));
    this.text = text;
  }

  get rules(): string[] {
    const { family, protocol, affinitySeconds } = this.port;
    const own = this.comment('');
    const remember = affinitySeconds > 0 ? `-m recent --set ${recentList(this.name, family)} ` : '';
    return [
      `-s ${hostNetwork(addressIn(this.text), family)} ${own}-j KUBE-MARK-MASQ`,
      `-p ${protocol} ${own}${remember}-m ${protocol} -j DNAT --to-destination ${this.text}`,
    ];
  }

  get ruleCount(): number {
    return 2;
  }

  hasSameRules(other: ChainItem): boolean {
    return other instanceof EndpointChain && other.name === this.name && this.hasSamePort(other);
  }
}

/** The chain that selects an endpoint: first the one to which the client was connected before, then a random one. */
export class BalancingChain extends PortChain {
  readonly #first: readonly string[];
  readonly #endpoints: readonly EndpointChain[];
  /** The weight of each endpoint; undefined: all are equal. */
  readonly #weights: readonly number[] | undefined;

  /**
   * @param first rules that precede those of endpoints
   * @param weights of the endpoints, in their order; undefined: all are equal
   */
  constructor(
    port: BalancedPort,
    name: string,
    first: readonly string[],
    endpoints: readonly EndpointChain[],
    weights?: readonly number[],
  ) {
    super(port, name);
    this.#first = first;
    this.#endpoints = endpoints;
    this.#weights = weights;
  }

  hasSameRules(other: ChainItem): boolean {
    if (!(other instanceof BalancingChain) || other.name !== this.name || !this.hasSamePort(other))
      return false;
    const before = other.#endpoints;
    return (
      equalTexts(other.#first, this.#first) &&
      before.length === this.#endpoints.length &&
      before.every(({ text }, i) => text === this.#endpoints[i]?.text) &&
      before.every((_, i) => other.#weights?.[i] === this.#weights?.[i])
    );
  }

  get rules(): string[] {
    const { affinitySeconds, family } = this.port;
    const rules = [...this.#first];
    if (affinitySeconds > 0) {
      for (const { text, name } of this.#endpoints) {
        const list = `--rcheck --seconds ${affinitySeconds} --reap ${recentList(name, family)}`;
        rules.push(`${this.comment(` -> ${text}`)}-m recent ${list} -j ${name}`);
      }
    }
    const chances = this.#weights ? weightedChances(this.#weights) : equalChances(this.#endpoints.length);
    for (const [i, { text, name }] of this.#endpoints.entries())
      rules.push(`${this.comment(` -> ${text}`)}${chances[i]}-j ${name}`);
    return rules;
  }

  get ruleCount(): number {
    const ofEndpoint = this.port.affinitySeconds > 0 ? 2 : 1;
    return this.#first.length + ofEndpoint * this.#endpoints.length;
  }
}

/** Matches of rules of which, one after the other, each selects its endpoint as often as the others. */
export function equalChances(count: number): string[] {
  return Array.from({ length: count }, (_, i) => chance(count - i));
}

/** The same in proportion to weights, of which none is 0. */
export function weightedChances(weights: readonly number[]): string[] {
  let left = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight, i) => {
    const match = i === weights.length - 1 ? '' : weightedChance(weight, left);
    left -= weight;
    return match;
  });
}

/** The chains of endpoints, in the order of their text, as in kube-proxy. */
export function endpointChains(port: BalancedPort, list: AddressPorts): EndpointChain[] {
  const texts: string[] = [];
  for (let i = 0; i < list.size; i++) texts.push(list.textAt(i));
  // The default order: by UTF-16 code units.
  return texts.sort().map((text) => new EndpointChain(port, text));
}

/** The address in `10.0.0.1:80` or `[fd00::1]:80`. */
function addressIn(text: string): string {
  return text.startsWith('[') ? text.slice(1, text.indexOf(']')) : text.slice(0, text.indexOf(':'));
}
