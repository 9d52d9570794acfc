// Damage of each kind of item, as other programs do it, on a fake kernel.

import type { RealServerInput } from '../../../src/kernel/ipvs/types.js';
import type { Family } from '../../../src/kernel/net/address.js';
import type { FakeKernel } from '../../../src/kernel/testing/index.js';
import { edit } from './tamperRules.js';

/** Kind → does the damage; resolves when it is done. */
type Damages = Readonly<Record<string, (kernel: FakeKernel) => unknown>>;

const WEB = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;
const SIX = { ...WEB, address: 'fd00:96::6' } as const;
const SERVER: RealServerInput = {
  ...{ address: '10.0.0.1', port: 8080, weight: 1 },
  ...{ forwarding: 'masquerade', upperThreshold: 0, lowerThreshold: 0 },
};
const PORTALS = '-m comment --comment "kubernetes service portals" -j KUBE-SERVICES';

/** Removes the lines of iptables-save that match. */
function without(kernel: FakeKernel, pattern: RegExp, family: Family = 4): void {
  edit(kernel.iptables, family, (line) => (pattern.test(line) ? [] : [line]));
}

/** Removes our chains of a table. */
function withoutChains({ iptables }: FakeKernel, family: Family, name: string): void {
  let table = '';
  edit(iptables, family, (line) => {
    if (line.startsWith('*')) table = line.slice(1);
    return table === name && line.startsWith(':KUBE-') ? [] : [line];
  });
}

/** Adds a line before those that match. */
function before(kernel: FakeKernel, pattern: RegExp, added: string): void {
  edit(kernel.iptables, 4, (line) => (pattern.test(line) ? [added, line] : [line]));
}

const BOTH: Damages = {
  'a jump is deleted': (kernel) => without(kernel, new RegExp(`^-A OUTPUT ${PORTALS}`)),
  'a jump of IPv6 is deleted': (kernel) => without(kernel, new RegExp(`^-A PREROUTING ${PORTALS}`), 6),
  'the tables are flushed': ({ iptables }) => iptables.load(4, ''),
  'the tables of IPv6 are flushed': ({ iptables }) => iptables.load(6, ''),
};

/**
 * Mode → kind → damage. The Services are `demo/a` with cluster IP 10.96.0.1, external IP 192.0.2.1 and endpoints 10.0.0.1 and
 * 10.0.0.2, `demo/b` with 10.96.0.2 and 10.0.0.3, and `demo/six` with fd00:96::6 and fd00::6.
 */
