// What the mode says about the configuration: what clients notice when it follows another mode.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NFTABLES_SETTINGS } from '../../../../../src/command/modes/nftables/definition.js';
import { decodeConfiguration } from '../../../../support/clusters/decodeConfiguration.js';

const changes = (fields: Readonly<Record<string, unknown>>, ...former: readonly string[]) =>
  NFTABLES_SETTINGS.changesAfter?.(decodeConfiguration(fields).configuration, new Set(former));

const NODE_IPS =
  'node ports are served on the node IPs only: set nodePortAddresses to 0.0.0.0/0 and ::/0 for all addresses';
const LOOPBACK = 'node ports are not served on loopback addresses any more (iptables.localhostNodePorts)';
const OF_IPVS = [
  'endpoints are selected at random: there are no schedulers (ipvs.scheduler)',
  'virtual IPs are no addresses of the node any more (kube-ipvs0)',
];

it('changes after other modes, as far as the configuration lets clients notice them', () => {
  assert.deepEqual(changes({}), []);
  assert.deepEqual(changes({}, 'iptables'), [NODE_IPS, LOOPBACK]);
  assert.deepEqual(changes({}, 'ipvs'), [NODE_IPS, ...OF_IPVS]);
  assert.deepEqual(changes({}, 'ipvs', 'iptables'), [NODE_IPS, ...OF_IPVS]);
  const restricted = { nodePortAddresses: ['192.0.2.0/24'], iptables: { localhostNodePorts: false } };
  assert.deepEqual(changes(restricted, 'iptables'), []);
  assert.deepEqual(changes(restricted, 'ipvs'), OF_IPVS);
  const localhost = { mirroredVersion: '1.38', nodePortAddresses: ['primary', 'localhost'] };
  assert.deepEqual(changes(localhost, 'iptables'), []);
});

it('node ports on localhost are those of the agent only with the gate and a loopback network of IPv4', () => {
  const six = { mirroredVersion: '1.38', nodePortAddresses: ['::1/128'] };
  assert.deepEqual(changes(six, 'iptables'), [LOOPBACK]);
  const gateOff = { ...six, nodePortAddresses: ['localhost'], mirroredVersion: '1.37' };
  assert.deepEqual(changes(gateOff, 'iptables'), [LOOPBACK]);
});
