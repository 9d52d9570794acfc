// The hints of all families: every verb, with every error that the kernel may give. An error without a row has no hint.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptOf as onFlow } from '../../../src/kernel/conntrack/names.js';
import { missingModule, attemptOf as onSet } from '../../../src/kernel/ipset/names.js';
import { attemptOf as onService, schedulerHint } from '../../../src/kernel/ipvs/names.js';
import { NAMING } from '../../../src/kernel/nftables/names.js';
import { unknownKindHint } from '../../../src/kernel/rtnetlink/hints.js';
import { attemptOf as onLink } from '../../../src/kernel/rtnetlink/names.js';
import { type Attempt, toNetlinkError } from '../../../src/kernel/shared/failures.js';
import { CONNTRACK } from '../../support/misuse/rows/conntrack.js';
import { IPSET } from '../../support/misuse/rows/ipset.js';
import { IPVS } from '../../support/misuse/rows/ipvs.js';
import { NFTABLES } from '../../support/misuse/rows/nftables.js';
import { RTNETLINK } from '../../support/misuse/rows/rtnetlink.js';

/** An operation of any family. */
type Given = { readonly do: string } & Readonly<Record<string, unknown>>;

/** How the operations of each family are named, and operations with every field. */
const FAMILIES: Readonly<Record<string, readonly [name: (given: never) => Attempt, operations: unknown]>> = {
  rtnetlink: [onLink, RTNETLINK.apply],
  nftables: [NAMING.attempt, NFTABLES.apply],
  ipset: [onSet, IPSET.apply],
  ipvs: [onService, IPVS.apply],
  conntrack: [onFlow, CONNTRACK.apply],
};

/** Codes of kernels, and those of the library and of ipset that have a hint. */
const CODES = [
  ...[
    'EPERM',
    'ENOENT',
    'ESRCH',
    'ENODEV',
    'EACCES',
    'EBUSY',
    'EEXIST',
    'EINVAL',
    'ENOSPC',
    'ELOOP',
    'ENOMEM',
  ],
  ...['ERANGE', 'ENOTEMPTY', 'ENOTCONN', 'EOPNOTSUPP', 'EAFNOSUPPORT', 'EADDRNOTAVAIL', 'ENETDOWN', 'EAGAIN'],
  ...['ENETUNREACH', 'EHOSTUNREACH', 'ERESTART', 'ENOBUFS', 'EMSGSIZE', 'ERR_UNKNOWN_OUTCOME', 'ERR_LIBRARY'],
  ...['IPSET_ERR_REFERENCED', 'IPSET_ERR_HASH_FULL', 'IPSET_ERR_TIMEOUT', 'IPSET_ERR_COUNTER'],
  ...['IPSET_ERR_COMMENT', 'IPSET_ERR_SKBINFO', 'IPSET_ERR_FIND_TYPE', 'IPSET_ERR_EXIST'],
] as const;
const UNKNOWN_KIND = 'Unknown device type';
const NO_IPVS = 'the kernel has no IPVS';
const NO_LOCAL_TABLE = 'the network namespace has no local routing table';
/** The words of the kernel or the addon beside a code: none, some that no hint knows, and those that hints know. */
const WORDS = [
  ...[undefined, 'Some reason', UNKNOWN_KIND, 'Nexthop device is not up', 'Invalid prefsrc address'],
  ...[NO_IPVS, NO_LOCAL_TABLE],
];

/** Which operations and words a row is for. Default: all. */
interface Condition {
  /** Null: none. */
  readonly said?: RegExp | null;
  readonly when?: (given: Given) => unknown;
}

/** `family.verb` of those with the hint, the code, and a pattern, or what a look at this machine gives. The first row that applies counts. */
type Row = readonly [
  verbs: RegExp,
  code: (typeof CODES)[number] | '*',
  hint: RegExp | ((given: Given) => string | undefined),
  condition?: Condition,
];

const own = (given: Given, field: string) => (given[field] ?? {}) as Readonly<Record<string, unknown>>;
const isIndex = (value: unknown) => typeof value === 'number';
const hops = (given: Given) =>
  [own(given, 'route'), own(given, 'nextHop')].flatMap(
    (way) =>
      [way, ...((way['nextHops'] as undefined | object[]) ?? [])] as Readonly<Record<string, unknown>>[],
  );
const ROUTES = /^rtnetlink\.(add|change|replace|append)(Route|NextHop)$/;
const LINK = /^rtnetlink\.addLink$/;
const ELEMENTS = /^nftables\.addElements$/;
const FLOW = /^conntrack\.(add|update)Flow$/;
const isTunnel = ({ kind }: Given) => /^(gre|gretap|ip6gre|ip6gretap|ip6tnl|ipip|sit)$/.test(String(kind));
const indices = (given: Given) => {
  const settings = own(given, 'settings');
  return [
    ...[given['link'], settings['link'], own(settings as Given, 'vxlan')['link']],
    ...['address', 'neighbour', 'bridgeVlan', 'nextHop', 'entry'].map((name) => own(given, name)['link']),
    own(given, 'entry')['outputLink'],
    ...('route' in given ? hops(given).flatMap(({ link, linkIndex }) => [link, linkIndex]) : []),
  ].filter(isIndex);
};

