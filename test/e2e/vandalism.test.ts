// Other tools damage each kind of item in the kernel. One audit repairs it; kube-ipvs0 and its addresses are repaired
// within a second. Foreign items survive.
// Needs: ipvs, dummy device
import {
  type Damages,
  FOREIGN,
  feed,
  inNode,
  SETTINGS,
  shell,
  testVandalism,
} from '../support/disruptions/vandalism.js';
import { linesOf } from '../support/namespaces/witnesses.js';

const AUDITED: Damages = [
  [
    'all of IPVS is flushed',
    () => {
      inNode('ipvsadm', '-C');
      feed('ipvsadm -R', FOREIGN);
    },
  ],
  [
    'every real server gets weight 0',
    () => {
      const servers = linesOf(inNode('ipvsadm', '-S', '-n')).filter(
        (line) => line.startsWith('-a') && !line.includes('198.51.100.99'),
      );
      shell(
        servers.map((line) => `ipvsadm ${line.replace(/^-a/, '-e').replace(/-w 1$/, '-w 0')}\n`).join(''),
      );
    },
  ],
  [
    'virtual services and real servers are deleted, edited and added',
    () =>
      shell(`
        ipvsadm -D -t 10.96.10.10:80
        ipvsadm -d -t 203.0.113.10:80 -r 10.244.2.11:8080
        ipvsadm -E -u 10.96.0.10:53 -s wlc
        ipvsadm -a -t 10.96.10.20:80 -r 10.244.9.9:80 -m
        ipvsadm -A -t 10.96.10.30:8080 -s rr
      `),
  ],
  [
    'entries of sets are deleted and added',
    () =>
      shell(`
        ipset flush KUBE-CLUSTER-IP
        ipset del KUBE-NODE-PORT-TCP 30080
        ipset add KUBE-LOAD-BALANCER 192.0.2.1,tcp:80
        ipset flush KUBE-6-CLUSTER-IP
      `),
  ],
  [
    'a set is made anew with another maxelem',
    () =>
      shell(`
        ipset create spoiled hash:ip,port maxelem 1024
        ipset swap spoiled KUBE-CLUSTER-IP
        ipset destroy spoiled
      `),
  ],
  [
    'jumps are deleted',
    () =>
      shell(`
        iptables -t nat -D PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
        iptables -t nat -D POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
        iptables -D INPUT -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-FILTER
        ip6tables -t nat -D OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
      `),
  ],
  [
    'rules are flushed and added',
    () =>
      shell(`
        iptables -t nat -F KUBE-SERVICES
        iptables -t nat -I KUBE-MARK-MASQ -j RETURN
        ip6tables -F KUBE-IPVS-FILTER
      `),
  ],
  ['settings are changed', () => shell(SETTINGS.map((name) => `echo 0 >${name}\n`).join(''))],
];

const NOTIFIED: Damages = [
  ['an address is deleted', () => inNode('ip', 'address', 'del', '10.96.10.10/32', 'dev', 'kube-ipvs0')],
  ['the device is deleted', () => inNode('ip', 'link', 'del', 'kube-ipvs0')],
  ['an address is added', () => inNode('ip', 'address', 'add', '192.0.2.1/32', 'dev', 'kube-ipvs0')],
];

testVandalism({ audited: AUDITED, notified: NOTIFIED });
