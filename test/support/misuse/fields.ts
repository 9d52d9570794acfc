// What the types of arguments do not say: fields that no valid call has, and the names of fields in errors.
import type { Kind, VerbType } from './types.js';
import type { Place } from './values.js';

/** What formatRules() refuses: ipvsadm has no option for it. */
const WITHOUT_OPTION = /^\[0\]\[\]\.realServers\[\]\.encapsulation\.flags$/;
/** What formatRuleset() refuses: half of an interval has no text. */
const HALF_INTERVAL = /\.elements\[\]\.isEnd$/;
/** What the text of a set leaves out, and the reading of one passes over. */
const NOT_SAVED =
  /^\[0\]\[\]\.(set\.(revision|references|elements|memorySize|extended|attributes)|entries\[\]\.attributes)\b/;
const NOT_KNOWN = /^\[1\]\.sets\[\]\.(revision|references|elements|memorySize|extended|attributes)\b/;

/** Fields of a type that the verb refuses, whatever their value. */
export const REFUSED: Readonly<Record<string, RegExp>> = {
  // A range is not an entry, and an added entry has no attributes that were listed.
  'ipset.test': /^\[1\]\.last/,
  'ipset.add': /^\[1\]\.attributes/,
  'ipvs.formatRules': WITHOUT_OPTION,
  'ipvs.formatRulesAsync': WITHOUT_OPTION,
  'nftables/text.formatRuleset': HALF_INTERVAL,
  'nftables/text.formatRulesetAsync': HALF_INTERVAL,
};

/** What of a ruleset its text leaves out; expressions in expressions, times by names of states, and a Map, for which the types have no places. */
const NOT_PRINTED =
  /\.(?:handle|use|owner|after|attributes|userData|keyLength|dataLength|count|backend)\b|\.(?:expressions\[\]|set)\.expressions\[\]\.|\.elements\[\]\.expressions\[\]\.(?:expressions\b|set\.)|\.rules\[\]\..*\.elements\[\]\.expressions\[\]\.|\.objects\[\]\.policy\.|\.links\./;
const MEMBERS_OF_MAP = /^\[1\]\.links\./;
const NESTED_EXPRESSION =
  /\.(?:expressions\[\]|elements\[\]|set)\.expressions\[\]\.|^\[0\]\[\]\.object\.policy\./;

/** Fields of a listed object that a function passes over: what the kernel alone says of it. */
export const PASSED_OVER: Readonly<Record<string, RegExp>> = {
  'ipset.formatEntry': /^\[0\]\.attributes\b/,
  'ipset.definitionOf': /^\[0\]\.(revision|references|elements|memorySize|extended|attributes)\b/,
  'ipset.formatSets': NOT_SAVED,
  'ipset.formatSetsAsync': NOT_SAVED,
  'ipset.parseSets': NOT_KNOWN,
  'ipset.parseSetsAsync': NOT_KNOWN,
  'conntrack.natOf': /^\[0\]\.reply\.icmp\b/,
  'testing.FakeConntrack.track': /^\[0\]\.(family|id|use|counters|start|stop|secctx|reply\.icmp)\b/,
  'library.describeProblem': /^\[0\]\.(value|publicRule|kind|reason|reference)\b/,
  'nftables/text.formatRuleset': NOT_PRINTED,
  'nftables/text.formatRulesetAsync': NOT_PRINTED,
  'nftables/text.parseRuleset': MEMBERS_OF_MAP,
  'nftables/text.parseRulesetAsync': MEMBERS_OF_MAP,
  // Expressions are checked where they are sent, and conditions are made by `match`.
  'nftables/text.expressionsOf': /^\[1\]\[\]\./,
  // The client, whose methods it calls.
  'nftables/text.readRuleset': /^\[0\]\./,
  // The types have no places for an expression in an expression.
  ...Object.fromEntries(
    ['apply', 'addRule', 'insertRule', 'replaceRule'].map((verb) => [`nftables.${verb}`, NESTED_EXPRESSION]),
  ),
  'nftables.addObject': /^\[0\]\.policy\./,
  'nftables.addSet': /^\[0\]\.expressions\[\]\./,
  'nftables.addElements': /\.expressions\[\]\./,
  // The parameters of a query have no names in the types.
  'kubernetes.ApiClient.list': /^\[1\]\./,
  'kubernetes.ApiClient.watch': /^\[1\]\./,
  'conntrack.newFlowOf': /^\[0\]\.(family|id|use|counters|start|stop|secctx|reply\.icmp)\b/,
};

