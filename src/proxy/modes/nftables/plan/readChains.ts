// The chains of Services as the kernel reports them → items that need little memory, and whose endpoints are known.

import { type Family, formatAddress, joinHostPort } from '../../../../kernel/net/address.js';
import { AddressPorts } from '../../../../kernel/net/addressPorts.js';
import type { Protocol } from '../../../../kernel/net/protocol.js';
import type { AnonymousSet, Expression } from '../../../../kernel/nftables/expressions/types.js';
import { PROTOCOL_NUMBER, type Rule } from '../../nftablesRules/plan/expressions.js';
import { sameRules } from '../../nftablesRules/plan/sameRules.js';
import type { ChainItem } from './items.js';
import { isOfService } from './names.js';
import { BalancingChain, EndpointChain, ExternalChain } from './serviceChains.js';

/** The place of a chain that is read. */
type Place = Pick<ChainItem, 'family' | 'name'> & { readonly service: undefined };

/** The item of a chain with these rules, whose sets of their own have been read. Rules in a form of another program stay as they are. */
export function readChain(chain: ChainItem): ChainItem {
  const { family, name, rules } = chain;
  if (chain.base || !isOfService(name)) return chain;
  const place = { family, name, service: undefined };
  const read = READERS.get(name.slice(0, name.indexOf('-')))?.(place, rules);
  return read && sameRules(read.rules, rules) ? read : chain;
}

/** By the beginning of the name. A reader may return a chain with other rules. */
const READERS: ReadonlyMap<string, (place: Place, rules: readonly Rule[]) => ChainItem | undefined> = new Map(
  [
    ['service', readBalancing],
    ['local', readBalancing],
    ['endpoint', readEndpoint],
    ['external', readExternal],
  ],
);

function readBalancing(place: Place, rules: readonly Rule[]): ChainItem | undefined {
  const set = rules.at(-1)?.expressions.findLast((expression) => expression.kind === 'lookup')?.set;
  if (set === undefined) return readDirect(place, rules[0]);
  if (typeof set === 'string') return undefined;
  return set.data === 'verdict' ? readSticky(place, set) : readRandom(place, rules, set);
}

function readRandom(place: Place, rules: readonly Rule[], set: AnonymousSet): ChainItem | undefined {
  const protocol = protocolOf(rules[0]);
  const texts = set.elements.map(({ data }) => {
    const [address, port] = Array.isArray(data) ? data : [];
    return joinHostPort(String(address), Number(port));
  });
  const endpoints = AddressPorts.ofTexts(place.family, texts);
  const slots = endpoints && slotsIn(endpoints, texts);
  return protocol && endpoints && new BalancingChain(place, protocol, endpoints, { slots });
}

/** The number of slots of each endpoint; undefined if each has one. */
function slotsIn(endpoints: AddressPorts, texts: readonly string[]): readonly number[] | undefined {
  if (endpoints.size === texts.length) return undefined;
  const found = new Map<string, number>();
  for (const text of texts) found.set(text, (found.get(text) ?? 0) + 1);
  return Array.from(endpoints, (text) => found.get(text) ?? 0);
}

/** The text in the name of a chain, behind its hash. */
const TEXT = /^[a-z]+-[A-Z2-7]{8}-(.*)$/;

function readSticky(place: Place, set: AnonymousSet): ChainItem | undefined {
  const port = TEXT.exec(place.name)?.[1];
  const protocol = port?.split('/').at(-2);
  if (port === undefined || protocol === undefined || !isProtocol(protocol)) return undefined;
  const texts = set.elements.map(({ data }) => endpointIn(place.family, port, data));
  const endpoints = AddressPorts.ofTexts(place.family, texts);
  const slots = endpoints && slotsIn(endpoints, texts);
  return endpoints && new BalancingChain(place, protocol, endpoints, { affinity: port, slots });
}

/** The endpoint in the name of its chain, as `address:port`; another text if the name has none. */
function endpointIn(family: Family, port: string, data: unknown): string {
  const { chain = '' } = data as { readonly chain?: string };
  const text = TEXT.exec(chain)?.[1] ?? '';
  if (!text.startsWith(`${port}__`)) return '';
  const [address = '', number = ''] = text.slice(port.length + 2).split('/');
  return joinHostPort(family === 4 ? address : address.replaceAll('.', ':'), number);
}

function readEndpoint(place: Place, [, rule]: readonly Rule[]): ChainItem | undefined {
  const protocol = protocolOf(rule);
  const list = endpointOf(place.family, rule);
  return protocol && list && new EndpointChain(place, protocol, list.addressAt(0), list.portAt(0));
}

/** A chain with one endpoint and no map. */
function readDirect(place: Place, rule: Rule | undefined): ChainItem | undefined {
  const protocol = protocolOf(rule);
  const list = endpointOf(place.family, rule);
  return protocol && list && new BalancingChain(place, protocol, list, { direct: true });
}

/** The endpoint to which a rule translates. */
function endpointOf(family: Family, rule: Rule | undefined): AddressPorts | undefined {
  const [address, port] = (rule?.expressions ?? []).flatMap((expression) =>
    expression.kind === 'immediate' ? [expression.data] : [],
  );
  if (!address || port?.length !== 2) return undefined;
  return addressPort(family, address, ((port[0] as number) << 8) | (port[1] as number));
}

function addressPort(family: Family, address: Uint8Array, port: number): AddressPorts | undefined {
  if (address.length !== (family === 4 ? 4 : 16)) return undefined;
  return AddressPorts.ofTexts(family, [joinHostPort(formatAddress(address), port)]);
}

/** External traffic with policy Cluster. With policy Local, the rules depend on how local traffic is detected. */
function readExternal(place: Place, [marking, leading]: readonly Rule[]): ChainItem | undefined {
  const bits = marking?.expressions[1];
  if (bits?.kind !== 'bitwise' || bits.xor.length !== 4) return undefined;
  const mark = new Uint32Array(Uint8Array.from(bits.xor).buffer)[0] as number;
  const cluster = `service${place.name.slice('external'.length)}`;
  const policy = verdictChain(leading?.expressions[0]);
  return new ExternalChain(place, { localPolicy: false, cluster, policy, local: undefined, mark });
}

function verdictChain(expression: Expression | undefined): string | undefined {
  return expression?.kind === 'verdict' && 'chain' in expression.verdict
    ? expression.verdict.chain
    : undefined;
}

/** The protocol with which a rule begins. */
function protocolOf(rule: Rule | undefined): Protocol | undefined {
  const compared = rule?.expressions[1];
  if (compared?.kind !== 'cmp') return undefined;
  const protocols = Object.keys(PROTOCOL_NUMBER) as Protocol[];
  return protocols.find((protocol) => PROTOCOL_NUMBER[protocol] === compared.data[0]);
}

function isProtocol(text: string): text is Protocol {
  return Object.hasOwn(PROTOCOL_NUMBER, text);
}
