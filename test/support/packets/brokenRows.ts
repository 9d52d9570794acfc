// Faults of a node, and the outcome of packets to its Services with each: the commands that break the state and restore it.
import type { CauseCode, Verdict } from '../../../src/command/explain/explanation.js';
import { HERE, THERE } from './packetLab.js';
import type { Client, Kind, ServiceName } from './packetTable.js';

/** A fault. Commands run in the node's network namespace, for IPv4. */
export interface BrokenRow {
  readonly about: string;
  readonly breaks: readonly string[];
  readonly restores: readonly string[];
  readonly client: Client;
  readonly service: ServiceName;
  readonly kind: Kind;
  readonly verdict: Verdict;
  /** The first cause for the user; absent if the explanation shows none. */
  readonly cause?: CauseCode;
  /** The results of two connections: the name of the endpoint and the address that it sees, or the error. */
  readonly results: readonly string[];
}

const VIP = '10.96.30.1';
/** Saves the rules in a file, for {@link RESTORE}. */
export const SAVE = 'iptables-save >/tmp/knp-rules';
/** The saved rules. */
export const RESTORE = 'iptables-restore </tmp/knp-rules';
const setting = (name: string, value: number) => `echo ${value} >/proc/sys/${name}`;
const weights = (weight: number) =>
  [HERE, THERE].map(({ ipv4 }) => `ipvsadm -e -t ${VIP}:80 -r ${ipv4}:8080 -m -w ${weight}`);
/** Outcomes of two connections. */
export const REFUSED = ['ECONNREFUSED', 'ECONNREFUSED'];
/** Outcomes of two connections. */
export const SILENT = ['no answer', 'no answer'];
const HERE_ONLY = ['no answer', `${HERE.name} sees 192.168.50.100`];

/** The kernel gives a neighbour up after one request, which takes 1 s, instead of three. */
const REQUESTS = '/proc/sys/net/ipv4/neigh/cni0/mcast_solicit';

/** Faults with the same effect in every mode. Valid for TCP over IPv4. */
export const COMMON_BROKEN_ROWS: readonly BrokenRow[] = [
  {
    about: 'all rules of table filter are flushed, and the policy of FORWARD is DROP',
    breaks: [SAVE, 'iptables -F', 'iptables -P FORWARD DROP'],
    restores: ['iptables -P FORWARD ACCEPT', RESTORE],
    client: 'outside',
    service: 'open',
    kind: 'NodePort',
    verdict: 'hangs',
    cause: 'Rule',
    results: SILENT,
  },
  {
    about: 'IP forwarding is disabled',
    breaks: [setting('net/ipv4/ip_forward', 0)],
    restores: [setting('net/ipv4/ip_forward', 1)],
    client: 'outside',
    service: 'open',
    kind: 'NodePort',
    verdict: 'hangs',
    cause: 'ForwardingOff',
    results: SILENT,
  },
  {
    about: 'frames between the ports of a bridge do not pass the rules',
    breaks: [setting('net/bridge/bridge-nf-call-iptables', 0)],
    restores: [setting('net/bridge/bridge-nf-call-iptables', 1)],
    client: 'pod here',
    service: 'local',
    kind: 'ClusterIP',
    verdict: 'hangs',
    cause: 'BridgeFilterOff',
    results: SILENT,
  },
  {
    about: 'the pod of the endpoint is gone, and the node has asked for it',
    breaks: [
      `echo 1 >${REQUESTS}`,
      `ip link set ${HERE.name} down`,
      `ip neighbour flush to ${HERE.ipv4} dev cni0`,
      `bash -c ': </dev/tcp/${HERE.ipv4}/8080' 2>/dev/null || true`,
    ],
    restores: [
      `echo 3 >${REQUESTS}`,
      `ip link set ${HERE.name} up`,
      `ip neighbour flush to ${HERE.ipv4} dev cni0 nud all`,
    ],
    client: 'node',
    service: 'local',
    kind: 'ClusterIP',
    verdict: 'unreachable',
    cause: 'NoNeighbour',
    results: ['EHOSTUNREACH', 'EHOSTUNREACH'],
  },
];

/** Of modes whose rules translate the destination: the packet passes chain FORWARD. */
export const REJECTED_BY_ANOTHER: BrokenRow = {
  about: 'a rule of another program rejects packets to the endpoint',
  breaks: [SAVE, `iptables -I FORWARD -d ${HERE.ipv4} -p tcp -j REJECT`],
  restores: [RESTORE],
  client: 'outside',
  service: 'local',
  kind: 'external IP',
  verdict: 'refused',
  cause: 'Rule',
  results: REFUSED,
};

const LOCAL_VIP = '10.96.30.2';

