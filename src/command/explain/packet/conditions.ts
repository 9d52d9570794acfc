// Tests the conditions of rules on a packet. An unknown condition is never assumed to be true or false.
import { networkContains, parseNetwork } from '../../../kernel/net/network.js';
import { type IpProtocol, PROTOCOL_NUMBERS } from '../../../kernel/net/protocol.js';
import type { Packet, RuleContext, Tested } from './packet.js';
import { type Condition, optionValue } from './ruleText.js';
import { testSet } from './setMatch.js';

/** The result of a test, and the reason in words if it matches. */
export interface ConditionTest {
  readonly matches: Tested;
  readonly because?: string;
  /** The probability of a match, if chance decides; `matches` is undefined then. */
  readonly chance?: number;
}

/** The result without negation, and the reasons in words for both results. */
interface PlainTest extends ConditionTest {
  readonly otherwise?: string;
}

/** @param rule all conditions of the rule: some options of a match refer to its other options */
type Test = (
  values: readonly string[],
  packet: Packet,
  node: RuleContext,
  rule: readonly Condition[],
) => PlainTest;

const known = (matches: Tested): PlainTest => ({ matches });

/** By option, as iptables-save prints it. */
const TESTS: Readonly<Record<string, Test>> = {
  '-s': ([network = ''], { source }) => ({
    matches: isIn(network, source),
    because: `the source ${source} is in ${network}`,
    otherwise: `the source ${source} is not in ${network}`,
  }),
  '-d': ([network = ''], { destination }) => ({
    matches: isIn(network, destination),
    because: `the destination ${destination} is in ${network}`,
    otherwise: `the destination ${destination} is not in ${network}`,
  }),
  '-p': ([protocol = ''], packet) => known(isProtocol(protocol, packet)),
  '-i': ([pattern = ''], { input }) => ({
    matches: input !== undefined && isLink(pattern, input),
    because: `the packet arrived on ${input}`,
    otherwise: `the packet did not arrive on ${pattern}`,
  }),
  '-o': ([pattern = ''], { output }) => known(output !== undefined && isLink(pattern, output)),
  '--dport': ([range = ''], { port }) => known(isPort(range, port)),
  '--sport': ([range = ''], { sourcePort }) => known(isPort(range, sourcePort)),
  '--dports': ([list = ''], { port }) => known(isPortOf(list, port)),
  '--sports': ([list = ''], { sourcePort }) => known(isPortOf(list, sourcePort)),
  '--match-set': ([name = '', directions = ''], packet, { sets }) => {
    const { matches, entry } = testSet(sets.get(name), directions, packet);
    const otherwise = `set ${name} does not contain the packet`;
    return { matches, because: `set ${name} has ${entry}`, otherwise };
  },
  '--dst-type': ([type], { destination }, { isLocal }) => ({
    matches: type === 'LOCAL' ? isLocal(destination) : undefined,
    because: `${destination} is an address of this node`,
  }),
  '--src-type': ([type], { source }, { isLocal }) => known(type === 'LOCAL' ? isLocal(source) : undefined),
  '--mark': ([written = ''], { mark }) => {
    const [value = 0, bits = 0xffff_ffff] = written.split('/').map(Number);
    return {
      matches: (mark & bits) >>> 0 === value >>> 0,
      because: `the packet has mark ${hex(value)}`,
      otherwise: `the packet does not have mark ${hex(value)}`,
    };
  },
  '--ctstate': ([states = ''], { state, translated = false }) =>
    known(states.split(',').some((each) => each === state || (each === 'DNAT' && translated))),
  '--physdev-is-in': (_values, { fromBridgePort }) => known(fromBridgePort),
  '--vproto': ([number], { via }) => known(via !== undefined && numberOf(via.protocol) === Number(number)),
  '--vaddr': ([address = ''], { via }) => ({
    matches: via !== undefined && isIn(address, via.address),
    because: `its virtual service has the address ${address}`,
  }),
  '--vport': ([port], { via }) => known(via !== undefined && via.port === Number(port)),
  // Matches of nfacct and `recent --set` count or record the packet, and match always.
  '--nfacct-name': () => known(true),
  '--set': () => known(true),
  '--rcheck': (_values, packet, node, rule) =>
    known(node.isRecent?.(optionValue(rule, '--name') ?? '', packet)),
  '--mode': ([mode]) => known(mode === 'random' || undefined),
  '--probability': ([written]) => {
    const chance = Number(written);
    return { matches: undefined, chance, because: `selected with probability ${percent(chance)}` };
  },
  ...Object.fromEntries(
    ['--seconds', '--reap', '--name', '--mask', '--rsource'].map((option) => [option, refinesRecent]),
  ),
};

/** Options that refine `--rcheck` or `--set` of the match `recent`. */
function refinesRecent(...[, , , rule]: Parameters<Test>): PlainTest {
  return known(rule.some(({ option }) => option === '--rcheck' || option === '--set') || undefined);
}

/**
 * Tests a condition; undefined if its option, or a value of it, is unknown.
 *
 * @param rule all conditions of its rule
 */
export function testCondition(
  condition: Condition,
  packet: Packet,
  node: RuleContext,
  rule: readonly Condition[],
): ConditionTest {
  const test = Object.hasOwn(TESTS, condition.option) ? TESTS[condition.option] : undefined;
  if (!test) return { matches: undefined };
  const { matches, because, otherwise, chance } = test(condition.values, packet, node, rule);
  const negated = matches === undefined ? undefined : !matches;
  const reason = condition.negated ? otherwise : because;
  return {
    matches: condition.negated ? negated : matches,
    ...(reason === undefined ? {} : { because: reason }),
    ...(chance === undefined ? {} : { chance: condition.negated ? 1 - chance : chance }),
  };
}

/** A probability in percent, rounded to two decimals: `33.33 %`. */
export function percent(chance: number): string {
  return `${Number((chance * 100).toFixed(2))} %`;
}

function hex(mark: number): string {
  return `0x${mark.toString(16)}`;
}

function isIn(text: string, address: string): Tested {
  const full = text.includes(':') ? 128 : 32;
  const network = parseNetwork(text.includes('/') ? text : `${text}/${full}`);
  return network && networkContains(network, address);
}

/** `tcp`, a number, or `all`. Names of other protocols cannot be those of the packet. */
function isProtocol(written: string, { protocol }: Packet): boolean {
  if (written === 'all' || written === '0') return true;
  return written === protocol || Number(written) === PROTOCOL_NUMBERS[protocol];
}

/** A name, or the beginning of one before `+`. */
function isLink(pattern: string, name: string): boolean {
  return pattern.endsWith('+') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** `80`, `30000:32767`. */
function isPort(range: string, port: number): boolean {
  const [first = 0, last = first] = range.split(':').map(Number);
  return port >= first && port <= last;
}

function isPortOf(list: string, port: number): boolean {
  return list.split(',').some((range) => isPort(range, port));
}

function numberOf(protocol: IpProtocol): number {
  return typeof protocol === 'number' ? protocol : PROTOCOL_NUMBERS[protocol];
}
