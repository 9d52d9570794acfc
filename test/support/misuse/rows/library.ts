// Valid calls of the main export and of `/kubernetes`.
import {
  IPTABLES_DEFAULTS,
  IPVS_DEFAULTS,
  type LocalDetector,
  NFTABLES_DEFAULTS,
} from '../../../../src/proxy/index.js';
import type { AnyRows } from '../calls.js';

/** An object with these methods, which do nothing. */
function methods(...names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, () => undefined]));
}

const SYSCTL = { ...methods('read', 'write'), onBatch: () => {} };
const IPTABLES = {
  ...methods('chains', 'save', 'saveTables', 'listRules', 'restore'),
  ...methods('onBatch', 'onFallback', 'onReplaced'),
};
const NFTABLES = {
  ...methods('apply', 'generation', 'getChain', 'getElements', 'getSet', 'getTable'),
  ...methods('listChains', 'listElementBytes', 'listElements', 'listFlowTables', 'listRules'),
  ...methods('listObjects', 'listSets', 'listTables', 'watchCommits', 'onBatch', 'port'),
};
const DETECTORS: readonly LocalDetector[] = [
  { by: 'network', networks: { 4: '10.244.0.0/16', 6: 'fd00:244::/56' } },
  { by: 'nodeNetwork' },
  { by: 'interface', match: 'cni0' },
];
const KERNEL = {
  ipvs: methods('listServices', 'listServers', 'get', 'apply', 'applyChanges', 'timeouts', 'setTimeouts'),
  ipset: methods('list', 'get', 'apply'),
  rtnetlink: methods('getLink', 'listLinks', 'listAddresses', 'listRules', 'listRoutes', 'apply'),
  iptables: IPTABLES,
  sysctl: SYSCTL,
  nftables: {
    ...methods('apply', 'generation', 'getChain', 'getElements', 'getTable', 'listChains', 'listElements'),
    ...methods('listRules', 'listSets', 'listTables', 'watchCommits', 'port'),
  },
  otherEntries: () => {},
  foreignChains: methods('take'),
  watchHost: () => {},
};
const IPVS = { ...IPVS_DEFAULTS, excludeCIDRs: ['10.0.0.0/8'], kernelRelease: '6.1.0' };
const MODE = {
  name: 'map',
  auditPeriod: 30_000,
  host: { ...methods('facts', 'uses', 'usesLink', 'servesOnAll'), podNetworks: true },
  items: {
    ...methods('isOurs', 'isUsed'),
    groups: methods('of', 'affectsNode'),
    keep: methods('found', 'beyond', 'join', 'inFormOf', 'behind', 'contradicts'),
  },
  transactions: methods('dependsOn', 'refusedBy'),
  sharedEndpoints: methods('formOf'),
  pieces: { largest: 2048, ahead: true },
  upkeep: { ownConnections: true, ...methods('due') },
  ...methods('planService', 'planNode', 'compare', 'acknowledged', 'describe'),
  ...methods('prepare', 'apply', 'observe', 'mark', 'observeAlone', 'watch'),
};
const SOURCE_EVENTS = methods('changed', 'problems', 'synced', 'incomplete', 'mended');
const PARTS = {
  source: methods('start', 'stop'),
  mode: MODE,
  formerModes: [{ name: 'ipvs', open: () => {} }],
  drainBound: 1,
  rtnetlink: methods('listAddresses', 'listLinks'),
  conntrack: methods('list', 'deleteFlows'),
  watchHost: () => {},
  watchNodes: () => {},
  nodeName: 'node-a',
  bindAddress: '0.0.0.0',
  externalIPs: true,
  addressRanges: { externalIPs: ['10.0.0.0/8'], loadBalancerIPs: ['demo=10.0.0.0/8'] },
  settingRules: new Map([['scheduler', undefined]]),
  rest: 0,
  restFactor: 1,
  events: {
    ...SOURCE_EVENTS,
    ...methods('queued', 'taken', 'planned', 'refused', 'failed', 'retrying'),
    ...methods('kept', 'switched', 'unswitched', 'reachChanged', 'reachFailed', 'reachJudged'),
  },
};
const ENDPOINT = {
  ...{ address: '10.0.0.1', ready: true, serving: true, terminating: false },
  ...{ nodeName: 'node-a', zone: 'zone-a', zoneHints: ['zone-a'], nodeHints: ['node-a'] },
};