/**
 * Calls of an export that the test of its calls leaves out: of the fakes, the verbs of their clients, which have a test of their own, and
 * events, whose type is the caller's.
 */
export const UNCHECKED: Readonly<Record<string, RegExp>> = {
  // The constructor of an error throws no other one. What reads an entry of a list by its index runs for every endpoint of a cluster.
  library: /Error$|^SliceEndpoints\.(?!of)/,
  kubernetes: /Error$/,
  testing: /^Fake(?:Events\.emit|Ipvs|Ipset|Netlink\.|Nftables|Rtnetlink\.(?!dump)|Conntrack\.(?!track|end))/,
};

/** Objects of which a function takes a part: a flow, a message. */
export const TAKES_A_PART: ReadonlySet<string> = new Set([
  'kubernetes.ApiClient.create[1]',
  // An operation of iptables may be part of an item: all of its fields are required, so that none is misspelt.
  ...['', '.chain', '.rule', '.rules'].map((path) => `testing.FakeIptables.restore[1][]${path}`),
  ...[
    'conntrack.natOf[0]',
    'conntrack.natOf[0].reply',
    ...[0, 1].map((place) => `rtnetlink.sameAddress[${place}]`),
    ...[0, 1].map((place) => `rtnetlink.sameRoute[${place}]`),
    'netlink.genericCommand[0]',
    'netlink.readFamily[0]',
    'testing.FakeEvents.emit[0]',
  ],
]);

/** Objects that are interfaces, which may have other members: parts of the kernel, modes, sources, receivers of reports, parts of rules. */
export const INTERFACES: Readonly<Record<string, RegExp>> = {
  library:
    /^create\w+Mode\[0\]|^createProxy\[0\]\.|\.start\[0\]$|^describeProblem|^ManifestSource\[0\]\.clock$/,
  'nftables/text': /^readRuleset\[0\]$|^expressionsOf\[1\]\[\]$/,
  kubernetes: /^ApiClient\[0\]$|\.(?:environment|client)$|\.start\[0\]$|^ApiSource\.fromKubeConfig\[0\]$/,
};

/** Times that the kernel has in smaller units than the library: fractions are valid. */
const FRACTIONS =
  /\.(forwardDelay|helloTime|maxAge|ageingTime|multicast\w+Interval|rtt|rttVariance|idleTimer|unbalancedTimer)$/;

/** Times of timers in ms, and rates: fractions are valid, and a negative rate is none. */
const TIMES_AND_RATES =
  /\.(auditPeriod|drainBound|rest|restFactor|limit|margin|silence|lost|floor|absent|repeat|pause|first|most|spread|connect|answer|idle|qps)$|\.(watch|interval)\[\]$/;

const COMMENTS = /\.comment$/;
/** Numbers that may be negative. */
const SIGNED =
  /(?:\.(?:base|bondPort|flowTable|flowTables\[\])\.priority|^(?:add|delete)FlowTable \[0\]\.priority|\.broadcastCutoff)$/;

