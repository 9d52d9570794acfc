// Services without endpoints in nftables mode: the elements of both chains that reject are a cause.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { meaningsOf } from '../../../../../src/command/explain/nftables/explainPacket.js';
import { selectingRules } from '../../../../../src/command/explain/nftables/selecting.js';
import { tableOf } from '../../../../../src/command/explain/nftables/table.js';
import type { NftSet } from '../../../../../src/kernel/nftables/types.js';
import { REJECT_CHAIN, RESET_CHAIN } from '../../../../../src/proxy/modes/nftables/plan/fixedChains.js';

const IN_TABLE = { family: 'ip', table: 'kube-proxy' } as const;
const KEY = ['ipv4_addr', 'inet_proto', 'inet_service'] as const;

for (const chain of [REJECT_CHAIN, RESET_CHAIN]) {
  const set: NftSet = {
    ...IN_TABLE,
    name: 'no-endpoint-services',
    key: KEY,
    flags: [],
    keyLength: 12,
    handle: 0n,
  };
  const element = {
    key: ['10.96.0.1', 'tcp', 80],
    data: { verdict: 'goto', chain },
    comment: 'demo/web:http',
  } as const;
  const table = tableOf([], [], [{ set, elements: [element] }], () => '');

  it(`an element that leads to ${chain} says that there are no endpoints`, () => {
    const [frontend] = selectingRules(table).frontends('10.96.0.1');
    assert.equal(frontend?.target, 'REJECT');
    assert.equal(frontend?.without?.code, 'NoRealServer');
    const { causeOf } = meaningsOf(table, { address: '10.96.0.1', port: 80, protocol: 'tcp' });
    const cause = causeOf({ verdict: 'reject', at: `kube-proxy/${chain}`, rule: 'reject' }, 'the packet');
    assert.equal(cause?.code, 'NoRealServer');
  });
}
