// What ipset lists is deleted by what was listed, and is written again as it was: every type with every option.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  definitionOf,
  type Ipset,
  type IpsetOperation,
  type SetState,
  throwOnFailure,
} from '../../../src/kernel/ipset/index.js';
import { comparable, NAMED, type NamedRow } from '../tables/ipsetLines.js';

/** Registers the tests. `witness` is the state in the words of another program, if there is one. */
export function ipsetRoundTrips(
  open: () => Promise<Ipset>,
  isSupported: (row: NamedRow) => boolean = () => true,
  witness: () => string = () => '',
): void {
  /** The rows' sets in an ipset, as they are listed. A list is behind its members. */
  const filled = async (ipset: Ipset): Promise<SetState[]> => {
    for (const { definition: set, entries } of NAMED.filter(isSupported)) {
      await ipset.create(set);
      throwOnFailure(
        await ipset.apply(entries.map(([entry]) => ({ do: 'add', set, entry }) as IpsetOperation)),
      );
    }
    return listed(ipset);
  };

  it('every set and every entry is deleted by what was listed', async () => {
    const ipset = await open();
    for (const { set, entries } of await filled(ipset)) {
      const operations = entries.map((entry): IpsetOperation => ({ do: 'delete', set, entry, strict: true }));
      throwOnFailure(await ipset.apply(operations));
      assert.deepEqual((await ipset.get(set.name))?.entries, [], set.type);
    }
    for (const { name } of await ipset.list()) await ipset.destroy(name);
    assert.deepEqual(await ipset.list(), []);
  });

  it('every set and every entry is written again as it was', async () => {
    const ipset = await open();
    const before = await filled(ipset);
    const said = comparable(witness());
    await empty(ipset);
    for (const { set, entries } of before) {
      await ipset.create(definitionOf(set), { strict: true });
      const operations = entries.map((entry): IpsetOperation => ({ do: 'add', set, entry, strict: true }));
      throwOnFailure(await ipset.apply(operations));
    }
    assert.deepEqual((await listed(ipset)).map(lasting), before.map(lasting));
    assert.deepEqual(comparable(witness()), said);
    await empty(ipset);
  });
}

/** A set is destroyed only when no list has it. */
async function empty(ipset: Ipset): Promise<void> {
  await ipset.flushAll({ confirm: 'remove every entry of every set' });
  await ipset.destroyAll({ confirm: 'destroy every set' });
}

async function listed(ipset: Ipset): Promise<SetState[]> {
  const states: SetState[] = [];
  for (const { name } of await ipset.list()) states.push((await ipset.get(name)) ?? assert.fail(name));
  return states;
}

/** Without what passes by itself, and in an order that does not depend on the kernel's hash. */
function lasting({ set, entries }: SetState): object {
  const { memorySize: _, ...header } = set;
  const key = (value: object) =>
    JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each));
  // A list has an order of its own.
  const sorted = set.type === 'list:set' ? entries : [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return {
    set: header,
    entries: sorted.map(({ timeout, ...entry }) => ({
      ...entry,
      ...(timeout !== undefined && { timeout: 10 * Math.ceil(timeout / 10) }),
    })),
  };
}
