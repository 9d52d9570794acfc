// Conflicts between Services that claim the same address and port.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressClaim, Claims, nodePortClaim } from '../../../src/services/claims.js';

const VIP = addressClaim('192.0.2.1', 80, 'tcp');
const OLD = { service: 'demo/z', createdAt: 1 };
const YOUNG = { service: 'demo/a', createdAt: 2 };

describe('Claims', () => {
  it('assigns an address to the older Service, in any order', () => {
    for (const order of [
      [OLD, YOUNG],
      [YOUNG, OLD],
    ]) {
      const claims = new Claims();
      for (const claimant of order) claims.replace(claimant, [], [VIP]);
      assert.equal(claims.holder(VIP), 'demo/z');
      assert.deepEqual([...claims.lost('demo/a', [VIP])], [[VIP, 'demo/z']]);
      assert.deepEqual([...claims.lost('demo/z', [VIP])], []);
    }
  });

  it('assigns it to the Service whose name sorts first if both have the same age', () => {
    const claims = new Claims();
    for (const service of ['demo/b', 'demo/a', 'demo/c']) {
      claims.replace({ service, createdAt: 0 }, [], [VIP]);
    }
    assert.equal(claims.holder(VIP), 'demo/a');
  });

  it('returns the other affected Services, and assigns the address to the next one', () => {
    const claims = new Claims();
    assert.deepEqual([...claims.replace(YOUNG, [], [VIP])], []);
    assert.deepEqual([...claims.replace(OLD, [], [VIP])], ['demo/a']);
    assert.deepEqual([...claims.replace(OLD, [VIP], [])], ['demo/a']);
    assert.equal(claims.holder(VIP), 'demo/a');
    assert.deepEqual([...claims.replace(YOUNG, [VIP], [])], []);
    assert.equal(claims.holder(VIP), undefined);
  });

  it('distinguishes protocols, ports and families', () => {
    const keys = new Set([
      addressClaim('192.0.2.1', 53, 'udp'),
      addressClaim('192.0.2.1', 53, 'tcp'),
      addressClaim('fd00::1', 53, 'tcp'),
      nodePortClaim(4, 53, 'tcp'),
      nodePortClaim(6, 53, 'tcp'),
    ]);
    assert.equal(keys.size, 5);
  });
});
