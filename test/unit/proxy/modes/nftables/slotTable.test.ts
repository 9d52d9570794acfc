// The table of slots: what is added is found by frontend, in any order and number.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Family } from '../../../../../src/kernel/net/address.js';
import type { ElementBytes, ValueTypes } from '../../../../../src/kernel/nftables/types.js';
import { bytesOf, readValue } from '../../../../../src/kernel/nftables/values/values.js';
import { layoutOf } from '../../../../../src/kernel/nftables/values/valueTypes.js';
import {
  CONTAINERS,
  keyText,
  SLOT_MAPS,
  type SlotMap,
  slotMapOf,
} from '../../../../../src/proxy/modes/nftables/plan/containers.js';
import { ElementItem } from '../../../../../src/proxy/modes/nftables/plan/items.js';
import { BalancedElement, LooseElement } from '../../../../../src/proxy/modes/nftables/plan/slots.js';
import { SlotTable } from '../../../../../src/proxy/modes/nftables/plan/slotTable.js';

/** A slot: the parts of its frontend, its number, and its endpoint. */
type Slot = readonly [frontend: readonly (string | number)[], number: number, address: string, port: number];

function bytes(map: SlotMap, slots: readonly Slot[]): ElementBytes {
  const data = slots.map(([, , address, port]) => bytesOf(map.data as ValueTypes, [address, port]));
  const keys = slots.map(([frontend, number]) => bytesOf(map.key, [...frontend, number]));
  return { count: slots.length, keys: Buffer.concat(keys), data: Buffer.concat(data) };
}

function tableOf(map: SlotMap, ...pieces: readonly (readonly Slot[])[]): SlotTable {
  const table = new SlotTable(map.family, layoutOf(map.key).length);
  for (const piece of pieces) table.add(bytes(map, piece));
  return table;
}

/** The numbers of the slots of each frontend. */
function numbersIn(table: SlotTable, map: SlotMap): Map<string, readonly number[]> {
  const layout = layoutOf(map.key.slice(0, -1) as unknown as ValueTypes);
  const numbers = new Map<string, readonly number[]>();
  for (let i = 0; i < table.size; i++) {
    const text = keyText(readValue(layout, table.frontendAt(i)) as string[]);
    assert.ok(!numbers.has(text), `${text} is there twice`);
    const found = table.slotsAt(i).numbers.toSorted((a, b) => a - b);
    assert.equal(found.length, table.countAt(i));
    numbers.set(text, found);
  }
  return numbers;
}

const addressOf = (family: Family, i: number) =>
  family === 4 ? `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` : `fd00::1:${(i + 1).toString(16)}`;

/** Numbers below a limit, always the same ones (xorshift). */
function random(): (limit: number) => number {
  let state = 0x2545_f491;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

describe('the table of slots', () => {
  it('is empty at first', () => {
    const [map] = SLOT_MAPS[4].addresses;
    assert.ok(map);
    assert.equal(tableOf(map).size, 0);
    assert.equal(tableOf(map, []).size, 0);
  });

  for (const family of [4, 6] as const)
    for (const map of [...SLOT_MAPS[family].addresses.slice(0, 1), SLOT_MAPS[family].nodePorts])
      it(`finds all slots while it grows, and where hashes are equal: IPv${family}, ${map.name}`, () => {
        const below = random();
        const pieces: Slot[][] = [];
        const expected = new Map<string, number[]>();
        // So many frontends that the table grows several times: some of them share a place each time.
        for (let i = 0; i < 20_000; i++) {
          const protocol = ['tcp', 'udp', 'sctp'][below(3)] as string;
          const port = 1 + below(6000);
          const isNodePort = map.name === 'nodeport-endpoints';
          const frontend = isNodePort ? [protocol, port] : [addressOf(family, below(3000)), protocol, port];
          const number = below(2 ** 32);
          if (i % 700 === 0) pieces.push([]);
          pieces.at(-1)?.push([frontend, number, addressOf(family, i), 80]);
          const text = keyText(frontend);
          expected.set(text, [...(expected.get(text) ?? []), number]);
        }
        const found = numbersIn(tableOf(map, ...pieces), map);
        assert.equal(found.size, expected.size);
        for (const [text, numbers] of expected)
          assert.deepEqual(
            found.get(text),
            numbers.toSorted((a, b) => a - b),
            text,
          );
      });

  const container = CONTAINERS[4]['service-ips'];
  const text = '10.96.0.1 . tcp . 80';
  const map = slotMapOf(container, text) as SlotMap;
  const shard = map.name.replace('endpoints-', '');
  const slot = (number: number, end: number): Slot => [
    ['10.96.0.1', 'tcp', 80],
    number,
    `10.244.0.${end}`,
    80,
  ];
  const elementOf = (...slots: Slot[]) =>
    tableOf(map, slots)
      .slotsAt(0)
      .elementOf(new ElementItem(container, text, `balance-3-${shard}`));

  it('endpoints have the order of slots, in whichever order they were listed', () => {
    for (const order of [
      [0, 1, 2],
      [2, 0, 1],
      [2, 1, 0],
    ]) {
      const element = elementOf(...order.map((number) => slot(number, number + 1)));
      assert.ok(element instanceof BalancedElement);
      assert.deepEqual([...element.endpoints], ['10.244.0.1:80', '10.244.0.2:80', '10.244.0.3:80']);
      assert.equal(element.order, undefined);
    }
    const element = elementOf(slot(1, 1), slot(2, 2), slot(0, 3));
    assert.ok(element instanceof BalancedElement);
    assert.deepEqual([...element.endpoints], ['10.244.0.1:80', '10.244.0.2:80', '10.244.0.3:80']);
    assert.deepEqual(element.order, [2, 0, 1]);
  });

  it('slots that are not those of the chain make a loose element', () => {
    for (const slots of [
      [slot(0, 1), slot(1, 2)],
      [slot(0, 1), slot(1, 2), slot(3, 3)],
      [slot(0, 1), slot(1, 2), slot(2 ** 32 - 1, 3)],
      [slot(0, 1), slot(1, 1), slot(2, 2)],
      [slot(0, 1), slot(1, 2), slot(2, 3), slot(3, 4)],
    ]) {
      const element = elementOf(...slots);
      assert.ok(element instanceof LooseElement);
      assert.deepEqual(
        element.slots.toSorted((a, b) => a - b),
        slots.map(([, number]) => number),
      );
    }
  });
});
