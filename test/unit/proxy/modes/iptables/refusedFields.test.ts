// A refused rule: its failure names the fields of the Service that lead to it, and its endpoint.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import type { Failure } from '../../../../../src/proxy/reconcile/summary.js';
import { HOST, service, slice } from '../../../../support/clusters/manifests.js';
import { FakeIptablesNode } from '../../../../support/oracle/testNode.js';

const SPEC = `
  type: LoadBalancer
  externalIPs: [203.0.113.1, 203.0.113.2]
  loadBalancerSourceRanges: [192.0.2.0/24, 198.51.100.0/24]
  sessionAffinity: ClientIP
  sessionAffinityConfig: {clientIP: {timeoutSeconds: 600}}
  externalTrafficPolicy: Local
  healthCheckNodePort: 32000`;

const MANIFEST = `${service('web', '10.96.0.1', SPEC)
  .replace('{port: 80}', '{port: 80, nodePort: 30080}')
  .replace(
    '\n---',
    '\nstatus: {loadBalancer: {ingress: [{ip: 203.0.113.9}]}}\n---',
  )}${slice('web', '10.244.1.1', '10.244.1.2')}${service('other', '10.96.0.2')}${slice('other', '10.244.1.3')}`;

/** The failures of Service web on a kernel that refuses a rule. */
async function failuresOf(refuse: (chain: string, rule: string) => boolean): Promise<readonly Failure[]> {
  const node = new FakeIptablesNode(HOST);
  node.kernel.iptables.refuse = (chain, rule) => (refuse(chain, rule) ? 'refused' : undefined);
  await node.loadText(MANIFEST);
  assert.deepEqual(node.problems, []);
  const { failures } = await node.sync();
  assert.ok(failures.length > 0, 'nothing was refused');
  assert.deepEqual(new Set(failures.flatMap(({ services }) => services)), new Set(['demo/web']));
  return failures;
}

const OF_WEB = 'Service demo/web: ';
const AFFINITY = `${OF_WEB}spec.sessionAffinityConfig.clientIP.timeoutSeconds: 600`;

describe('all failures of the Service have the fields of', () => {
  const cases: [what: string, refuse: (chain: string, rule: string) => boolean, fields: string[]][] = [
    [
      'a source range',
      (_, rule) => rule.startsWith('-s 198.51.100.0/24 '),
      ['spec.loadBalancerSourceRanges: 198.51.100.0/24', 'status.loadBalancer.ingress[].ip: 203.0.113.9'],
    ],
    [
      'an external IP',
      (chain, rule) => chain === 'nat/KUBE-SERVICES' && rule.startsWith('-d 203.0.113.2/32 '),
      ['spec.externalIPs: 203.0.113.2'],
    ],
    ['a cluster IP', (_, rule) => rule.startsWith('-d 10.96.0.1/32 '), ['spec.clusterIPs: 10.96.0.1']],
    [
      'a node port',
      (chain, rule) => chain === 'nat/KUBE-NODEPORTS' && rule.includes('--dport 30080 '),
      ['spec.ports[].nodePort: 30080'],
    ],
    [
      'a health-check port',
      (_, rule) => rule.includes('--dport 32000 '),
      ['spec.healthCheckNodePort: 32000'],
    ],
  ];
  for (const [what, refuse, fields] of cases) {
    it(what, async () => {
      const expected = fields.map((field) => OF_WEB + field);
      for (const failure of await failuresOf(refuse)) assert.deepEqual(failure.fields, expected);
    });
  }

  it('session affinity and the endpoint to which the client returns', async () => {
    const refuse = (_: string, rule: string) => rule.includes('10.244.1.2:8080') && rule.includes('--rcheck');
    for (const { fields } of await failuresOf(refuse))
      assert.deepEqual(fields, [AFFINITY, 'EndpointSlices of Service demo/web: endpoint 10.244.1.2:8080']);
  });

  it('an endpoint', async () => {
    const refuse = (_: string, rule: string) => rule.startsWith('-s 10.244.1.1/32 ');
    for (const { fields } of await failuresOf(refuse))
      assert.deepEqual(fields, ['EndpointSlices of Service demo/web: endpoint 10.244.1.1:8080']);
  });
});

it('a failure without the name of a rule has no fields', async () => {
  const node = new FakeIptablesNode(HOST);
  await node.loadText(MANIFEST);
  const { iptables } = node.kernel;
  const restore = iptables.restore.bind(iptables);
  iptables.refuse = (_, rule) => (rule.startsWith('-s 198.51.100.0/24 ') ? 'refused' : undefined);
  iptables.restore = async (family, operations) => {
    const results = await restore(family, operations);
    const error = results.find((result) => result?.code === 'ERR_PROCESS');
    return error ? operations.map(() => new NetlinkError({ ...error, target: 'iptables-restore' })) : results;
  };
  const { failures } = await node.sync();
  assert.ok(failures.length > 0);
  assert.ok(failures.every((failure) => failure.fields === undefined));
});

it('the fields of a Service with thousands of them are not searched: each would be tried with a plan of all others', async () => {
  const node = new FakeIptablesNode(HOST);
  const addresses = Array.from({ length: 2000 }, (_, i) => `203.${i >> 8}.113.${i & 255}`);
  node.kernel.iptables.refuse = (_, rule) => (rule.startsWith('-d 203.1.113.9/32 ') ? 'refused' : undefined);
  await node.loadText(
    service('web', '10.96.0.1', `  externalIPs: [${addresses.join()}]`) + slice('web', '10.244.1.1'),
  );
  const { planService } = node.mode;
  let plans = 0;
  node.mode.planService = (...args) => {
    plans++;
    return planService(...args);
  };
  const { failures } = await node.sync();
  assert.ok(failures.length > 0);
  assert.deepEqual([plans, failures.flatMap(({ fields = [] }) => fields)], [1, []]);
});
