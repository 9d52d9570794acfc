// Conflicts between Services that claim the same address and port.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Family } from '../../../src/net/address.js';
import type { Protocol } from '../../../src/net/protocol.js';
import { addressClaim, Claims, claimOf, describeClaim } from '../../../src/services/claims.js';
import type { Frontend } from '../../../src/services/types.js';

const VIP = addressClaim('192.0.2.1', 80, 'tcp');
const OTHER = addressClaim('192.0.2.1', 81, 'tcp');
const OLD = { service: 'demo/z', createdAt: 1 };
const YOUNG = { service: 'demo/a', createdAt: 2 };

describe('Claims', () => {
  it('assigns an address to the older Service, in any order', () => {
    for (const order of [
      [OLD, YOUNG],
      [YOUNG, OLD],
    ]) {
      const claims = new Claims();
      for (const claimant of order) claims.replace(claimant, [], [[VIP]]);
      assert.equal(claims.holder(VIP), 'demo/z');
      assert.ok(claims.contested);
    }
  });

  it('assigns it to the Service whose name sorts first if both have the same age', () => {
    const claims = new Claims();
    for (const service of ['demo/b', 'demo/a', 'demo/c']) {
      claims.replace({ service, createdAt: 0 }, [], [[VIP]]);
    }
    assert.equal(claims.holder(VIP), 'demo/a');
  });

  it('returns the other affected Services, and assigns the address to the next one', () => {
    const claims = new Claims();
    assert.deepEqual([...claims.replace(YOUNG, [], [[VIP]])], []);
    assert.deepEqual([...claims.replace(OLD, [], [[VIP]])], ['demo/a']);
    assert.deepEqual([...claims.replace(OLD, [[VIP]], [])], ['demo/a']);
    assert.equal(claims.holder(VIP), 'demo/a');
    assert.deepEqual([...claims.replace(YOUNG, [[VIP]], [])], []);
    assert.equal(claims.holder(VIP), undefined);
  });

  it('affects no other Service unless another one wins', () => {
    const claims = new Claims();
    claims.replace(OLD, [], [[VIP, OTHER]]);
    assert.deepEqual([...claims.replace(YOUNG, [], [[VIP, OTHER]])], []);
    assert.deepEqual([...claims.replace(YOUNG, [[VIP, OTHER]], [[VIP]])], []);
    assert.deepEqual([...claims.replace(OLD, [[VIP, OTHER]], [[VIP, OTHER]])], [], 'nothing changed');
    assert.equal(claims.holder(VIP), 'demo/z');
    assert.deepEqual([...claims.replace(OLD, [[VIP, OTHER]], [[OTHER]])], ['demo/a']);
    assert.equal(claims.holder(VIP), 'demo/a');
  });

  it('keeps a weaker claim to the same address when the stronger one ends', () => {
    const claims = new Claims();
    claims.replace(YOUNG, [], [[VIP], [], [VIP]]);
    claims.replace(OLD, [], [[], [], [VIP]]);
    assert.equal(claims.holder(VIP), 'demo/a');
    assert.deepEqual([...claims.replace(YOUNG, [[VIP], [], [VIP]], [[], [], [VIP]])], ['demo/z']);
    assert.equal(claims.holder(VIP), 'demo/z');
    claims.replace(OLD, [[], [], [VIP]], []);
    assert.equal(claims.holder(VIP), 'demo/a');
  });

  it('assigns an address to the strongest claim: cluster IP, load-balancer IP, external IP', () => {
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ];
    for (const order of orders) {
      const claims = new Claims();
      // The weaker the claim, the older the Service.
      for (const rank of order) {
        const ranked = [0, 1, 2].map((each) => (each === rank ? [VIP] : []));
        claims.replace({ service: `demo/${rank}`, createdAt: 10 - rank }, [], ranked);
      }
      assert.equal(claims.holder(VIP), 'demo/0');
      claims.replace({ service: 'demo/0', createdAt: 10 }, [[VIP]], []);
      assert.equal(claims.holder(VIP), 'demo/1');
    }
  });

  it('counts the strongest of several claims of a Service to the same address', () => {
    const claims = new Claims();
    claims.replace({ service: 'demo/old', createdAt: 1 }, [], [[], [], [VIP]]);
    claims.replace({ service: 'demo/young', createdAt: 2 }, [], [[VIP], [], [VIP]]);
    assert.equal(claims.holder(VIP), 'demo/young');
    assert.equal(claims.contested, true);
    claims.replace({ service: 'demo/young', createdAt: 2 }, [[VIP], [], [VIP]], []);
    assert.equal(claims.holder(VIP), 'demo/old');
    assert.equal(claims.contested, false);
  });

  it('is contested while several Services claim the same key', () => {
    const claims = new Claims();
    claims.replace(OLD, [], [[VIP, OTHER, VIP]]);
    assert.equal(claims.contested, false, 'a Service has no conflict with itself');
    claims.replace(YOUNG, [], [[VIP, OTHER]]);
    const third = { service: 'demo/b', createdAt: 3 };
    claims.replace(third, [], [[VIP]]);
    assert.equal(claims.contested, true);
    claims.replace(OLD, [[VIP, OTHER]], [[VIP]]);
    claims.replace(YOUNG, [[VIP, OTHER]], []);
    assert.equal(claims.contested, true, 'of the third Service');
    claims.replace(third, [[VIP]], []);
    assert.equal(claims.contested, false);
    assert.equal(claims.holder(VIP), 'demo/z');
  });
});

