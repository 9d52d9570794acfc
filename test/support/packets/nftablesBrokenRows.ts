// Faults of a node in nftables mode, and the outcome of packets to its Services with each.
import { type BrokenRow, COMMON_BROKEN_ROWS, REFUSED, REJECTED_BY_ANOTHER, SILENT } from './brokenRows.js';
import { HERE } from './packetLab.js';

const FILE = '/tmp/knp-table';
const SAVE_TABLE = `nft list table ip kube-proxy >${FILE}`;
const load = (text: string) => `(echo delete table ip kube-proxy; ${text}) | nft -f -`;
const RESTORE_TABLE = load(`cat ${FILE}`);

/** Valid for TCP over IPv4, in both layouts. */
export const NFTABLES_BROKEN_ROWS: readonly BrokenRow[] = [
  ...COMMON_BROKEN_ROWS,
  {
    about: 'the endpoint has a port on which its pod does not listen',
    breaks: [SAVE_TABLE, load(`sed 's/${HERE.ipv4} [.] 8080/${HERE.ipv4} . 9/' ${FILE}`)],
    restores: [RESTORE_TABLE],
    client: 'pod here',
    service: 'local',
    kind: 'ClusterIP',
    verdict: 'forwarded',
    results: REFUSED,
  },
  {
    about: 'chain services is empty',
    breaks: [SAVE_TABLE, 'nft flush chain ip kube-proxy services'],
    restores: [RESTORE_TABLE],
    client: 'pod here',
    service: 'open',
    kind: 'ClusterIP',
    verdict: 'refused',
    cause: 'PortNotServed',
    results: REFUSED,
  },
  {
    about: 'the jump to services is missing, and no process listens on the node port',
    breaks: [SAVE_TABLE, 'nft flush chain ip kube-proxy nat-prerouting'],
    restores: [RESTORE_TABLE],
    client: 'outside',
    service: 'open',
    kind: 'NodePort',
    verdict: 'refused',
    cause: 'PortNotServed',
    results: REFUSED,
  },
  REJECTED_BY_ANOTHER,
  {
    about: 'nothing is masqueraded',
    breaks: [SAVE_TABLE, 'nft flush chain ip kube-proxy masquerading'],
    restores: [RESTORE_TABLE],
    client: 'itself',
    service: 'local',
    kind: 'ClusterIP',
    verdict: 'hangs',
    cause: 'Hairpin',
    results: SILENT,
  },
];
