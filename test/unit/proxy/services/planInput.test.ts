// The facts of Services that modes plan from.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import type { Service } from '../../../../src/proxy/objects/types.js';
import { frontendsOf } from '../../../../src/proxy/services/frontends.js';

/** The source ranges of the load-balancer IP of each family. */
function rangesOf(loadBalancerSourceRanges: readonly string[]): (readonly string[])[] {
  const { object, problems } = decodeObject({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'demo', name: 'web' },
    spec: {
      type: 'LoadBalancer',
      ipFamilies: ['IPv4', 'IPv6'],
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1', 'fd00:96::1'],
      ports: [{ port: 80 }],
      loadBalancerSourceRanges,
    },
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }, { ip: '2001:db8::1' }] } },
  });
  assert.deepEqual(problems, []);
  return [...frontendsOf(object as Service)].map(
    ({ frontends }) => [...frontends].find(({ kind }) => kind === 'loadBalancerIP')?.sourceRanges ?? [],
  );
}

/** Source ranges → those of IPv4, and those of IPv6. */
const CASES: readonly (readonly [title: string, given: readonly string[], ...expected: string[][]])[] = [
  ['each for the IPs of its family', ['192.0.2.0/24', 'fd00::/8'], ['192.0.2.0/24'], ['fd00::/8']],
  ['a family without ranges is not restricted', ['192.0.2.1/32'], ['192.0.2.1/32'], []],
  [
    'in the order of the object, without the bits of the host',
    [' 192.0.2.9/24', '10.1.0.0/8'],
    ['192.0.2.0/24', '10.0.0.0/8'],
    [],
  ],
  ['0.0.0.0/0 lifts the restriction of IPv4 only', ['10.0.0.0/8', '0.0.0.0/0', 'fd00::/8'], [], ['fd00::/8']],
  ['::/0 lifts the restriction of IPv6 only', ['fd00::/8', '::/0', '10.0.0.0/8'], ['10.0.0.0/8'], []],
  ['any network of length 0', ['192.0.2.0/0'], [], []],
];

describe('source ranges of a load balancer', () => {
  for (const [title, given, four, six] of CASES) {
    it(title, () => assert.deepEqual(rangesOf(given), [four, six]));
  }
});
