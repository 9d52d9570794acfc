// What the tests of flow tables see in the kernel.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Lab } from '../../laboratory/lab.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { NODE_A } from '../../laboratory/places.js';
import { ask } from '../namespaces/witnesses.js';

/** The flag with which all flows between the links of a lab's node are in the flow table. */
export const FLOW_TABLE_FLAG = '--nftables-flow-table=*';

/** The flows of a node that are in a flow table, as conntrack lists them, with all that is in these words. */
export function flowsInTable(lab: Pick<Lab, 'namespace'>, ...words: readonly string[]): string[] {
  const listed = [4, 6].map((family) =>
    ask(lab.namespace(NODE_A), 'sh', '-c', `conntrack -L -f ipv${family} 2>/dev/null`),
  );
  const lines = listed.join('').split('\n');
  return lines.filter((line) => ['[OFFLOAD]', ...words].every((word) => line.includes(word)));
}

/** Waits until for each list of words such a flow is in the table. */
export async function flowsComeIntoTable(
  lab: Pick<Lab, 'namespace'>,
  ...flows: readonly (readonly string[])[]
): Promise<void> {
  for (const deadline = performance.now() + PATIENCE; ; await delay(100)) {
    const missing = flows.filter((words) => flowsInTable(lab, ...words).length === 0);
    if (missing.length === 0) return;
    const all = flowsInTable(lab).join('\n');
    assert.ok(
      performance.now() < deadline,
      `not in the flow table: ${missing.join('; ')}; there are\n${all}`,
    );
  }
}