/** Whether a value of no type that the place has is valid all the same. */
export function isValid(verb: string, { path }: Place, kinds: ReadonlySet<Kind>, value: unknown): boolean {
  if ((value === '' || value === 'a\0b') && TEXTS.has(`${verb} ${path}`)) return true;
  if (kinds.has('iterable') && (value instanceof Map || value instanceof Set)) return true;
  // A blank alias removes the one that a link has.
  if (value === '' && path.endsWith('.alias')) return true;
  // A comment may be empty.
  if (value === '' && COMMENTS.test(path) && /^(?:apply|add|insert|replace|formatRuleset)/.test(verb))
    return true;
  if (value instanceof Map && /\[[01]\]\.links$/.test(path)) return true;
  if (value === '' && path.endsWith('.expressions[].prefix')) return true;
  // Ports of a protocol that has none.
  if (
    value === undefined &&
    /^(?:newFlowOf|FakeConntrack\.track) \[0\]\.master\.original\.\w+Port$/.test(`${verb} ${path}`)
  )
    return true;
  // A rule without matches and target, and the rules of a family without any.
  const isRule = /^FakeIptables\.restore .*(?:text|(?:rules|before|after)\[\])$|^FakeIptables\.load \[1\]$/;
  if (value === '' && isRule.test(`${verb} ${path}`)) return true;
  if (TIMES_AND_RATES.test(path) && (value === 1.5 || (value === -1 && path.endsWith('.qps')))) return true;
  if (value === -1 && SIGNED.test(`${verb} ${path}`)) return true;
  if (value instanceof Set && path.endsWith('.cures')) return true;
  if (value instanceof Map && path.endsWith('.settingRules')) return true;
  // It is thrown.
  if (verb === 'throwOnFailure' && path === '[0][]' && value instanceof Error) return true;
  return value === 1.5 && FRACTIONS.test(path);
}

/** Texts of many lines, in which each line that breaks a rule is named; and texts that may be empty. */
const TEXTS: ReadonlySet<string> = new Set([
  ...['describeProblem [0].source', 'describeProblem [0].object', 'describeProblem [0].field'],
  ...['describeProblem [0].rule', 'SliceEndpoints.of [1][].nodeName'],
  ...['connectToApi [0].kubeconfig', 'connectToApi [0].master', 'ApiClient [0].stale'],
  ...['parseSets [0]', 'parseSetsAsync [0]', 'parseRules [0]', 'parseRulesAsync [0]'],
  ...['parseRuleset [0]', 'parseRulesetAsync [0]'],
]);

/** The name of an argument in errors, where it has another name than the parameter. */
const OTHER_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ipvs: { id: 'service' },
  conntrack: { flows: 'flow', operations: 'operation' },
  netlink: { request: 'message', messages: 'message' },
  testing: { operations: 'operation' },
  library: { endpoints: 'endpoint' },
};

/** The names by which an error may call a place: its own, and those of the fields that it should have. */
export function namesOf(
  subpath: string,
  { parameters, places }: VerbType,
  { keys, path }: Place,
): Set<string> {
  const parameter = parameters[Number(keys[0])] ?? '';
  const own = keys.slice(1).findLast((key) => typeof key === 'string');
  const names = new Set<string>();
  if (own === undefined) {
    names.add(parameter);
    const other = OTHER_NAMES[subpath]?.[parameter];
    if (other !== undefined) names.add(other);
  } else names.add(String(own));
  // A verdict, and a checksum, are named as a whole.
  if (/\.(?:verdict|data|checksum)\.(?:verdict|chain|type|offset|pseudoHeader)$/.test(path))
    names.add(String(keys.at(-2)));
  // The two numbers of a range are named together.
  if (own === 'first' || own === 'last') names.add(String(keys.at(-2)));
  for (const inner of places.keys()) if (inner.startsWith(path)) names.add(lastName(inner));
  return names;
}

/** `port` of `service.port`, `labels` of `labels[0]`. */
export function lastName(path: string): string {
  return (
    path
      .replaceAll(/\[\d*\]/g, '')
      .split('.')
      .at(-1) ?? ''
  );
}
