// Conflicts between Services that claim the same address and port.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Family } from '../../../../src/kernel/net/address.js';
import type { Protocol } from '../../../../src/kernel/net/protocol.js';
import {
  addressClaim,
  type Claim,
  type Claimant,
  Claims,
  claimOf,
  describeClaim,
} from '../../../../src/proxy/services/claims.js';
import type { Frontend } from '../../../../src/proxy/services/types.js';

const VIP = addressClaim('192.0.2.1', 80, 'tcp');
const OTHER = addressClaim('192.0.2.1', 81, 'tcp');
const OLD = { service: 'demo/z', createdAt: 1 };
const YOUNG = { service: 'demo/a', createdAt: 2 };

/** Lists of claims, the strongest first; no claim is in several. */
type Lists = readonly (readonly Claim[])[];

const ranked = (lists: Lists) =>
  new Map(lists.flatMap((claims, rank) => claims.map((claim): [Claim, number] => [claim, rank])));

const replace = (claims: Claims, claimant: Claimant, before: Lists, now: Lists, renewed = false) =>
  claims.replace(claimant, ranked(before), ranked(now), renewed);

describe('Claims', () => {
  it('assigns an address to the older Service, in any order', () => {
    for (const order of [
      [OLD, YOUNG],
      [YOUNG, OLD],
    ]) {
      const claims = new Claims();
      for (const claimant of order) replace(claims, claimant, [], [[VIP]]);
      assert.equal(claims.holder(VIP), 'demo/z');
      assert.equal(claims.whyWon(VIP, 'demo/a'), 'which is older');
      assert.ok(claims.contested);
    }
  });

  it('assigns it to the Service whose name sorts first if both have the same age', () => {
    const claims = new Claims();
    for (const service of ['demo/b', 'demo/a', 'demo/c']) {
      replace(claims, { service, createdAt: 0 }, [], [[VIP]]);
    }
    assert.equal(claims.holder(VIP), 'demo/a');
    assert.equal(claims.whyWon(VIP, 'demo/c'), 'which is as old, and whose name is before in the alphabet');
  });

  it('names the kind of address that wins, before age', () => {
    const claims = new Claims();
    replace(claims, OLD, [], [[], [], [VIP]]);
    replace(claims, YOUNG, [], [[], [VIP]]);
    assert.equal(claims.whyWon(VIP, OLD.service), 'as its load-balancer IP');
    replace(claims, YOUNG, [[], [VIP]], [[VIP]]);
    assert.equal(claims.whyWon(VIP, OLD.service), 'as its cluster IP');
  });

  it('returns the other affected Services, and assigns the address to the next one', () => {
    const claims = new Claims();
    assert.deepEqual([...replace(claims, YOUNG, [], [[VIP]])], []);
    assert.deepEqual([...replace(claims, OLD, [], [[VIP]])], ['demo/a']);
    assert.deepEqual([...replace(claims, OLD, [[VIP]], [])], ['demo/a']);
    assert.equal(claims.holder(VIP), 'demo/a');
    assert.deepEqual([...replace(claims, YOUNG, [[VIP]], [])], []);
    assert.equal(claims.holder(VIP), undefined);
  });

  it('affects no other Service unless another one wins', () => {
    const claims = new Claims();
    replace(claims, OLD, [], [[VIP, OTHER]]);
    assert.deepEqual([...replace(claims, YOUNG, [], [[VIP, OTHER]])], []);
    assert.deepEqual([...replace(claims, YOUNG, [[VIP, OTHER]], [[VIP]])], []);
    assert.deepEqual([...replace(claims, OLD, [[VIP, OTHER]], [[VIP, OTHER]])], [], 'nothing changed');
    assert.equal(claims.holder(VIP), 'demo/z');
    assert.deepEqual([...replace(claims, OLD, [[VIP, OTHER]], [[OTHER]])], ['demo/a']);
    assert.equal(claims.holder(VIP), 'demo/a');
  });

  it('keeps a weaker claim to the same address when the stronger one ends', () => {
    const claims = new Claims();
    replace(claims, YOUNG, [], [[VIP]]);
    replace(claims, OLD, [], [[], [], [VIP]]);
    assert.equal(claims.holder(VIP), 'demo/a');
    assert.deepEqual([...replace(claims, YOUNG, [[VIP]], [[], [], [VIP]])], ['demo/z']);
    assert.equal(claims.holder(VIP), 'demo/z');
    replace(claims, OLD, [[], [], [VIP]], []);
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
        replace(claims, { service: `demo/${rank}`, createdAt: 10 - rank }, [], ranked);
      }
      assert.equal(claims.holder(VIP), 'demo/0');
      replace(claims, { service: 'demo/0', createdAt: 10 }, [[VIP]], []);
      assert.equal(claims.holder(VIP), 'demo/1');
    }
  });

  it('keeps the order of age when a Service is created anew under its name', () => {
    const claims = new Claims();
    replace(claims, OLD, [], [[VIP, OTHER]]);
    replace(claims, YOUNG, [], [[VIP]]);
    const newest = { service: OLD.service, createdAt: 3 };
    assert.deepEqual([...replace(claims, newest, [[VIP, OTHER]], [[VIP, OTHER]], true)], ['demo/a']);
    assert.deepEqual([claims.holder(VIP), claims.holder(OTHER)], ['demo/a', 'demo/z']);
  });

  it('is contested while several Services claim the same key', () => {
    const claims = new Claims();
    replace(claims, OLD, [], [[VIP, OTHER, VIP]]);
    assert.equal(claims.contested, false, 'a Service has no conflict with itself');
    replace(claims, YOUNG, [], [[VIP, OTHER]]);
    const third = { service: 'demo/b', createdAt: 3 };
    replace(claims, third, [], [[VIP]]);
    assert.equal(claims.contested, true);
    replace(claims, OLD, [[VIP, OTHER]], [[VIP]]);
    replace(claims, YOUNG, [[VIP, OTHER]], []);
    assert.equal(claims.contested, true, 'of the third Service');
    replace(claims, third, [[VIP]], []);
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