const TABLE: readonly Row[] = [
  [/^ipvs\.addRealServer$/, '*', /set lo up/, { said: /no local routing table$/ }],
  [/./, 'EPERM', /CAP_(NET|SYS)_ADMIN/, { said: null }],
  [/./, 'ERR_UNKNOWN_OUTCOME', /observe before sending it again/],

  [/^rtnetlink\./, 'ENODEV', /^there is no link with/, { when: (given) => indices(given).length > 0 }],
  [LINK, 'EOPNOTSUPP', ({ kind }) => unknownKindHint(String(kind)), { said: /^Unknown device type$/ }],
  [LINK, 'ENOTCONN', /^the peer of a veth is not set up while/, { when: hasPeerUp }],
  [LINK, 'EEXIST', /^another link has the name \w+, or another tunnel of this kind has/, { when: isTunnel }],
  [LINK, 'EBUSY', /^another tunnel of Geneve/, { said: null, when: ({ kind }) => kind === 'geneve' }],
  [/^rtnetlink\.(add|replace)Address$/, 'EACCES', /^IPv6 is disabled on the link/],
  [ROUTES, 'ENETUNREACH', /or the flag onlink$/, { when: hasGateway }],
  [ROUTES, 'EHOSTUNREACH', /or the flag onlink$/, { when: hasGateway }],
  [ROUTES, 'ENETDOWN', /is down: set it up first$/, { said: /is not up$/ }],
  [ROUTES, 'ENETDOWN', /is down: set it up first$/, { said: null }],
  [
    ...([ROUTES, 'EINVAL', /must be an address of this host$/] as const),
    { said: /^Invalid prefsrc address$/, when: (given) => own(given, 'route')['preferredSource'] },
  ],
  [/^rtnetlink\.addForwardingEntry$/, 'EEXIST', /in one of its VLANs/, { when: isOfEveryVlan }],

  [/^nftables\.delete/, 'EBUSY', /^delete what refers to it before/],
  [/^nftables\./, 'ERESTART', /^another program has changed the ruleset/],
  [/^nftables\.(add|insert|replace)Rule$/, 'ENOENT', /^its table, its chain or the rule that it names/],
  [
    ...([/^nftables\.addChain$/, 'ENOENT', /^its table or a device does not exist, or/] as const),
    { when: (given) => own(given, 'chain')['base'] },
  ],
  [/^nftables\.addChain$/, 'ENOENT', /^its table does not exist$/],
  [/^nftables\.flushChain$/, 'ENOENT', /^its table or the chain does not exist$/],
  [/^nftables\.addSet$/, 'ENOENT', /^its table does not exist, or the module of an expression/],
  [ELEMENTS, 'ENOENT', /^its table or set does not exist, or a chain/],
  [/^nftables\.flushSet$/, 'ENOENT', /^its table or the set does not exist$/],
  [/^nftables\.addObject$/, 'ENOENT', /^its table does not exist, or the module of objects/],
  [
    /^nftables\.addFlowTable$/,
    'ENOENT',
    /^its table or a device does not exist, or the kernel misses nf_flow_table for the family$/,
  ],
  [ELEMENTS, 'EEXIST', /^a key is there already/, { when: ({ exclusive }) => exclusive }],
  [ELEMENTS, 'EEXIST', /^a key is there with other data/, { when: (given) => own(given, 'set')['data'] }],
  [ELEMENTS, 'EEXIST', /^an interval overlaps another one$/, { when: hasIntervals }],

  [/^ipset\./, 'ERR_LIBRARY', /^install libipset/],
  [/^ipset\.swap$/, 'EBUSY', /^another program lists one of the sets$/],
  [/^ipset\./, 'EBUSY', /^a rule or another set refers to it, or another program lists it$/],
  [/^ipset\./, 'IPSET_ERR_REFERENCED', /^a rule or another set refers to it, or/],
  [/^ipset\./, 'IPSET_ERR_HASH_FULL', /too small a maxElements$/],
  [/^ipset\./, 'IPSET_ERR_TIMEOUT', /created without this extension$/],
  [/^ipset\./, 'IPSET_ERR_COUNTER', /created without this extension$/],
  [/^ipset\./, 'IPSET_ERR_COMMENT', /created without this extension$/],
  [/^ipset\./, 'IPSET_ERR_SKBINFO', /created without this extension$/],
  [/^ipset\./, 'IPSET_ERR_FIND_TYPE', /^the kernel lacks this type of set, or for this family/],
  [/^ipset\./, 'EOPNOTSUPP', /^it needs a newer kernel, or a newer libipset$/],
  [/^ipset\./, 'EINVAL', () => missingModule()],

  [/^ipvs\.startDaemon$/, 'ENODEV', /^there is no such interface/],
  [/^ipvs\.startDaemon$/, 'EEXIST', /^a daemon in this state runs already/],
  [/^ipvs\.startDaemon$/, 'EINVAL', /^the group must be a multicast address, and/],
  [/^ipvs\.(add|update)Service$/, 'ENOENT', schedulerOf, { said: null }],
  [/^ipvs\./, 'ENOENT', /ip_vs/, { said: /has no IPVS$/ }],

  [/^conntrack\.deleteFlow$/, 'EINVAL', /nf_conntrack_netlink/, { said: null }],
  [
    ...([/^conntrack\.updateFlow$/, 'EOPNOTSUPP', /^a flow that began without a helper gets none/] as const),
    { when: helperOf },
  ],
  [/^conntrack\.addFlow$/, 'EOPNOTSUPP', /^load the kernel module of the helper/, { when: helperOf }],
  [FLOW, 'EOPNOTSUPP', /^leave out a field that the kernel was built without$/],
  [FLOW, 'ENOSPC', /^the flow has no labels/, { when: (given) => changesOf(given)['labels'] }],
  [
    ...([FLOW, 'EBUSY', /^the flow has another helper, which stays$/] as const),
    { when: (given) => helperOf(given) && !changesOf(given)['status'] },
  ],
  [/^conntrack\.addFlow$/, 'EEXIST', /^another flow has one of its tuples/],
];

