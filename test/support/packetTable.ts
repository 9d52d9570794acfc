// The expected results of packets to virtual IPs: client, frontend, the source address that each endpoint sees, and the
// reason. Derived from the rules of KUBE-SERVICES and the routes of the lab, not from observation.

/** Clients. `itself` is the endpoint on this node; `stranger` is a second address of the machine outside. */
export type Client = 'pod here' | 'itself' | 'pod elsewhere' | 'node' | 'outside' | 'stranger';

/** Frontends; a node port is at the node's own address. */
export type Kind = 'ClusterIP' | 'NodePort' | 'external IP' | 'load-balancer IP';

/** Services of the lab, see packetLab.ts. */
export type ServiceName =
  | 'open'
  | 'local'
  | 'away'
  | 'inner'
  | 'alike'
  | 'empty'
  | 'lan'
  | 'strangers'
  | 'sticky';

/** The source address that an endpoint sees, or another result of a packet. */
export type Seen =
  /** The client's address. */
  | 'client'
  /** The node's address on the link to the endpoint: masqueraded. */
  | 'node'
  /** The destination address. It is the node's own, and therefore also the source when the node connects to it. */
  | 'dialled'
  /** The endpoint is selected, but its reply does not reach the client as a reply. */
  | 'lost'
  /** The endpoint is never selected. */
  | 'none'
  /** No endpoint is selected, and the client gets no answer. */
  | 'dropped'
  | 'refused';

/** Results of two connections, one for each endpoint: the endpoint on this node, and the one on the other node. */
export type Row = readonly [client: Client, here: Seen, there: Seen, because: string];

/** Rows about one frontend. */
export interface Frontend {
  readonly about: string;
  readonly service: ServiceName;
  readonly kind: Kind;
  readonly rows: readonly Row[];
}

const PODS_KEEP = 'packets to KUBE-CLUSTER-IP are masqueraded only if the source is outside the cluster CIDR';
const NODE_TO_CLUSTER_IP =
  'its source is the cluster IP itself, which is outside the cluster CIDR: masqueraded';
const NOT_A_POD = 'it is outside the cluster CIDR: masqueraded';
const HAIRPIN =
  'KUBE-LOOP-BACK masquerades packets of an endpoint to itself; no other rule masquerades pods here';
const SHORT_WAY = 'the source is kept, and the pod on the client’s bridge replies directly, without the NAT';
const ALL_MARKED = (set: string) => `with policy Cluster, all packets to ${set} are masqueraded`;
const KEPT = (set: string) => `${set} is exempt from masquerading, so that the endpoint sees its client`;
const KEPT_ITSELF = 'exempt from masquerading as a client, but not from KUBE-LOOP-BACK as its own endpoint';
const OWN_SOURCE =
  'the node connects to its own address, which is also its source, and nothing is masqueraded';
const FALLBACK = 'without a local endpoint the cluster’s are used; the reply returns through this node';
const FALLBACK_SHORT =
  'without a local endpoint the cluster’s are used; they reply directly to the client, without the NAT';
const FALLBACK_OWN =
  'without a local endpoint the cluster’s are used; the reply returns, because the lab routes virtual IPs to this node';
const NO_LOCAL =
  'internalTrafficPolicy Local without a local endpoint or another frontend that needs the cluster’s: no real server';

/** Policy Cluster: everything is masqueraded, for all clients. */
const everybodyMarked = (set: string): Row[] =>
  (['pod here', 'itself', 'pod elsewhere', 'node', 'outside'] as const).map((client) => [
    client,
    'node',
    'node',
    ALL_MARKED(set),
  ]);

/** Policy Local with a local endpoint: only a pod that connects to itself is masqueraded. */
const clientsKept = (set: string): Row[] => [
  ['pod here', 'client', 'none', KEPT(set)],
  ['itself', 'node', 'none', KEPT_ITSELF],
  ['pod elsewhere', 'client', 'none', KEPT(set)],
  ['node', 'dialled', 'none', OWN_SOURCE],
  ['outside', 'client', 'none', KEPT(set)],
];

/** Policy Local without a local endpoint. */
const FALLEN_BACK: readonly Row[] = [
  ['pod here', 'none', 'client', FALLBACK],
  ['pod elsewhere', 'none', 'lost', FALLBACK_SHORT],
  ['node', 'none', 'dialled', FALLBACK_OWN],
  ['outside', 'none', 'lost', FALLBACK_SHORT],
];

