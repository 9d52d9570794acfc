// The addresses of node ports, for each form of nodePortAddresses.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  nodePortHost,
  selectedLoopback,
} from '../../../../../src/proxy/modes/shared/plan/nodePortAddresses.js';
import { nodeFacts } from '../../../../../src/proxy/services/nodeFacts.js';
import type { NodeFacts } from '../../../../../src/proxy/services/types.js';

const HOST = [
  { link: 'lo', address: '127.0.0.1' },
  { link: 'lo', address: '::1' },
  { link: 'eth0', address: '192.0.2.5' },
  { link: 'eth0', address: '192.0.2.6' },
  { link: 'eth0', address: 'fd00::5' },
  { link: 'eth0', address: 'fe80::5' },
  { link: 'cni0', address: '10.244.1.1' },
  { link: 'kube-ipvs0', address: '10.96.0.1' },
];

const rules = (given: readonly string[] | 'primary', onOwnLink = true) =>
  nodePortHost({ nodePortAddresses: given, ownLink: 'kube-ipvs0', onOwnLink });

function nodePortAddresses(
  given: readonly string[] | 'primary',
  addresses: string[] = [],
  bindAddress?: string,
  onOwnLink?: boolean,
) {
  const known = { uid: '', deleting: false, eligible: true, zone: '', podCIDRs: [] };
  const node = { kind: 'Node' as const, name: 'node-a', addresses, ...known };
  const host = (nodeIPs: NodeFacts['nodeIPs']) => rules(given, onOwnLink).facts(HOST, nodeIPs);
  return nodeFacts('node-a', { node, host, bindAddress }).host.nodePortAddresses;
}

const { nodeIPs } = nodeFacts('node-a');

it('a family is unrestricted without a network, or with a network of length 0', () => {
  const unrestricted = (...networks: string[]) => [...rules(networks).facts([], nodeIPs).unrestricted];
  assert.deepEqual(unrestricted(), [4, 6]);
  assert.deepEqual(unrestricted('192.0.2.0/24'), [6]);
  assert.deepEqual(unrestricted('192.0.2.0/24', '0.0.0.0/0', 'fd00::/8'), [4]);
});

describe('node ports are served on', () => {
  const everywhere = { 4: ['192.0.2.5', '192.0.2.6', '10.244.1.1'], 6: ['fd00::5'] };

  it('every ordinary address without networks, or with a network of length 0', () => {
    assert.deepEqual(nodePortAddresses([]), everywhere);
    assert.deepEqual(nodePortAddresses(['0.0.0.0/0', '::/0']), everywhere);
  });

  it('addresses in the networks of a family, including those of the own link unless that is cured', () => {
    assert.deepEqual(nodePortAddresses(['192.0.2.4/31', '10.96.0.0/12']), {
      4: ['192.0.2.5', '10.96.0.1'],
      6: ['fd00::5'],
    });
    assert.deepEqual(nodePortAddresses(['10.0.0.0/8'], [], undefined, false)[4], ['10.244.1.1']);
  });

  it('the node IPs with primary', () => {
    const addresses = ['192.0.2.6', '192.0.2.5', 'fd00::5'];
    assert.deepEqual(nodePortAddresses('primary', addresses), { 4: ['192.0.2.6'], 6: ['fd00::5'] });
    assert.deepEqual(nodePortAddresses('primary', addresses, '10.244.1.1')[4], ['10.244.1.1']);
  });

  it('the node IPs and the addresses in networks, if primary is beside networks', () => {
    const addresses = ['192.0.2.6', 'fd00::5'];
    assert.deepEqual(nodePortAddresses(['primary', '10.244.0.0/16'], addresses), {
      4: ['192.0.2.6', '10.244.1.1'],
      6: ['fd00::5'],
    });
    assert.deepEqual(nodePortAddresses(['primary', '127.0.0.0/8', '::1/128'], addresses), {
      4: ['192.0.2.6'],
      6: ['fd00::5'],
    });
    assert.deepEqual(nodePortAddresses(['primary', '0.0.0.0/0'], addresses)[4], everywhere[4]);
  });

  it('every ordinary address of a family without a node IP', () => {
    assert.deepEqual(nodePortAddresses('primary', ['192.0.2.6'])[6], everywhere[6]);
    assert.deepEqual(nodePortAddresses('primary'), everywhere);
  });
});

it('addresses of the own link are used only if they serve node ports', () => {
  const used = (given: readonly string[] | 'primary', onOwnLink = true) =>
    HOST.filter((address) => rules(given, onOwnLink).uses(address, nodeIPs)).map(({ address }) => address);
  const ordinary = ['192.0.2.5', '192.0.2.6', 'fd00::5', '10.244.1.1'];
  assert.deepEqual(used([]), ordinary);
  assert.deepEqual(used(['192.0.2.0/24']), ordinary);
  assert.deepEqual(used(['10.0.0.0/8']), [...ordinary, '10.96.0.1']);
  assert.deepEqual(used(['10.0.0.0/8'], false), ordinary);
  assert.deepEqual(used(['fe80::/10']), ['192.0.2.5', '192.0.2.6', 'fd00::5', 'fe80::5', '10.244.1.1']);
  assert.deepEqual(used('primary'), ordinary);
});

it('health-check ports also listen on the loopback addresses that are selected', () => {
  const selected = (given: readonly string[] | 'primary') => selectedLoopback(given, HOST, nodeIPs);
  assert.deepEqual(selected(['127.0.0.0/8']), ['127.0.0.1']);
  assert.deepEqual(selected(['::1/128', '127.0.0.1/32']), ['127.0.0.1', '::1']);
  for (const given of [[], ['0.0.0.0/0', '::/0'], ['192.0.2.0/24'], 'primary'] as const)
    assert.deepEqual(selected(given), []);
});