export const DAMAGES: Readonly<Record<string, Damages>> = {
  ipvs: {
    ...BOTH,
    'a setting is changed': ({ sysctl }) => void sysctl.values.set('net/ipv4/vs/conntrack', '0'),
    'a virtual service is deleted': ({ ipvs }) => ipvs.apply([{ do: 'deleteService', service: WEB }]),
    'a virtual service of IPv6 is deleted': ({ ipvs }) => ipvs.apply([{ do: 'deleteService', service: SIX }]),
    'a set of IPv6 is flushed': ({ ipset }) => ipset.apply([{ do: 'flush', name: 'KUBE-6-CLUSTER-IP' }]),
    'a chain of IPv6 is emptied': (kernel) => without(kernel, /^-A KUBE-POSTROUTING /, 6),
    'a virtual service is edited': ({ ipvs }) =>
      ipvs.apply([{ do: 'updateService', service: { ...WEB, scheduler: 'wlc' } }]),
    'a virtual service is added': ({ ipvs }) =>
      ipvs.apply([{ do: 'addService', service: { ...WEB, port: 8888, scheduler: 'rr' } }]),
    'a real server is deleted': ({ ipvs }) =>
      ipvs.apply([{ do: 'deleteRealServer', service: WEB, realServer: SERVER }]),
    'a real server gets weight 0': ({ ipvs }) =>
      ipvs.apply([{ do: 'updateRealServer', service: WEB, realServer: { ...SERVER, weight: 0 } }]),
    'a real server is added': ({ ipvs }) =>
      ipvs.apply([{ do: 'addRealServer', service: WEB, realServer: { ...SERVER, address: '10.9.9.9' } }]),
    'a set is flushed': ({ ipset }) => ipset.apply([{ do: 'flush', name: 'KUBE-CLUSTER-IP' }]),
    'an entry is added': ({ ipset }) =>
      ipset.apply([
        {
          do: 'add',
          set: { name: 'KUBE-EXTERNAL-IP', type: 'hash:ip,port', family: 4 },
          entry: { address: '192.0.2.77', protocol: 'tcp', port: 1 },
        },
      ]),
    'an address is deleted': ({ rtnetlink }) =>
      rtnetlink.apply([
        { do: 'deleteAddress', address: { link: 'kube-ipvs0', address: '10.96.0.2', prefix: 32 } },
      ]),
    'an address is added': ({ rtnetlink }) =>
      rtnetlink.apply([
        { do: 'addAddress', address: { link: 'kube-ipvs0', address: '192.0.2.99', prefix: 32 } },
      ]),
    'the device is deleted': ({ rtnetlink }) => rtnetlink.apply([{ do: 'deleteLink', name: 'kube-ipvs0' }]),
    'a chain is emptied': (kernel) => without(kernel, /^-A KUBE-LOAD-BALANCER /),
    'a rule is added': (kernel) => before(kernel, /^-A KUBE-MARK-MASQ /, '-A KUBE-MARK-MASQ -j RETURN'),
  },
  iptables: {
    ...BOTH,
    'a setting is changed': ({ sysctl }) => void sysctl.values.set('net/ipv4/conf/all/route_localnet', '0'),
    'a rule of a Service is deleted': (kernel) => without(kernel, /^-A KUBE-SERVICES -d 10\.96\.0\.1\/32 /),
    'a rule of a Service of IPv6 is deleted': (kernel) =>
      without(kernel, /^-A KUBE-SERVICES -d fd00:96::6\/128 /, 6),
    'a chain of an endpoint of IPv6 is emptied': (kernel) => without(kernel, /^-A KUBE-SEP-\w+ .*fd00::6/, 6),
    'the canary of table mangle is deleted': (kernel) => withoutChains(kernel, 4, 'mangle'),
    'the canary of table mangle of IPv6 is deleted': (kernel) => withoutChains(kernel, 6, 'mangle'),
    'a chain of a Service is emptied': (kernel) => without(kernel, /^-A KUBE-SVC-\w+ .*demo\/a/),
    'a chain of an endpoint is deleted': (kernel) => {
      const [, chain] = /^-A (KUBE-SEP-\w+) .*10\.0\.0\.1:8080$/m.exec(kernel.iptables.dump(4)) ?? [];
      without(kernel, new RegExp(`\\b${chain}\\b`));
    },
    'a rule is added to a chain of a Service': (kernel) =>
      before(kernel, /^-A KUBE-EXT-\w+ .*demo\/a/, '-A KUBE-SERVICES -d 10.96.0.2/32 -j DROP'),
    'a rule follows the last one': (kernel) =>
      edit(kernel.iptables, 4, (line) =>
        line.includes('must be the last rule') ? [line, '-A KUBE-SERVICES -d 192.0.2.99/32 -j DROP'] : [line],
      ),
    'a chain of a Service that does not exist is added': (kernel) =>
      edit(kernel.iptables, 4, (line) =>
        line === '*nat'
          ? [line, ':KUBE-SVC-AAAAAAAAAAAAAAAA - [0:0]', '-A KUBE-SVC-AAAAAAAAAAAAAAAA -j RETURN']
          : [line],
      ),
    'a chain of the node is emptied': (kernel) => without(kernel, /^-A KUBE-POSTROUTING /),
  },
};
