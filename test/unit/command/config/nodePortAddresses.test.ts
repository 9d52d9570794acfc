// The words of nodePortAddresses, in the configuration, in the options of the modes, and in the checks against the node.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { crossCheck } from '../../../../src/command/config/crossChecks.js';
import {
  expandNodePortAddresses,
  explicitLoopback,
} from '../../../../src/command/config/nodePortAddresses.js';
import { nodePortAddressesOf } from '../../../../src/command/modes/shared/fromConfiguration.js';
import { loopbackServesNodePorts } from '../../../../src/proxy/modes/iptables/plan/loopback.js';
import { decodeConfiguration } from '../../../support/clusters/decodeConfiguration.js';

const V37 = { mirroredVersion: '1.37' };

it('localhost and all stand for networks of both families; primary is known later', () => {
  const values = ['all', '10.0.0.0/8', 'primary', 'localhost'];
  const loopback = ['127.0.0.0/8', '::1/128'];
  assert.deepEqual(expandNodePortAddresses(values), [
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/8',
    'primary',
    ...loopback,
  ]);
  assert.deepEqual(expandNodePortAddresses(['primary'], []), []);
});

/** Values of the configuration, and the options of a mode. */
const OPTIONS: readonly (readonly [values: string[], options: readonly string[] | 'primary'])[] = [
  [[], []],
  [['primary'], 'primary'],
  [['primary', 'primary'], 'primary'],
  [
    ['10.1.2.3/8', 'primary'],
    ['10.0.0.0/8', 'primary'],
  ],
  [['localhost'], ['127.0.0.0/8', '::1/128']],
  [
    ['all', 'primary'],
    ['0.0.0.0/0', '::/0', 'primary'],
  ],
];

for (const [values, options] of OPTIONS) {
  it(`options of ${JSON.stringify(values)}`, () => {
    const { configuration, problems } = decodeConfiguration({ ...V37, nodePortAddresses: values });
    assert.deepEqual(problems, []);
    assert.deepEqual(nodePortAddressesOf(configuration), options);
  });
}

it('a loopback network is named by the word, or by a network with a loopback address', () => {
  const named = (...values: string[]) => [...explicitLoopback(values)].toSorted();
  assert.deepEqual(named('localhost'), [4, 6]);
  assert.deepEqual(named('primary', '127.0.0.1/32'), [4]);
  assert.deepEqual(named('::1/128', 'all'), [6]);
  assert.deepEqual(named('127.0.0.0/8', '0.0.0.0/0'), [4]);
  for (const values of [[], ['all'], ['primary'], ['0.0.0.0/0', '::/0'], ['127.0.0.1/0'], ['126.0.0.0/7']])
    assert.deepEqual(named(...values), [], values.join());
});

it('localhost is a loopback network for iptables mode, in IPv4', () => {
  const { configuration } = decodeConfiguration({ ...V37, nodePortAddresses: ['primary', 'localhost'] });
  const nodePortAddresses = nodePortAddressesOf(configuration);
  const served = (localhostNodePorts: boolean, family: 4 | 6) =>
    loopbackServesNodePorts({ localhostNodePorts, nodePortAddresses }, family);
  assert.deepEqual([served(true, 4), served(false, 4), served(true, 6)], [true, false, false]);
});

it('checks against the node count the networks that words stand for', () => {
  const warningsOf = (nodePortAddresses: string[]) => {
    const { configuration } = decodeConfiguration({
      ...{ ...V37, nodePortAddresses, clusterCIDR: '10.244.0.0/16,fd00:244::/48' },
    });
    const nodeIPs = { 4: '192.0.2.1', 6: '::1' };
    return crossCheck(configuration, { families: [4, 6], primaryFamily: 4, nodeIPs, podCIDRs: [] }).warnings;
  };
  assert.match(warningsOf(['primary'])[0] ?? '', /contains only IPv4 addresses/);
  assert.deepEqual(warningsOf(['primary', 'localhost']), []);
  assert.deepEqual(warningsOf(['all']), []);
});
