// The addresses of the host that nftables mode uses: a change of any other one plans nothing.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nodePortHosts } from '../../../../../src/proxy/modes/nftables/plan/host.js';
import {
  NFTABLES_DEFAULTS,
  type NftablesOptions,
} from '../../../../../src/proxy/modes/nftables/plan/options.js';

const NODE_IPS = { 4: '192.168.10.5', 6: 'fd00:10::5' } as const;

const ADDRESSES = [
  ...['127.0.0.1', '127.0.0.2', '192.168.10.5', '192.168.10.6', '10.244.1.1'],
  ...['::1', 'fd00:10::5', 'fe80::1'],
].map((address) => ({ link: 'any0', address }));

/** Options → the addresses in use, and the families without restriction. */
const CASES: readonly (readonly [
  options: Partial<NftablesOptions>,
  used: readonly string[],
  unrestricted: readonly (4 | 6)[],
])[] = [
  [{}, ['192.168.10.5', 'fd00:10::5'], []],
  [{ nodePortAddresses: [] }, [], [4, 6]],
  [{ nodePortAddresses: ['0.0.0.0/0', '10.0.0.0/8'] }, [], [4, 6]],
  [{ nodePortAddresses: ['192.168.10.0/24'] }, ['192.168.10.5', '192.168.10.6'], [6]],
  [{ nodePortAddresses: ['127.0.0.0/8'] }, [], [6]],
  [{ nodePortAddresses: ['::/1', 'fe80::/10'] }, ['fe80::1'], [4]],
  [{ nodePortAddresses: ['::1/128', 'fd00:10::/64'] }, ['fd00:10::5'], [4]],
];

for (const [options, used, unrestricted] of CASES) {
  it(JSON.stringify(options), () => {
    const host = nodePortHosts({ ...NFTABLES_DEFAULTS, ...options });
    const found = ADDRESSES.filter((address) => host.uses(address, NODE_IPS)).map(({ address }) => address);
    assert.deepEqual(found, used);
    const facts = host.facts([...ADDRESSES, ...ADDRESSES], NODE_IPS);
    assert.deepEqual([...facts.nodePortAddresses[4], ...facts.nodePortAddresses[6]], used);
    assert.deepEqual([...facts.unrestricted], unrestricted);
    assert.equal(facts.addresses.size, 0);
  });
}

it('a family without a node IP is not restricted to it', () => {
  const facts = nodePortHosts(NFTABLES_DEFAULTS).facts(ADDRESSES, { 4: '192.168.10.5', 6: '::1' });
  assert.deepEqual(facts.nodePortAddresses, { 4: ['192.168.10.5'], 6: [] });
  assert.deepEqual([...facts.unrestricted], [6]);
});

it('plans of Services depend on the networks of pods only if these detect local traffic', () => {
  assert.equal(nodePortHosts(NFTABLES_DEFAULTS).podNetworks, false);
  const detected = { ...NFTABLES_DEFAULTS, localDetector: { by: 'nodeNetwork' } } as const;
  assert.equal(nodePortHosts(detected).podNetworks, true);
});
