// Node ports on loopback addresses: those that nftables mode rejects, and those that the agent serves itself.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Cause } from '../../../../../src/command/explain/explanation.js';
import { meaningsOf } from '../../../../../src/command/explain/nftables/explainPacket.js';
import { selectingRules } from '../../../../../src/command/explain/nftables/selecting.js';
import { tableOf } from '../../../../../src/command/explain/nftables/table.js';
import type { Protocol } from '../../../../../src/kernel/net/protocol.js';
import type { Element, NftSet } from '../../../../../src/kernel/nftables/types.js';

const IN_TABLE = { family: 'ip', table: 'kube-proxy' } as const;
const PORT_KEY = ['inet_proto', 'inet_service'] as const;

/** A table with these chains, which serves node ports on 192.0.2.1. Node port 30081 has no endpoints. */
function tableWith(...chains: readonly string[]) {
  const lookup = { kind: 'lookup', set: 'nodeport-ips', source: 1 } as const;
  const services = { ...IN_TABLE, chain: 'services', handle: 1n, expressions: [lookup] };
  const set = (name: string, key: NftSet['key'], elements: readonly Element[]) => ({
    set: { ...IN_TABLE, name, key, flags: [], keyLength: 8, handle: 0n } as NftSet,
    elements,
  });
  const to = (chain: string) => ({ verdict: 'goto', chain }) as const;
  return tableOf(
    ['services', ...chains].map((name) => ({ ...IN_TABLE, name, use: 0, handle: 0n })),
    [services],
    [
      set('nodeport-ips', 'ipv4_addr', [{ key: '192.0.2.1' }]),
      set('service-nodeports', PORT_KEY, [
        { key: ['tcp', 30_080], data: to('external-AAAAAAAA-demo/web/tcp/http') },
        { key: ['udp', 30_080], data: to('external-BBBBBBBB-demo/web/udp/http') },
      ]),
      set('no-endpoint-nodeports', PORT_KEY, [
        { key: ['tcp', 30_081], data: to('reject-chain'), comment: 'demo/empty:http' },
      ]),
    ],
    () => '',
  );
}

const REJECT_TCP = 'localhost-nodeport-reject-tcp';
const REJECT_UDP = 'localhost-nodeport-reject-udp';
const REJECT_SCTP = 'localhost-nodeport-reject-sctp';
const NONE = tableWith();
const SERVED = tableWith(REJECT_UDP, REJECT_SCTP);
const REJECTED = tableWith(REJECT_TCP, REJECT_UDP, REJECT_SCTP);

describe('a node port that is rejected on a loopback address', () => {
  const rejected = (protocol: Protocol, address: string): Cause | undefined => {
    const { causeOf } = meaningsOf(REJECTED, { address, port: 30_080, protocol });
    const at = `kube-proxy/localhost-nodeport-reject-${protocol}`;
    return causeOf({ verdict: 'reject', at, rule: 'counter reject' }, 'the packet');
  };
  const cases: readonly [protocol: Protocol, address: string, text: string][] = [
    ['tcp', '127.0.0.1', 'because nodePortAddresses names no loopback network'],
    ['udp', '127.0.0.2', 'because the agent serves only TCP node ports there'],
    ['sctp', '::1', 'because the agent serves only TCP node ports there'],
  ];
  for (const [protocol, address, reason] of cases) {
    it(`${protocol}, on ${address}`, () => {
      const chain = `kube-proxy/localhost-nodeport-reject-${protocol}`;
      assert.deepEqual(rejected(protocol, address), {
        code: 'NodePortAddress',
        text: `node port 30080/${protocol} is rejected on ${address}, ${reason}: ${chain} rejects the packet`,
      });
    });
  }

  it('the rule that leads to its chain has a meaning', () => {
    const { meaningOf } = meaningsOf(REJECTED, { address: '127.0.0.1', port: 30_080, protocol: 'udp' });
    const at = 'kube-proxy/nodeport-endpoints-check';
    assert.equal(
      meaningOf({ at, target: REJECT_UDP, rule: '', reasons: '', effect: '' }),
      `node port on a loopback address, continues in chain ${REJECT_UDP}`,
    );
  });

  it('another table with such a chain is not the mode', () => {
    const { causeOf } = meaningsOf(REJECTED, { address: '127.0.0.1', port: 30_080, protocol: 'udp' });
    assert.equal(causeOf({ verdict: 'reject', at: `other/${REJECT_UDP}` }, 'the packet'), undefined);
  });
});

describe('a node port on which no process listens', () => {
  const excluded = (table: typeof NONE, address: string, port = 30_080, protocol: Protocol = 'tcp') =>
    selectingRules(table).nodePortExclusion({ address, port, protocol });
  const ELSEWHERE = 'is served on 192.0.2.1, not on 127.0.0.1';

  it('on 127.0.0.1, where the agent should listen', () => {
    assert.equal(
      excluded(SERVED, '127.0.0.1'),
      'is served on 127.0.0.1 by the agent itself, and no process listens there',
    );
    assert.equal(
      excluded(SERVED, '127.0.0.1', 30_081),
      'is served on 127.0.0.1 by the agent itself, but only with endpoints: demo/empty:http has no endpoints',
    );
  });

  it('where the agent does not listen', () => {
    assert.equal(excluded(NONE, '127.0.0.1'), ELSEWHERE);
    assert.equal(excluded(REJECTED, '127.0.0.1'), ELSEWHERE);
    assert.equal(excluded(SERVED, '127.0.0.1', 30_080, 'udp'), ELSEWHERE);
    assert.equal(excluded(SERVED, '127.0.0.2'), 'is served on 192.0.2.1, not on 127.0.0.2');
    assert.equal(excluded(SERVED, '127.0.0.1', 31_000), undefined);
  });
});
