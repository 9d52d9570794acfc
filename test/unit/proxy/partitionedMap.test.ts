// A map in parts: what a Map does, with more entries than a part has.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PartitionedMap } from '../../../src/proxy/partitionedMap.js';

const COUNT = 200_000;

function filled(): PartitionedMap<string, number> {
  const map = new PartitionedMap<string, number>();
  for (let i = 0; i < COUNT; i++) map.set(`key ${i}`, i);
  return map;
}

it('has all entries in their order, as often as they are read', () => {
  const map = filled();
  assert.equal(map.size, COUNT);
  assert.deepEqual([...map.values()], [...Array(COUNT).keys()]);
  assert.deepEqual([...map.keys()].slice(-2), [`key ${COUNT - 2}`, `key ${COUNT - 1}`]);
  assert.deepEqual([...map].at(40_000), ['key 40000', 40_000]);
  const copy = new Map(map);
  assert.equal(copy.size, COUNT);
  assert.equal(copy.get('key 70000'), 70_000);
  let sum = 0;
  map.forEach((value, key, of) => {
    assert.ok(of === map && key === `key ${value}`);
    sum += value;
  });
  assert.equal(sum, (COUNT * (COUNT - 1)) / 2);
});

it('has each key once, in whatever part it is', () => {
  const map = filled();
  for (let i = 0; i < COUNT; i += 1000) map.set(`key ${i}`, -1);
  assert.equal(map.size, COUNT);
  for (let i = 0; i < COUNT; i++) assert.equal(map.get(`key ${i}`), i % 1000 === 0 ? -1 : i);
  assert.equal(map.get('key'), undefined);
  assert.equal(map.has('key'), false);
});

it('gives the room of deleted entries to new ones, and replaces those of later parts where they are', () => {
  const map = filled();
  assert.equal(map.delete('key 5'), true);
  assert.equal(map.delete('key 190000'), true);
  assert.equal(map.delete('key 190000'), false);
  map.set('key 180000', 1).set('new', 2);
  assert.equal(map.size, COUNT - 1);
  assert.equal([...map.keys()].filter((key) => key === 'key 180000').length, 1);
  assert.equal([...map.keys()].indexOf('new'), 65_535);
  assert.equal(map.has('key 190000'), false);
  map.clear();
  assert.deepEqual([map.size, [...map], map.has('new')], [0, [], false]);
});

it('is empty after all entries were deleted while they were read', () => {
  const map = filled();
  for (const key of map.keys()) map.delete(key);
  assert.equal(map.size, 0);
});

it('does not take the time of a copy for any insertion', () => {
  // The capacity of a Map is a power of two: that of a part is enlarged to 65 536 entries at most, and that of a Map to 262 144.
  const slowest = (map: Map<string, number>) => {
    let most = 0;
    for (let i = 0; i < COUNT; i++) {
      const key = `key ${i}`;
      if (i < 32_768 || i % 16_384 !== 0) map.set(key, i);
      else {
        const before = process.cpuUsage();
        map.set(key, i);
        const { user, system } = process.cpuUsage(before);
        most = Math.max(most, user + system);
      }
    }
    return most;
  };
  const least = (make: () => Map<string, number>) => Math.min(...[1, 2, 3].map(() => slowest(make())));
  const [parts, whole] = [least(() => new PartitionedMap()), least(() => new Map())];
  assert.ok(parts < whole / 2, `${parts} µs, and ${whole} µs for a Map`);
});
