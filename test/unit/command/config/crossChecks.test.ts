import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  allAddressesRule,
  clusterCIDRWarning,
  crossCheck,
  type NodeSituation,
  profilingWarning,
} from '../../../../src/command/config/crossChecks.js';
import { decodeConfiguration } from '../../../support/clusters/decodeConfiguration.js';

const NODE: NodeSituation = {
  families: [4, 6],
  primaryFamily: 4,
  nodeIPs: { 4: '192.0.2.5', 6: 'fd00::5' },
  podCIDRs: [],
};
const SINGLE: NodeSituation = { ...NODE, families: [4] };
const WARNING = 'Kube-proxy configuration may be incomplete or incorrect: ';
const FAULT = 'kube-proxy configuration is incorrect: ';
const PORTS = { nodePortAddresses: ['primary'] };

function check(raw: Record<string, unknown>, node: NodeSituation) {
  const { configuration, problems } = decodeConfiguration(raw);
  assert.deepEqual(problems, []);
  return crossCheck(configuration, node);
}

describe('a configuration that does not fit the node', () => {
  const warned: [what: string, raw: Record<string, unknown>, node: NodeSituation, warning: string][] = [
    [
      'node ports everywhere',
      {},
      NODE,
      'nodePortAddresses is unset; NodePort connections will be accepted on all local IPs. Consider using `--nodeport-addresses primary`',
    ],
    [
      'primary node ports of a node without an address',
      PORTS,
      { ...NODE, nodeIPs: { 4: '127.0.0.1', 6: '::1' } },
      'nodePortAddresses is unset; NodePort connections will be accepted on all local IPs. Consider using `--nodeport-addresses primary`',
    ],
    [
      'node ports of one family in a cluster of two',
      { nodePortAddresses: ['192.0.2.0/24'], clusterCIDR: '10.0.0.0/8,fd00::/48' },
      NODE,
      'cluster appears to be dual-stack but nodePortAddresses contains only IPv4 addresses; NodePort connections will be accepted on all local IPv6 IPs',
    ],
    [
      'node ports of the other family alone',
      { nodePortAddresses: ['fd00::/64'] },
      NODE,
      'cluster appears to be IPv4-primary but nodePortAddresses contains only IPv6 addresses; NodePort connections will be accepted on all local IPv4 IPs',
    ],
    [
      'pods of the other family alone',
      { ...PORTS, clusterCIDR: 'fd00::/48' },
      NODE,
      'cluster is IPv4-primary but clusterCIDRs contains only IPv6 addresses',
    ],
    [
      'pods of the other family, where that does not decide anything',
      { ...PORTS, clusterCIDR: 'fd00::/48', detectLocalMode: 'NodeCIDR' },
      SINGLE,
      'cluster is IPv4-only but clusterCIDRs contains only IPv6 addresses',
    ],
    [
      "this node's pods of the other family, likewise",
      PORTS,
      { ...NODE, podCIDRs: ['fd00:1::/64'] },
      'cluster is IPv4-primary but node.spec.podCIDRs contains only IPv6 addresses',
    ],
    [
      'a source VIP of the other family',
      { ...PORTS, winkernel: { sourceVip: 'fd00::1' } },
      NODE,
      'cluster is IPv4-primary but winkernel.sourceVip is IPv6',
    ],
    [
      'excluded networks of a family that is not there',
      { ...PORTS, ipvs: { excludeCIDRs: ['fd00::/64'] } },
      SINGLE,
      'cluster is IPv4-only but ipvs.excludeCIDRs contains only IPv6 addresses',
    ],
    [
      'a health server of that family',
      { ...PORTS, healthzBindAddress: '[fd00::5]:10256' },
      SINGLE,
      'cluster is IPv4-only but healthzBindAddress is IPv6',
    ],
    [
      'a metrics server of that family',
      { ...PORTS, metricsBindAddress: '[::1]:10249' },
      SINGLE,
      'cluster is IPv4-only but metricsBindAddress is IPv6',
    ],
  ];
  for (const [what, raw, node, warning] of warned) {
    it(`has a warning: ${what}`, () => {
      assert.deepEqual(check(raw, node), { warnings: [WARNING + warning], faults: [] });
    });
  }

  const fatal: [what: string, raw: Record<string, unknown>, node: NodeSituation, fault: string][] = [
    ['no family at all', PORTS, { ...NODE, families: [] }, 'iptables is not available on this host'],
    ['not the primary family', PORTS, { ...NODE, families: [6] }, 'no support for primary IP family "IPv4"'],
    [
      'pods of a missing family, with detectLocalMode ClusterCIDR',
      { ...PORTS, clusterCIDR: 'fd00::/48' },
      SINGLE,
      `${FAULT}cluster is IPv4-only but clusterCIDRs contains only IPv6 addresses`,
    ],
    [
      'podCIDRs of the other family, with detectLocalMode NodeCIDR',
      { ...PORTS, detectLocalMode: 'NodeCIDR' },
      { ...NODE, podCIDRs: ['fd00:1::/64'] },
      `${FAULT}cluster is IPv4-primary but node.spec.podCIDRs contains only IPv6 addresses`,
    ],
  ];
  for (const [what, raw, node, fault] of fatal) {
    it(`ends the program: ${what}`, () => {
      assert.deepEqual(check(raw, node), { warnings: [], faults: [fault] });
    });
  }
});