/** Valid calls of functions, constructors (`ManifestSource`) and methods of the main export. */
export const LIBRARY: AnyRows = {
  createIpvsMode: [
    [KERNEL, { ...IPVS, nodePortAddresses: 'primary', cures: new Set(['external-local']) }],
    ...DETECTORS.map((localDetector) => [
      KERNEL,
      { ...IPVS, localDetector, nodePortAddresses: ['10.0.0.0/8'] },
    ]),
  ],
  createIptablesMode: [
    [
      { iptables: IPTABLES, sysctl: SYSCTL, ...methods('mark') },
      { ...IPTABLES_DEFAULTS, nodePortAddresses: 'primary' },
    ],
    ...DETECTORS.map((localDetector) => [
      { iptables: IPTABLES, sysctl: SYSCTL },
      { ...IPTABLES_DEFAULTS, localDetector, nodePortAddresses: ['10.0.0.0/8'] },
    ]),
  ],
  createNftablesMode: [
    [{ nftables: NFTABLES }, { ...NFTABLES_DEFAULTS, nodePortAddresses: 'primary', flowTable: ['eth0'] }],
    [{ nftables: NFTABLES }, { ...NFTABLES_DEFAULTS, localhostRejects: { 4: ['udp'], 6: ['tcp'] } }],
    ...DETECTORS.map((localDetector) => [
      { nftables: NFTABLES },
      { ...NFTABLES_DEFAULTS, localDetector, nodePortAddresses: ['10.0.0.0/8'] },
    ]),
  ],
  createProxy: [[PARTS]],
  describeProblem: [
    [{ source: 'web.yaml', object: 'Service demo/web', field: 'spec', rule: 'must be an object' }],
  ],
  'SliceEndpoints.of': [[4, [ENDPOINT]]],
  ManifestSource: [[{ path: '/nonesuch', follow: false, clock: methods('now', 'set', 'clear') }]],
  'ManifestSource.start': [[SOURCE_EVENTS]],
};

const SIGNAL = AbortSignal.abort();
const BACKOFF = { first: 1, most: 10, spread: 0.5 };
const RATE = { qps: 5.5, burst: 10 };
const TIMEOUTS = { connect: 1, answer: 2, idle: 3 };
const SOURCE = {
  ...{ nodeName: 'node-a', allNodes: true, serviceCIDRs: true, trouble: () => {}, random: () => 0 },
  contact: () => {},
  times: {
    ...{ watch: [1, 2], margin: 1, silence: 1, lost: 1, floor: 1, absent: 1, repeat: 1, backoff: BACKOFF },
    check: { interval: [1, 2], pause: 1 },
  },
};
/** A connection that no request uses. */
export const CONNECTION = {
  server: new URL('http://127.0.0.1:1'),
  proxy: new URL('http://127.0.0.1:2'),
  credentials: async () => assert(),
  stale: '',
};

/** Options of an ApiSource. */
export const API_SOURCE = { ...SOURCE, client: methods('list', 'watch') };

function assert(): never {
  throw new Error('no request is sent');
}

/** The same of `/kubernetes`. */
export const KUBERNETES: AnyRows = {
  connectToApi: [
    [{ kubeconfig: '', master: 'http://127.0.0.1:1', environment: {}, serviceAccount: '/nonesuch' }],
  ],
  ApiClient: [[CONNECTION, { userAgent: 'a/1', rate: RATE, timeouts: TIMEOUTS }]],
  'ApiClient.list': [['/api', { limit: '1' }, () => {}, SIGNAL]],
  'ApiClient.watch': [['/api', { limit: '1' }, { signal: SIGNAL, idle: () => 1, opened: () => {} }]],
  'ApiClient.create': [['/api', {}, SIGNAL]],
  ApiSource: [[API_SOURCE]],
  'ApiSource.start': [[SOURCE_EVENTS]],
  'ApiSource.waitForNode': [[{ ready: () => true, limit: 0, missing: () => {}, signal: SIGNAL }]],
  'ApiSource.fromKubeConfig': [
    [
      {
        getCurrentCluster: () => ({ name: 'a', server: 'http://127.0.0.1:1' }),
        applyToHTTPSOptions: async () => {},
      },
      { ...SOURCE, userAgent: 'a/1', rate: RATE, timeouts: TIMEOUTS },
    ],
  ],
};
