// Whether the Services in the tables of nftables mode are whole: a packet that is led to a chain meets its rules.
import assert from 'node:assert/strict';
import type { NftablesKernel } from '../../../src/proxy/modes/nftables/index.js';
import { TABLE } from '../../../src/proxy/modes/nftables/plan/names.js';

const bigintText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);

/** Asserts that each chain to which an element or a rule of a table of the mode leads has rules. */
export async function assertWhole(
  nftables: Pick<NftablesKernel['nftables'], 'listTables' | 'listRules' | 'listSets' | 'listElements'>,
  what: string,
): Promise<void> {
  for (const { family, name: table } of await nftables.listTables().toArray()) {
    if (table !== TABLE) continue;
    const where = { family, table };
    const rules = await nftables.listRules(where).toArray();
    const written = new Set(rules.map(({ chain }) => chain));
    const listed: unknown[] = [...rules];
    for (const set of await nftables.listSets(where).toArray())
      for (const element of await nftables.listElements(set).toArray()) listed.push(element);
    const text = JSON.stringify(listed, bigintText);
    for (const [, target = ''] of text.matchAll(/"verdict":"goto","chain":"([^"]+)"/g))
      assert.ok(written.has(target), `${what}: ${family} ${target} has no rules`);
  }
}