/** Each row is valid for TCP and UDP, IPv4 and IPv6. */
export const TABLE: readonly Frontend[] = [
  {
    about: 'ClusterIP, internal policy Cluster',
    service: 'open',
    kind: 'ClusterIP',
    rows: [
      ['pod here', 'client', 'client', PODS_KEEP],
      ['itself', 'node', 'client', HAIRPIN],
      ['pod elsewhere', 'client', 'lost', SHORT_WAY],
      ['node', 'node', 'node', NODE_TO_CLUSTER_IP],
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
      ['node', 'node', 'none', NODE_TO_CLUSTER_IP],
      ['outside', 'node', 'none', NOT_A_POD],
    ],
  },
  {
    about: 'ClusterIP only, internal policy Local, no local endpoint',
    service: 'inner',
    kind: 'ClusterIP',
    rows: [
      ['pod here', 'refused', 'refused', NO_LOCAL],
      ['pod elsewhere', 'refused', 'refused', NO_LOCAL],
      ['node', 'refused', 'refused', NO_LOCAL],
      ['outside', 'refused', 'refused', NO_LOCAL],
    ],
  },
  {
    about: 'ClusterIP with other frontends, internal policy Local, no local endpoint',
    service: 'away',
    kind: 'ClusterIP',
    rows: [
      ['pod here', 'none', 'client', `${FALLBACK}, and ${PODS_KEEP}`],
      ['pod elsewhere', 'none', 'lost', FALLBACK_SHORT],
      ['node', 'none', 'node', NODE_TO_CLUSTER_IP],
      ['outside', 'none', 'node', NOT_A_POD],
    ],
  },
  {
    about: 'ClusterIP with the port number of another Service’s node port',
    service: 'alike',
    kind: 'ClusterIP',
    rows: [
      [
        'pod here',
        'node',
        'node',
        'KUBE-NODE-PORT matches only the port, and a virtual IP is a local address',
      ],
    ],
  },
  {
    about: 'NodePort, external policy Cluster',
    service: 'open',
    kind: 'NodePort',
    rows: everybodyMarked('KUBE-NODE-PORT-TCP and -UDP'),
  },
  {
    about: 'NodePort, external policy Local',
    service: 'local',
    kind: 'NodePort',
    rows: clientsKept('KUBE-NODE-PORT-LOCAL-TCP and -UDP'),
  },
  {
    about: 'NodePort, external policy Local, no local endpoint',
    service: 'away',
    kind: 'NodePort',
    rows: FALLEN_BACK,
  },
  {
    about: 'external IP, external policy Cluster',
    service: 'open',
    kind: 'external IP',
    rows: everybodyMarked('KUBE-EXTERNAL-IP'),
  },
  {
    about: 'external IP, external policy Local',
    service: 'local',
    kind: 'external IP',
    rows: clientsKept('KUBE-EXTERNAL-IP-LOCAL'),
  },
  {
    about: 'external IP, external policy Local, no local endpoint',
    service: 'away',
    kind: 'external IP',
    rows: FALLEN_BACK,
  },
  {
    about: 'load-balancer IP, external policy Cluster',
    service: 'open',
    kind: 'load-balancer IP',
    rows: everybodyMarked('KUBE-LOAD-BALANCER'),
  },
  {
    about: 'load-balancer IP, external policy Local',
    service: 'local',
    kind: 'load-balancer IP',
    rows: clientsKept('KUBE-LOAD-BALANCER-LOCAL'),
  },
  {
    about: 'load-balancer IP, external policy Local, no local endpoint',
    service: 'away',
    kind: 'load-balancer IP',
    rows: FALLEN_BACK,
  },
];

/** The clients that source ranges accept. */
export type Admission = readonly [client: Client, kind: Kind, 'admitted' | 'dropped', because: string];

const IN_RANGE = 'KUBE-LOAD-BALANCER-SOURCE-CIDR has its network';
const OUT_OF_RANGE = 'in no range: KUBE-SOURCE-RANGES-FIREWALL drops packets that it does not return';
const POD_OUT_OF_RANGE = `no exception for pods: ${OUT_OF_RANGE}`;
const NOT_GUARDED = 'source ranges apply only to load-balancer IPs';

/** Services with source ranges: `lan` accepts the nodes' network, `strangers` that of the stranger. */
export const ADMISSIONS: Readonly<Record<'lan' | 'strangers', readonly Admission[]>> = {
  lan: [
    ['outside', 'load-balancer IP', 'admitted', IN_RANGE],
    ['stranger', 'load-balancer IP', 'dropped', OUT_OF_RANGE],
    ['pod here', 'load-balancer IP', 'dropped', POD_OUT_OF_RANGE],
    ['pod elsewhere', 'load-balancer IP', 'dropped', POD_OUT_OF_RANGE],
    ['node', 'load-balancer IP', 'admitted', 'the node’s own address is in a range, and represents the node'],
    ['stranger', 'ClusterIP', 'admitted', NOT_GUARDED],
    ['stranger', 'NodePort', 'admitted', NOT_GUARDED],
    ['stranger', 'external IP', 'admitted', NOT_GUARDED],
  ],
  strangers: [
    ['outside', 'load-balancer IP', 'dropped', OUT_OF_RANGE],
    ['stranger', 'load-balancer IP', 'admitted', IN_RANGE],
    ['pod here', 'load-balancer IP', 'dropped', POD_OUT_OF_RANGE],
    ['node', 'load-balancer IP', 'dropped', 'the node’s own address is in no range: KUBE-IPVS-OUT-FILTER'],
  ],
};