it('a configuration that fits has no warning', () => {
  const raw = {
    ...PORTS,
    clusterCIDR: 'fd00::/48,10.0.0.0/8',
    ipvs: { excludeCIDRs: ['fd00::/64'] },
    healthzBindAddress: '[::]:10256',
  };
  for (const node of [NODE, { ...NODE, primaryFamily: 6 as const }]) {
    assert.deepEqual(check(raw, node), { warnings: [], faults: [] });
  }
  assert.deepEqual(check({ ...PORTS, healthzBindAddress: '[::]:10256' }, SINGLE), {
    warnings: [],
    faults: [],
  });
});

describe('with a network of all addresses', () => {
  const rule = (raw: Record<string, unknown>) => allAddressesRule(decodeConfiguration(raw).configuration);

  it('clusterCIDR breaks a rule', () => {
    for (const network of ['0.0.0.0/0', '::/0', '10.1.2.3/0']) {
      const said = `must not contain all addresses (${network}): every client counts as a local pod, so that traffic to cluster IPs is not masqueraded`;
      assert.equal(rule({ clusterCIDR: network }), said);
      const other = network === '::/0' ? '10.244.0.0/16' : 'fd00::/48';
      assert.equal(rule({ clusterCIDR: `${other},${network}` }), said);
    }
  });

  it('it breaks none with smaller networks, without one, or with another detectLocalMode', () => {
    assert.equal(rule({ clusterCIDR: '0.0.0.0/1,::/1' }), undefined);
    assert.equal(rule({}), undefined);
    assert.equal(rule({ detectLocalMode: 'NodeCIDR', clusterCIDR: '0.0.0.0/0' }), undefined);
  });
});

describe('without a network of the pods', () => {
  const warning = (raw: Record<string, unknown>, family: 4 | 6) => {
    const { configuration } = decodeConfiguration(raw);
    return clusterCIDRWarning(configuration, family);
  };
  const said = 'Detect-local-mode set to ClusterCIDR, but no cluster CIDR specified for primary IP family';

  it('there is a warning, whether clusterCIDR is blank or of the other family', () => {
    assert.equal(warning({}, 4), `${said} ipFamily="IPv4" clusterCIDR=""`);
    assert.equal(
      warning({ clusterCIDR: '10.244.0.0/16' }, 6),
      `${said} ipFamily="IPv6" clusterCIDR="10.244.0.0/16"`,
    );
  });

  it('there is none with a network of the primary family, or with another detectLocalMode', () => {
    assert.equal(warning({ clusterCIDR: 'fd00::/48,10.244.0.0/16' }, 4), undefined);
    assert.equal(warning({ detectLocalMode: 'NodeCIDR' }, 4), undefined);
  });
});

it('profiles on an address that other hosts reach are warned of: a heap snapshot has the token', () => {
  const warned = (enableProfiling: boolean, metricsBindAddress: string) =>
    profilingWarning({ enableProfiling, metricsBindAddress }) !== undefined;
  for (const address of ['0.0.0.0:10249', '[::]:10249', '192.0.2.1:10249', ':10249']) {
    assert.equal(warned(true, address), true, address);
    assert.equal(warned(false, address), false, address);
  }
  for (const address of ['127.0.0.1:10249', '[::1]:10249', ''])
    assert.equal(warned(true, address), false, address);
});
