// The expected results of packets to virtual IPs in each mode: client, frontend, the source address that each endpoint
// sees, and the reason. Derived from the rules of kube-proxy and the routes of the lab, not from observation.

/** The modes of the table. */
export type TableMode = 'ipvs' | 'iptables' | 'nftables';

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
  | 'sticky'
  | 'portless';

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
  readonly rows: Readonly<Record<TableMode, readonly Row[]>>;
}

const PODS_KEEP = 'packets to a cluster IP are masqueraded only if the source is outside the cluster CIDR';
const NOT_A_POD = 'its source is outside the cluster CIDR: masqueraded';
const HAIRPIN = 'packets of an endpoint to itself are masqueraded; no other rule masquerades pods here';
const SHORT_WAY = 'the source is kept, and the pod on the client’s bridge replies directly, without the NAT';
const ALL_MARKED =
  'with external policy Cluster, all packets to addresses outside the cluster are masqueraded';

const KEPT = 'its set is exempt from masquerading, so that the endpoint sees its client';
const KEPT_ITSELF = 'exempt from masquerading as a client, but not from KUBE-LOOP-BACK as its own endpoint';
const OWN_SOURCE =
  'the node connects to its own address, which is also its source, and nothing is masqueraded';
const FALLBACK = 'without a local endpoint the cluster’s are used; the reply returns through this node';
const FALLBACK_SHORT =
  'without a local endpoint the cluster’s are used; they reply directly to the client, without the NAT';
const FALLBACK_OWN =
  'without a local endpoint the cluster’s are used; the reply returns, because the lab routes virtual IPs to this node';
const NO_REAL_SERVER =
  'internalTrafficPolicy Local without a local endpoint or another frontend that needs the cluster’s: no real server';

const PODS_CLUSTER =
  'with policy Local, KUBE-EXT sends pods of the cluster to all endpoints, and keeps their source';
const NODE_CLUSTER = 'with policy Local, KUBE-EXT sends the node to all endpoints, masqueraded';
const LOCAL_ONLY = 'with policy Local, KUBE-EXT sends other clients to KUBE-SVL, and keeps their source';
const NO_LOCAL = 'a rule of table filter drops packets to a Service without local endpoints';

const inEachMode = (rows: readonly Row[]) => ({ ipvs: rows, ...withoutVirtualIPs(rows) });

/** The result in the modes that translate destinations by rules: the same chains, with other names in nftables mode. */
const withoutVirtualIPs = (rows: readonly Row[]) => ({ iptables: rows, nftables: rows });

/** The same result for clients at both endpoints. */
const forAll = (clients: readonly Client[], seen: Seen, because: string): readonly Row[] =>
  clients.map((client) => [client, seen, seen, because]);

/** The clients of Services without an endpoint here. */
const NO_ENDPOINT_HERE = ['pod here', 'pod elsewhere', 'node', 'outside'] as const;

/** External policy Cluster: everything is masqueraded, for all clients. */
const EXTERNAL_CLUSTER = inEachMode(
  forAll(['pod here', 'itself', 'pod elsewhere', 'node', 'outside'], 'node', ALL_MARKED),
);

/** The clients to which external policy Local does not apply in iptables mode, with the source that an endpoint on this node sees. */
function toAllEndpoints(ofPod: Seen, ofNode: Seen): readonly Row[] {
  return [
    ['pod here', ofPod, 'client', PODS_CLUSTER],
    ['pod elsewhere', ofPod, 'lost', `${PODS_CLUSTER}; ${SHORT_WAY}`],
    ['node', ofNode, 'node', NODE_CLUSTER],
  ];
}

/** External policy Local with an endpoint on each node. In ipvs mode, only a pod that connects to itself is masqueraded. */
const EXTERNAL_LOCAL: Frontend['rows'] = {
  ipvs: [
    ['pod here', 'client', 'none', KEPT],
    ['itself', 'node', 'none', KEPT_ITSELF],
    ['pod elsewhere', 'client', 'none', KEPT],
    ['node', 'dialled', 'none', OWN_SOURCE],
    ['outside', 'client', 'none', KEPT],
  ],
  ...withoutVirtualIPs([
    ...toAllEndpoints('client', 'node'),
    ['itself', 'node', 'client', `${PODS_CLUSTER}; ${HAIRPIN}`],
    ['outside', 'client', 'none', LOCAL_ONLY],
  ]),
};