/** Faults in ipvs mode. */
export const BROKEN_ROWS: readonly BrokenRow[] = [
  ...COMMON_BROKEN_ROWS,
  {
    about: 'the endpoint has a port on which its pod does not listen',
    breaks: [
      `ipvsadm -a -t ${LOCAL_VIP}:80 -r ${HERE.ipv4}:9 -m -w 1`,
      `ipvsadm -d -t ${LOCAL_VIP}:80 -r ${HERE.ipv4}:8080`,
    ],
    restores: [
      `ipvsadm -a -t ${LOCAL_VIP}:80 -r ${HERE.ipv4}:8080 -m -w 1`,
      `ipvsadm -d -t ${LOCAL_VIP}:80 -r ${HERE.ipv4}:9`,
    ],
    client: 'pod here',
    service: 'local',
    kind: 'ClusterIP',
    verdict: 'forwarded',
    results: REFUSED,
  },
  {
    about: 'chain KUBE-SERVICES is empty',
    breaks: [SAVE, 'iptables -t nat -F KUBE-SERVICES'],
    restores: [RESTORE],
    client: 'outside',
    service: 'open',
    kind: 'NodePort',
    verdict: 'partly',
    cause: 'ReplyBypasses',
    results: HERE_ONLY,
  },
  {
    about: 'a rule of another program rejects the client',
    breaks: [SAVE, 'iptables -I INPUT -s 192.168.50.0/24 -p tcp --dport 30001 -j REJECT'],
    restores: [RESTORE],
    client: 'outside',
    service: 'open',
    kind: 'NodePort',
    verdict: 'refused',
    cause: 'Rule',
    results: REFUSED,
  },
  {
    about: 'the cluster IP is missing on kube-ipvs0',
    breaks: [`ip address delete ${VIP}/32 dev kube-ipvs0`],
    restores: [`ip address add ${VIP}/32 dev kube-ipvs0`],
    client: 'pod here',
    service: 'open',
    kind: 'ClusterIP',
    verdict: 'unreachable',
    cause: 'AddressNotBound',
    results: ['ENETUNREACH', 'ENETUNREACH'],
  },
  {
    about: 'the cluster IP is missing on kube-ipvs0, and a default route leads elsewhere',
    breaks: [
      `ip address delete ${VIP}/32 dev kube-ipvs0`,
      'ip route add default via 192.168.50.99',
      'ip neighbour replace 192.168.50.99 lladdr 02:00:00:00:00:99 dev eth0',
    ],
    restores: [`ip address add ${VIP}/32 dev kube-ipvs0`, 'ip route delete default'],
    client: 'pod here',
    service: 'open',
    kind: 'ClusterIP',
    verdict: 'hangs',
    cause: 'AddressNotBound',
    results: SILENT,
  },
  {
    about: 'all real servers have weight 0',
    breaks: weights(0),
    restores: weights(1),
    client: 'pod here',
    service: 'open',
    kind: 'ClusterIP',
    verdict: 'refused',
    cause: 'NoCapacity',
    results: REFUSED,
  },
  {
    about: 'the entry of the cluster IP is missing',
    breaks: [`ipset del KUBE-CLUSTER-IP ${VIP},tcp:80`],
    restores: [`ipset add KUBE-CLUSTER-IP ${VIP},tcp:80`],
    client: 'pod here',
    service: 'open',
    kind: 'ClusterIP',
    verdict: 'refused',
    cause: 'EntryMissing',
    results: REFUSED,
  },
  {
    about: 'IPVS does not use conntrack',
    breaks: [setting('net/ipv4/vs/conntrack', 0)],
    restores: [setting('net/ipv4/vs/conntrack', 1)],
    client: 'outside',
    service: 'open',
    kind: 'NodePort',
    verdict: 'partly',
    cause: 'ReplyBypasses',
    results: HERE_ONLY,
  },
  {
    about: 'IPVS does not use conntrack, and a pod connects to itself',
    breaks: [setting('net/ipv4/vs/conntrack', 0)],
    restores: [setting('net/ipv4/vs/conntrack', 1)],
    client: 'itself',
    service: 'local',
    kind: 'ClusterIP',
    verdict: 'hangs',
    cause: 'Hairpin',
    results: SILENT,
  },
  {
    about: 'the virtual service of a node port is missing',
    breaks: ['ipvsadm -D -t 192.168.50.10:30001'],
    restores: [
      'ipvsadm -A -t 192.168.50.10:30001 -s rr',
      ...[HERE, THERE].map(({ ipv4 }) => `ipvsadm -a -t 192.168.50.10:30001 -r ${ipv4}:8080 -m -w 1`),
    ],
    client: 'outside',
    service: 'open',
    kind: 'NodePort',
    verdict: 'refused',
    cause: 'NodePortAddress',
    results: REFUSED,
  },
];

const FILE = '/tmp/knp-ipvs-chain';
const TABLE = 'ip kube-proxy-ipvs';
const CHAIN = `${TABLE} nat/KUBE-SERVICES`;

/** The same faults with rules of nf_tables: the commands that break them. */
const IN_TABLE: Readonly<Record<string, Pick<BrokenRow, 'breaks' | 'restores'>>> = {
  'chain KUBE-SERVICES is empty': {
    breaks: [`nft list chain ${CHAIN} >${FILE}`, `nft flush chain ${CHAIN}`],
    restores: [`nft -f ${FILE}`],
  },
  'the entry of the cluster IP is missing': {
    breaks: [`nft delete element ${TABLE} KUBE-CLUSTER-IP '{ ${VIP} . tcp . 80 }'`],
    restores: [`nft add element ${TABLE} KUBE-CLUSTER-IP '{ ${VIP} . tcp . 80 }'`],
  },
};

/** Faults in ipvs mode with rules of nf_tables. */
export const IPVS_TABLE_BROKEN_ROWS: readonly BrokenRow[] = BROKEN_ROWS.map((row) => ({
  ...row,
  ...IN_TABLE[row.about],
}));