function hasPeerUp(given: Given): boolean {
  return given['kind'] === 'veth' && own(own(given, 'settings') as Given, 'peer')['up'] === true;
}

function hasGateway(given: Given): boolean {
  return hops(given).some(({ gateway }) => gateway !== undefined);
}

function isOfEveryVlan(given: Given): boolean {
  const { master, vlan } = own(given, 'entry');
  return master === true && vlan === undefined;
}

function hasIntervals(given: Given): boolean {
  return String(own(given, 'set')['flags']).includes('interval');
}

function changesOf(given: Given): Readonly<Record<string, unknown>> {
  return own(given, given.do === 'addFlow' ? 'flow' : 'changes');
}

function helperOf(given: Given): unknown {
  return changesOf(given)['helper'];
}

function schedulerOf(given: Given): string | undefined {
  const { scheduler, persistenceEngine } = own(given, 'service') as { [Field in string]?: string };
  return schedulerHint(scheduler, persistenceEngine);
}

const SET = { family: 'ip', table: 't', name: 's', key: 'ipv4_addr' };
const FORWARDED = { link: 'p', hardwareAddress: '02:00:00:00:00:01', master: true };
/** Operations with other hints than those with every field. */
const MORE: Readonly<Record<string, readonly Given[]>> = {
  rtnetlink: [
    { do: 'setLink', link: 7, settings: { up: true } },
    { do: 'addLink', name: 'v', kind: 'veth', settings: { peer: { up: true } } },
    { do: 'addLink', name: 'x', kind: 'nonesuch' },
    { do: 'addForwardingEntry', entry: FORWARDED },
  ],
  nftables: [
    { do: 'addChain', chain: { family: 'ip', table: 't', name: 'c' } },
    { do: 'addElements', set: SET, elements: [] },
    { do: 'addElements', set: { ...SET, flags: ['interval'] }, elements: [] },
    { do: 'addElements', set: { ...SET, data: 'mark' }, elements: [] },
  ],
  conntrack: [
    { do: 'updateFlow', flow: {}, changes: { helper: 'ftp' } },
    { do: 'updateFlow', flow: {}, changes: { mark: 1 } },
    { do: 'updateFlow', flow: {}, changes: { labels: [1] } },
  ],
};

for (const [family, [name, calls]] of Object.entries(FAMILIES)) {
  test(`${family}: each error of each verb has its hint, or none`, () => {
    const given = (calls as readonly (readonly [readonly Given[]])[]).flatMap(([operations]) => operations);
    const wrong: string[] = [];
    const used = new Set<Row>();
    for (const operation of [...given, ...(MORE[family] ?? [])]) {
      const verb = `${family}.${operation.do}`;
      for (const code of CODES) {
        for (const said of WORDS) {
          const row = rowOf(operation, verb, code, said);
          if (row) used.add(row);
          const step = said === undefined ? undefined : 'reply';
          const reported = { errno: 1, code, message: said ?? '', step } as const;
          const { hint } = toNetlinkError(reported, name(operation as never));
          if (!isExpected(hint, row?.[2], operation)) wrong.push(`${verb} ${code} ${said}: ${hint}`);
        }
      }
    }
    assert.deepEqual(wrong, []);
    const own = TABLE.filter(([{ source }]) => source === '.' || source.startsWith(`^${family}`));
    assert.deepEqual(
      own.filter((row) => !used.has(row)),
      [],
      'every row has an operation',
    );
  });
}

function rowOf(given: Given, verb: string, code: string, said: string | undefined): Row | undefined {
  return TABLE.find(([verbs, own, , { said: words, when } = {}]) => {
    if ((own !== '*' && own !== code) || !verbs.test(verb)) return false;
    if (words === null ? said !== undefined : words?.test(said ?? '') === false) return false;
    return when === undefined || Boolean(when(given));
  });
}

function isExpected(hint: string | undefined, expected: Row[2] | undefined, given: Given): boolean {
  if (expected instanceof RegExp) return hint !== undefined && expected.test(hint);
  return hint === expected?.(given);
}
