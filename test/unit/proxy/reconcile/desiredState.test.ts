import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DesiredState } from '../../../../src/proxy/reconcile/desiredState.js';

interface Item {
  readonly value: string;
  readonly group?: string;
}

const plan = (items: Record<string, string>, group?: string) =>
  new Map(
    Object.entries(items).map(([key, value]): [string, Item] => [key, group ? { value, group } : { value }]),
  );

const old = { name: 'demo/old', rank: 1 };
const young = { name: 'demo/young', rank: 2 };
const twin = { name: 'demo/a', rank: 1 };

function desiredState() {
  return new DesiredState<Item>((item) => item.group);
}

describe('DesiredState', () => {
  it('returns the keys of the previous and of the new plan', () => {
    const all = desiredState();
    assert.deepEqual(all.replace(old, plan({ a: '1', b: '1' })), ['a', 'b']);
    assert.deepEqual(all.replace(old, plan({ b: '2', c: '2' })), ['b', 'c', 'a']);
    assert.deepEqual([...all.keys()], ['b', 'c']);
    assert.equal(all.get('b')?.value, '2');
    assert.equal(all.get('a'), undefined);
  });

  it('keeps an item of several owners until the last of them no longer has it', () => {
    const all = desiredState();
    all.replace(old, plan({ shared: 'x' }));
    all.replace(young, plan({ shared: 'x' }));
    all.replace(old, new Map());
    assert.equal(all.get('shared')?.value, 'x');
    all.replace(young, new Map());
    assert.equal(all.get('shared'), undefined);
    assert.deepEqual([...all.keys()], []);
    assert.deepEqual([...all.owners()], []);
  });

  it('uses the item of the older owner, in any order of planning, and then that of the younger one', () => {
    const all = desiredState();
    all.replace(young, plan({ vip: 'young' }));
    assert.equal(all.get('vip')?.value, 'young');
    all.replace(old, plan({ vip: 'old' }));
    assert.equal(all.get('vip')?.value, 'old');
    all.replace(young, plan({ vip: 'young again' }));
    assert.equal(all.get('vip')?.value, 'old');
    assert.deepEqual(all.ownersOf('vip'), ['demo/old', 'demo/young']);
    all.replace(old, new Map());
    assert.equal(all.get('vip')?.value, 'young again');
    assert.deepEqual(all.ownersOf('vip'), ['demo/young']);
  });

  it('orders owners with equal ranks by name', () => {
    const all = desiredState();
    all.replace(old, plan({ vip: 'old' }));
    all.replace(twin, plan({ vip: 'a' }));
    assert.equal(all.get('vip')?.value, 'a');
  });

  it('counts keys in groups, each once', () => {
    const all = desiredState();
    all.replace(old, plan({ x: '1', y: '1' }, 'set'));
    all.replace(young, plan({ y: '1', z: '1' }, 'set'));
    assert.equal(all.groupSize('set'), 3);
    assert.deepEqual([...all.group('set')].sort(), ['x', 'y', 'z']);
    all.replace(old, new Map());
    assert.equal(all.groupSize('set'), 2);
    assert.deepEqual([...all.group('set')].sort(), ['y', 'z']);
    all.replace(young, new Map());
    assert.equal(all.groupSize('set'), 0);
    assert.equal(all.group('set').size, 0);
  });

  it('lists the keys of a group from the first call, also if it has none then', () => {
    const all = desiredState();
    assert.equal(all.group('set').size, 0);
    all.replace(old, plan({ x: '1', y: '1' }, 'set'));
    all.replace(young, plan({ z: '1' }, 'other'));
    assert.deepEqual([...all.group('set')], ['x', 'y']);
    assert.deepEqual([...all.group('other')], ['z']);
  });

  it('counts the desired item of a key, whose group may change', () => {
    const all = desiredState();
    const sizes = () => Object.fromEntries([...all.groups()].map((name) => [name, all.groupSize(name)]));
    all.replace(old, plan({ x: '1', y: '1' }, 'two'));
    all.replace(young, plan({ x: '2' }, 'three'));
    assert.deepEqual([sizes(), [...all.group('two')]], [{ two: 2 }, ['x', 'y']]);
    all.replace(old, plan({ y: '1' }, 'three'));
    assert.deepEqual([sizes(), [...all.group('three')].sort()], [{ three: 2 }, ['x', 'y']]);
    all.replace(old, plan({ x: '1', y: '1' }, 'two'));
    assert.deepEqual(sizes(), { two: 2 });
    all.replace(young, new Map());
    all.replace(old, new Map());
    assert.deepEqual(sizes(), {});
  });

  it('returns the changes of groups once', () => {
    const all = desiredState();
    const changes = () => {
      const found: [string, number, number][] = [];
      all.takeGroupChanges(({ name, before, size }) => found.push([name, before, size]));
      return found;
    };
    all.replace(old, plan({ x: '1', y: '1' }, 'set'));
    all.replace(young, plan({ y: '1', z: '1' }, 'set'));
    assert.deepEqual([all.groupsChanged, changes()], [true, [['set', 0, 3]]]);
    assert.deepEqual([all.groupsChanged, changes()], [false, []]);
    all.replace(young, new Map());
    assert.deepEqual(changes(), [['set', 3, 2]]);
  });
});
