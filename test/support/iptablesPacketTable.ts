// The expected results of packets in iptables mode, where they follow from its rules. Services and clients are those of
// packetTable.ts. Derived from the rules of kube-proxy and the routes of the lab, not from observation.
import type { Admission, Frontend, Row } from './packetTable.js';

const PODS_KEEP =
  'KUBE-SVC masquerades packets to its cluster IP only if the source is outside the cluster CIDR';
const HAIRPIN = 'KUBE-SEP masquerades packets of the endpoint to itself';
const SHORT_WAY = 'the source is kept, and the pod on the client’s bridge replies directly, without the NAT';
const NOT_A_POD = 'it is outside the cluster CIDR: masqueraded';
const ALL_MARKED = 'with policy Cluster, KUBE-EXT masquerades all packets';
const PODS_CLUSTER =
  'with policy Local, KUBE-EXT sends pods of the cluster to all endpoints, and keeps their source';
const NODE_CLUSTER = 'with policy Local, KUBE-EXT sends the node to all endpoints, masqueraded';
const LOCAL_ONLY = 'with policy Local, KUBE-EXT sends other clients to KUBE-SVL, and keeps their source';
const NO_LOCAL = 'a rule of table filter drops packets to a Service without local endpoints';

/** Policy Cluster at an address outside the cluster network: everything is masqueraded, for all clients. */
const EVERYBODY_MARKED: readonly Row[] = (
  ['pod here', 'itself', 'pod elsewhere', 'node', 'outside'] as const
).map((client) => [client, 'node', 'node', ALL_MARKED]);

/** Policy Local with an endpoint on each node. */
const LOCAL_ENDPOINT: readonly Row[] = [
  ['pod here', 'client', 'client', PODS_CLUSTER],
  ['itself', 'node', 'client', `${PODS_CLUSTER}; ${HAIRPIN}`],
  ['pod elsewhere', 'client', 'lost', `${PODS_CLUSTER}; ${SHORT_WAY}`],
  ['node', 'node', 'node', NODE_CLUSTER],
  ['outside', 'client', 'none', LOCAL_ONLY],
];

/** Policy Local with an endpoint on the other node only. */
const NO_LOCAL_ENDPOINT: readonly Row[] = [
  ['pod here', 'none', 'client', PODS_CLUSTER],
  ['pod elsewhere', 'none', 'lost', `${PODS_CLUSTER}; ${SHORT_WAY}`],
  ['node', 'none', 'node', NODE_CLUSTER],
  ['outside', 'dropped', 'dropped', NO_LOCAL],
];

const DROPPED: readonly Row[] = (['pod here', 'pod elsewhere', 'node', 'outside'] as const).map((client) => [
  client,
  'dropped',
  'dropped',
  NO_LOCAL,
]);

const CLUSTER_IP: readonly Frontend[] = [
  {
    about: 'ClusterIP, internal policy Cluster',
    service: 'open',
    kind: 'ClusterIP',
    rows: [
      ['pod here', 'client', 'client', PODS_KEEP],
      ['itself', 'node', 'client', HAIRPIN],
      ['pod elsewhere', 'client', 'lost', SHORT_WAY],
      ['node', 'node', 'node', NOT_A_POD],
      ['outside', 'node', 'node', NOT_A_POD],
    ],
  },
  {
    about: 'ClusterIP, internal policy Local',
    service: 'local',
    kind: 'ClusterIP',
    rows: [
      ['pod here', 'client', 'none', PODS_KEEP],
      ['itself', 'node', 'none', HAIRPIN],
      ['pod elsewhere', 'client', 'none', PODS_KEEP],
      ['node', 'node', 'none', NOT_A_POD],
      ['outside', 'node', 'none', NOT_A_POD],
    ],
  },
  {
    about: 'ClusterIP only, internal policy Local, no local endpoint',
    service: 'inner',
    kind: 'ClusterIP',
    rows: DROPPED,
  },
  {
    about: 'ClusterIP with other frontends, internal policy Local, no local endpoint',
    service: 'away',
    kind: 'ClusterIP',
    rows: DROPPED,
  },
  {
    about: 'ClusterIP with the port number of another Service’s node port',
    service: 'alike',
    kind: 'ClusterIP',
    rows: [['pod here', 'client', 'client', 'KUBE-NODEPORTS is reached only by packets to local addresses']],
  },
];

/** Each row is valid for TCP and UDP, IPv4 and IPv6. */
export const IPTABLES_TABLE: readonly Frontend[] = [
  ...CLUSTER_IP,
  ...(['NodePort', 'external IP', 'load-balancer IP'] as const).flatMap((kind): Frontend[] => [
    { about: `${kind}, external policy Cluster`, service: 'open', kind, rows: EVERYBODY_MARKED },
    { about: `${kind}, external policy Local`, service: 'local', kind, rows: LOCAL_ENDPOINT },
    {
      about: `${kind}, external policy Local, no local endpoint`,
      service: 'away',
      kind,
      rows: NO_LOCAL_ENDPOINT,
    },
  ]),
];

const IN_RANGE = 'KUBE-FW has its network';
const OUT_OF_RANGE = 'in no range: KUBE-PROXY-FIREWALL drops packets that KUBE-FW does not accept';
const POD_OUT_OF_RANGE = `no exception for pods: ${OUT_OF_RANGE}`;
const NOT_GUARDED = 'source ranges apply only to load-balancer IPs';

/** Services with source ranges: `lan` accepts the nodes' network, `strangers` that of the stranger. */
export const IPTABLES_ADMISSIONS: Readonly<Record<'lan' | 'strangers', readonly Admission[]>> = {
  lan: [
    ['outside', 'load-balancer IP', 'admitted', IN_RANGE],
    ['stranger', 'load-balancer IP', 'dropped', OUT_OF_RANGE],
    ['pod here', 'load-balancer IP', 'dropped', POD_OUT_OF_RANGE],
    ['pod elsewhere', 'load-balancer IP', 'dropped', POD_OUT_OF_RANGE],
    ['node', 'load-balancer IP', 'admitted', IN_RANGE],
    ['stranger', 'ClusterIP', 'admitted', NOT_GUARDED],
    ['stranger', 'NodePort', 'admitted', NOT_GUARDED],
    ['stranger', 'external IP', 'admitted', NOT_GUARDED],
  ],
  strangers: [
    ['outside', 'load-balancer IP', 'dropped', OUT_OF_RANGE],
    ['stranger', 'load-balancer IP', 'admitted', IN_RANGE],
    ['pod here', 'load-balancer IP', 'dropped', POD_OUT_OF_RANGE],
    ['node', 'load-balancer IP', 'dropped', OUT_OF_RANGE],
  ],
};