describe('the key of a claim', () => {
  const at = (kind: Frontend['kind'], address: string, port: number): Frontend => ({
    kind,
    address,
    port,
    localPolicy: false,
    sourceRanges: [],
  });
  const all: [Frontend, Family, Protocol, string][] = [
    [at('clusterIP', '192.0.2.1', 53), 4, 'udp', '192.0.2.1:53/udp'],
    [at('clusterIP', '192.0.2.1', 53), 4, 'tcp', '192.0.2.1:53/tcp'],
    [at('clusterIP', '192.0.2.1', 53), 4, 'sctp', '192.0.2.1:53/sctp'],
    [at('clusterIP', '192.0.2.1', 54), 4, 'tcp', '192.0.2.1:54/tcp'],
    [at('clusterIP', '0.0.0.0', 53), 4, 'tcp', '0.0.0.0:53/tcp'],
    [at('clusterIP', '255.255.255.255', 65_535), 4, 'sctp', '255.255.255.255:65535/sctp'],
    [at('clusterIP', '255.255.255.255', 65_535), 4, 'udp', '255.255.255.255:65535/udp'],
    [at('externalIP', 'fd00::1', 53), 6, 'tcp', '[fd00::1]:53/tcp'],
    [at('nodePort', '', 53), 4, 'tcp', 'IPv4 node port 53/tcp'],
    [at('nodePort', '', 53), 6, 'tcp', 'IPv6 node port 53/tcp'],
    [at('nodePort', '', 53), 6, 'udp', 'IPv6 node port 53/udp'],
    [at('nodePort', '', 54), 4, 'tcp', 'IPv4 node port 54/tcp'],
  ];

  it('distinguishes addresses, ports, protocols and families', () => {
    const keys = all.map(([frontend, family, protocol]) => claimOf(frontend, family, protocol));
    assert.equal(new Set(keys).size, all.length);
    for (const key of keys) assert.ok(typeof key === 'string' || Number.isSafeInteger(key), `${key}`);
  });

  it('is the same for all kinds of frontends with the address', () => {
    const [cluster, external] = [at('clusterIP', '192.0.2.1', 80), at('externalIP', '192.0.2.1', 80)];
    assert.equal(claimOf(cluster, 4, 'tcp'), claimOf(external, 4, 'tcp'));
  });

  it('has a text for people', () => {
    for (const [frontend, family, protocol, text] of all)
      assert.equal(describeClaim(frontend, family, protocol), text);
  });
});
