import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { RefusedShare } from '../../../../src/proxy/reconcile/refusedShare.js';
import { RETRY } from '../../../../src/proxy/reconcile/retries.js';
import { UnknownItems } from '../../../../src/proxy/reconcile/unknownItems.js';

const ERROR = new NetlinkError({ code: 'ENOMEM', operation: 'test.fail' });

/** Unknown items with these owners, and a manual clock; the node has keys that begin with `node`. */
function setUp(owners: Record<string, string[]>) {
  const clock = { now: 0 };
  const planner = {
    share: new RefusedShare(),
    ownersOf: (key: string) => ({ services: owners[key] ?? [], node: key.startsWith('node') }),
  };
  return { clock, owners, items: new UnknownItems<string>(planner, () => clock.now) };
}

describe('unknown items', () => {
  it('count the Services that have them, each until the last of its items is read', () => {
    const { items } = setUp({ a: ['demo/web', 'demo/api'], b: ['demo/web'] });
    for (const key of ['a', 'b', 'b', 'removed']) items.add(key, key, ERROR);
    assert.deepEqual([items.items.size, items.services.size, items.vital], [3, 2, []]);
    items.read('a');
    assert.deepEqual([items.services.has('demo/web'), items.services.has('demo/api')], [true, false]);
    items.read('b');
    items.read('b');
    assert.deepEqual([[...items.items.keys()], items.services.size], [['removed'], 0]);
  });

  it('say why those of the node failed', () => {
    const { items } = setUp({});
    const later = new NetlinkError({ code: 'EROFS', operation: 'test.fail' });
    for (const key of ['node 1', 'node 2', 'node 2', 'other']) items.add(key, undefined, ERROR);
    items.add('node 2', undefined, later);
    assert.deepEqual(items.vital, [ERROR, later]);
    items.read('node 1');
    items.ownAgain();
    assert.deepEqual(items.vital, [later]);
    items.readAll();
    assert.deepEqual([items.vital, items.items.size, items.retryIn], [[], 0, undefined]);
  });

  it('have the owners of later plans once these are looked up again', () => {
    const { items, owners } = setUp({ a: ['demo/web'] });
    items.add('a', undefined, ERROR);
    owners['a'] = ['demo/api'];
    items.ownAgain();
    assert.deepEqual([items.services.has('demo/web'), items.services.has('demo/api')], [false, true]);
  });

  it('are due when their delay has passed, and at once when they are planned again', () => {
    const { items, clock } = setUp({ a: ['demo/web'] });
    items.add('a', undefined, ERROR);
    assert.deepEqual([items.retryIn, items.due()], [RETRY.first, []]);
    assert.equal(items.planned(['b'], 1), false);
    assert.equal(items.planned(['b', 'a'], 1), true);
    assert.deepEqual([items.retryIn, items.due()], [0, ['a']]);
    items.read('a');
    items.add('a', undefined, ERROR);
    assert.equal(items.planned(['b', 'a'], 0), false, 'too many to try at once');
    assert.deepEqual(items.due(), []);
    clock.now = RETRY.first;
    assert.deepEqual(items.due(), ['a'], 'it failed for the first time since it changed');
  });
});
