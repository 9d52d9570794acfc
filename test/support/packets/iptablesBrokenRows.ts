// Faults of a node in iptables mode, and the outcome of packets to its Services with each.
import {
  type BrokenRow,
  COMMON_BROKEN_ROWS,
  REFUSED,
  REJECTED_BY_ANOTHER,
  RESTORE,
  SAVE,
  SILENT,
} from './brokenRows.js';
import { HERE } from './packetLab.js';

/** Valid for TCP over IPv4. */
export const IPTABLES_BROKEN_ROWS: readonly BrokenRow[] = [
  ...COMMON_BROKEN_ROWS,
  {
    about: 'the endpoint has a port on which its pod does not listen',
    breaks: [SAVE, `sed s/${HERE.ipv4}:8080/${HERE.ipv4}:9/ /tmp/knp-rules | iptables-restore`],
    restores: [RESTORE],
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
    client: 'pod here',
    service: 'open',
    kind: 'ClusterIP',
    verdict: 'hangs',
    cause: 'AddressNotBound',
    results: SILENT,
  },
  {
    about: 'the jump to KUBE-SERVICES is missing, and no process listens on the node port',
    breaks: [
      SAVE,
      'iptables -t nat -D PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
    ],
    restores: [RESTORE],
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
    breaks: [SAVE, 'iptables -t nat -F KUBE-POSTROUTING'],
    restores: [RESTORE],
    client: 'itself',
    service: 'local',
    kind: 'ClusterIP',
    verdict: 'hangs',
    cause: 'Hairpin',
    results: SILENT,
  },
];