/** External policy Local with an endpoint on the other node only. */
const EXTERNAL_AWAY: Frontend['rows'] = {
  ipvs: [
    ['pod here', 'none', 'client', FALLBACK],
    ['pod elsewhere', 'none', 'lost', FALLBACK_SHORT],
    ['node', 'none', 'dialled', FALLBACK_OWN],
    ['outside', 'none', 'lost', FALLBACK_SHORT],
  ],
  ...withoutVirtualIPs([...toAllEndpoints('none', 'none'), ['outside', 'dropped', 'dropped', NO_LOCAL]]),
};

/** A cluster IP with an endpoint on each node. With internal policy Local, only the one on this node is selected. */
function onEachNode(policy: 'Cluster' | 'Local', service: ServiceName): Frontend {
  const there = (seen: Seen) => (policy === 'Cluster' ? seen : 'none');
  return {
    about: `ClusterIP, internal policy ${policy}`,
    service,
    kind: 'ClusterIP',
    rows: inEachMode([
      ['pod here', 'client', there('client'), PODS_KEEP],
      ['itself', 'node', there('client'), HAIRPIN],
      ['pod elsewhere', 'client', there('lost'), policy === 'Cluster' ? SHORT_WAY : PODS_KEEP],
      ['node', 'node', there('node'), NOT_A_POD],
      ['outside', 'node', there('node'), NOT_A_POD],
    ]),
  };
}

const CLUSTER_IP: readonly Frontend[] = [
  onEachNode('Cluster', 'open'),
  onEachNode('Local', 'local'),
  {
    about: 'ClusterIP only, internal policy Local, no local endpoint',
    service: 'inner',
    kind: 'ClusterIP',
    rows: {
      ipvs: forAll(NO_ENDPOINT_HERE, 'refused', NO_REAL_SERVER),
      ...withoutVirtualIPs(forAll(NO_ENDPOINT_HERE, 'dropped', NO_LOCAL)),
    },
  },
  {
    about: 'ClusterIP with other frontends, internal policy Local, no local endpoint',
    service: 'away',
    kind: 'ClusterIP',
    rows: {
      ipvs: [
        ['pod here', 'none', 'client', `${FALLBACK}, and ${PODS_KEEP}`],
        ['pod elsewhere', 'none', 'lost', FALLBACK_SHORT],
        ['node', 'none', 'node', NOT_A_POD],
        ['outside', 'none', 'node', NOT_A_POD],
      ],
      ...withoutVirtualIPs(forAll(NO_ENDPOINT_HERE, 'dropped', NO_LOCAL)),
    },
  },
  {
    about: 'ClusterIP with the port number of another Service’s node port',
    service: 'alike',
    kind: 'ClusterIP',
    rows: {
      ipvs: [
        [
          'pod here',
          'node',
          'node',
          'KUBE-NODE-PORT matches only the port, and a virtual IP is a local address',
        ],
      ],
      ...withoutVirtualIPs([
        ['pod here', 'client', 'client', 'node ports are reached only by packets to addresses of the node'],
      ]),
    },
  },
];

/** Each row is valid for TCP and UDP, IPv4 and IPv6. */
export const TABLE: readonly Frontend[] = [
  ...CLUSTER_IP,
  ...(['NodePort', 'external IP', 'load-balancer IP'] as const).flatMap((kind): Frontend[] => [
    { about: `${kind}, external policy Cluster`, service: 'open', kind, rows: EXTERNAL_CLUSTER },
    { about: `${kind}, external policy Local`, service: 'local', kind, rows: EXTERNAL_LOCAL },
    {
      about: `${kind}, external policy Local, no local endpoint`,
      service: 'away',
      kind,
      rows: EXTERNAL_AWAY,
    },
  ]),
];

/** The clients that source ranges accept, in each mode. */
export type Admission = readonly [client: Client, kind: Kind, 'admitted' | 'dropped', because: string];

const IN_RANGE = 'a source range has its address';
const OUT_OF_RANGE = 'it is in no source range: a rule of table filter drops its packets';
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
    ['node', 'load-balancer IP', 'dropped', `the node’s own address represents it: ${OUT_OF_RANGE}`],
  ],
};
