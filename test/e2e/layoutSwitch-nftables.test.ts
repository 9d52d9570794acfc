// Changes of the layout of nftables mode under traffic: the proxy is killed during each. No request may fail, and nothing of the former layout may
// be left.
// Needs: conntrack, nftables, bridge filter
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { SwitchLab } from '../support/disruptions/switchLab.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';
import { ask } from '../support/namespaces/witnesses.js';

selectBackend('nft');

/** The chains that only one layout has. */
const CHAINS = {
  'kube-proxy': /chain (service|external)-[A-Z2-7]{8}-/,
  scalable: /chain (balance|external)-\d+-\d+ /,
};

let lab: SwitchLab;
before(async () => {
  lab = await SwitchLab.open('nftables', '10s');
});

const shown = () => {
  const table = ask(lab.node, 'nft', 'list', 'table', 'ip', 'kube-proxy');
  return Object.entries(CHAINS).flatMap(([layout, chains]) => (chains.test(table) ? [layout] : []));
};

for (const [from, to] of [
  ['kube-proxy', 'scalable'],
  ['scalable', 'kube-proxy'],
  ['kube-proxy', 'scalable'],
] as const)
  test(`layout ${from} → ${to}: no request fails, and nothing of the former one is left`, async () => {
    assert.deepEqual(shown(), [from]);
    await lab.whileAsking(() => lab.change('nftables', `--nftables-layout=${to}`));
    assert.deepEqual(shown(), [to]);
  });
