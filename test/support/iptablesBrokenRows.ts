// Faults of a node in iptables mode, and the fate of packets to its Services with each.
import type { BrokenRow } from './brokenRows.js';
import { HERE } from './packetLab.js';

const SAVE = 'iptables-save >/tmp/knp-rules';
const RESTORE = 'iptables-restore </tmp/knp-rules';
const setting = (name: string, value: number) => `echo ${value} >/proc/sys/${name}`;
const SILENT = ['no answer', 'no answer'];

/** Valid for TCP over IPv4. */
export const IPTABLES_BROKEN_ROWS: readonly BrokenRow[] = [
  {
    about: 'chain KUBE-SERVICES is empty',
    breaks: [SAVE, 'iptables -t nat -F KUBE-SERVICES'],
    restores: [RESTORE],
    client: 'pod here',
    service: 'open',
    kind: 'ClusterIP',
    verdict: 'hangs',
    cause: 'AddressNotBound',
    fates: SILENT,
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
    fates: ['ECONNREFUSED', 'ECONNREFUSED'],
  },
  {
    about: 'all rules of table filter are flushed, and the policy of FORWARD is DROP',
    breaks: [SAVE, 'iptables -F', 'iptables -P FORWARD DROP'],
    restores: ['iptables -P FORWARD ACCEPT', RESTORE],
    client: 'outside',
    service: 'open',
    kind: 'NodePort',
    verdict: 'hangs',
    cause: 'Rule',
    fates: SILENT,
  },
  {
    about: 'a rule of another program rejects packets to the endpoint',
    breaks: [SAVE, `iptables -I FORWARD -d ${HERE.ipv4} -p tcp -j REJECT`],
    restores: [RESTORE],
    client: 'outside',
    service: 'local',
    kind: 'external IP',
    verdict: 'refused',
    cause: 'Rule',
    fates: ['ECONNREFUSED', 'ECONNREFUSED'],
  },
  {
    about: 'nothing is masqueraded',
    breaks: [SAVE, 'iptables -t nat -F KUBE-POSTROUTING'],
    restores: [RESTORE],
    client: 'itself',
    service: 'local',
    kind: 'ClusterIP',
    verdict: 'hangs',
    cause: 'Hairpin',
    fates: SILENT,
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
    fates: SILENT,
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
    fates: SILENT,
  },
];
