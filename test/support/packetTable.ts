// What becomes of packets to virtual IPs: who dials what, whose source address each endpoint then sees, and why. Derived
// from the rules of KUBE-SERVICES and from how routes and replies run in the lab, not from what was seen to happen.

/** Who dials. `itself` is the endpoint on this node; `stranger` a second address of the machine outside. */
export type Client = 'pod here' | 'itself' | 'pod elsewhere' | 'node' | 'outside' | 'stranger';

/** What is dialled; a node port at the node's own address. */
export type Kind = 'ClusterIP' | 'NodePort' | 'external IP' | 'load-balancer IP';

/** Services of the lab: see packetLab.ts. */
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

/** The source address that an endpoint sees, or what else becomes of a packet. */
export type Seen =
  /** The client's own. */
  | 'client'
  /** The node's, on the device that leads to the endpoint: masqueraded. */
  | 'node'
  /** The address that was dialled: it is the node's own, and so the node's source when it dials it. */
  | 'dialled'
  /** The endpoint is chosen, but its answer never gets back as one. */
  | 'lost'
  /** The endpoint is never chosen. */
  | 'none'
  | 'refused';

/** Two connections, shared by the endpoints in turn: what the endpoint on this node and the one elsewhere see. */
export type Row = readonly [client: Client, here: Seen, there: Seen, because: string];

/** Rows about one frontend. */
export interface Frontend {
  readonly about: string;
  readonly service: ServiceName;
  readonly kind: Kind;
  readonly rows: readonly Row[];
}

const PODS_KEEP =
  'only what comes from outside the cluster CIDR is masqueraded on its way to KUBE-CLUSTER-IP';
const NODE_TO_CLUSTER_IP =
  'its source is the cluster IP itself, which is outside the cluster CIDR: masqueraded';
const NOT_A_POD = 'it is outside the cluster CIDR: masqueraded';
const HAIRPIN =
  'KUBE-LOOP-BACK masquerades what an endpoint sends to itself; nothing else here hides a pod from others';
const SHORT_WAY = 'the source is kept, and the pod next to the client answers it directly, past the NAT';
const ALL_MARKED = (set: string) => `with policy Cluster, all that is sent to ${set} is masqueraded`;
const KEPT = (set: string) => `${set} is exempt from masquerading, so that the endpoint sees its client`;
const KEPT_ITSELF = 'exempt from masquerading as a client, but not from KUBE-LOOP-BACK as its own endpoint';
const OWN_SOURCE =
  'the node dials an address of its own, which then is its source too, and nothing is masqueraded';
const FALLBACK = 'without a local endpoint the cluster’s are used; the answer comes back through this node';
const FALLBACK_SHORT =
  'without a local endpoint the cluster’s are used, whose answer goes directly to the client, past the NAT';
const FALLBACK_OWN =
  'without a local endpoint the cluster’s are used; the answer finds back, since the lab routes virtual IPs to this node';
const NO_LOCAL =
  'internalTrafficPolicy Local without a local endpoint, and no other frontend that would need the cluster’s: no real server';

/** Policy Cluster: everything is masqueraded, whoever dials. */
const everybodyMarked = (set: string): Row[] =>
  (['pod here', 'itself', 'pod elsewhere', 'node', 'outside'] as const).map((client) => [
    client,
    'node',
    'node',
    ALL_MARKED(set),
  ]);

/** Policy Local with a local endpoint: nothing is masqueraded but a pod that reaches itself. */
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

/** Each row holds for TCP and UDP, IPv4 and IPv6. */
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
    about: 'ClusterIP alone, internal policy Local, no local endpoint',
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
    about: 'ClusterIP beside others, internal policy Local, no local endpoint',
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
    about: 'ClusterIP whose port has the number of another Service’s node port',
    service: 'alike',
    kind: 'ClusterIP',
    rows: [
      [
        'pod here',
        'node',
        'node',
        'KUBE-NODE-PORT looks at the port alone, and a virtual IP is a local address',
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

/** Who gets past source ranges. */
export type Admission = readonly [client: Client, kind: Kind, 'admitted' | 'dropped', because: string];

const IN_RANGE = 'KUBE-LOAD-BALANCER-SOURCE-CIDR has its network';
const OUT_OF_RANGE = 'in no range: KUBE-SOURCE-RANGES-FIREWALL drops what it does not return';
const POD_OUT_OF_RANGE = `a pod is nothing special: ${OUT_OF_RANGE}`;
const NOT_GUARDED = 'source ranges are for load-balancer IPs alone';

/** Services with source ranges: `lan` is for the nodes' network, `strangers` for that of the stranger. */
export const ADMISSIONS: Readonly<Record<'lan' | 'strangers', readonly Admission[]>> = {
  lan: [
    ['outside', 'load-balancer IP', 'admitted', IN_RANGE],
    ['stranger', 'load-balancer IP', 'dropped', OUT_OF_RANGE],
    ['pod here', 'load-balancer IP', 'dropped', POD_OUT_OF_RANGE],
    ['pod elsewhere', 'load-balancer IP', 'dropped', POD_OUT_OF_RANGE],
    ['node', 'load-balancer IP', 'admitted', 'the node’s own address is in a range, and stands for the node'],
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
