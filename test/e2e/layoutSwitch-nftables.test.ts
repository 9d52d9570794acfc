// Changes of the layout of nftables mode under traffic: the proxy is killed during each. No request may fail, and nothing of the former layout may
// be left.
// Needs: conntrack, nftables, bridge filter
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { layoutsOf } from '../support/disruptions/layoutsOf.js';
import { SwitchLab } from '../support/disruptions/switchLab.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('nft');

let lab: SwitchLab;
before(async () => {
  lab = await SwitchLab.open('nftables', '10s');
});

for (const [from, to] of [
  ['kube-proxy', 'scalable'],
  ['scalable', 'kube-proxy'],
  ['kube-proxy', 'scalable'],
] as const)
  test(`layout ${from} → ${to}: no request fails, and nothing of the former one is left`, async () => {
    assert.deepEqual(layoutsOf(lab.node), [from]);
    await lab.whileAsking(() => lab.change('nftables', `--nftables-layout=${to}`));
    assert.deepEqual(layoutsOf(lab.node), [to]);
  });
