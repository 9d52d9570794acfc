// A node of each mode on a kernel in memory, and what it serves.
import type { ProgrammedFrontend } from '../../../src/command/explain/inventory.js';
import { frontendsIn } from '../../../src/command/explain/iptables/inventory.js';
import { readFrontends } from '../../../src/command/explain/read/nftables.js';
import { readCounted } from '../../../src/kernel/iptables/counted.js';
import {
  FakeIptablesNode,
  FakeNftablesNode,
  FakeNode,
  FakeTablesNode,
  type NodeScenario,
} from './testNode.js';

export type AnyNode = FakeNode | FakeIptablesNode | FakeNftablesNode;

/** By mode: makes a node of it. */
export const FAKE_NODES = {
  'ipvs mode': (scenario) => new FakeNode(scenario),
  'ipvs mode, rules of nf_tables': (scenario) => new FakeTablesNode(scenario),
  'iptables mode': (scenario) => new FakeIptablesNode(scenario),
  'nftables mode': (scenario) => new FakeNftablesNode(scenario),
  'nftables mode, layout scalable': (scenario) => new FakeNftablesNode(scenario, undefined, 'scalable'),
} as const satisfies Readonly<Record<string, (scenario: NodeScenario) => AnyNode>>;

/** The frontends that the rules of a node have, as the commands read them. */
export async function frontendsOf(
  node: FakeIptablesNode | FakeNftablesNode,
): Promise<readonly ProgrammedFrontend[]> {
  if (node instanceof FakeNftablesNode) return readFrontends(node.kernel.nftables);
  const families = [4, 6] as const;
  const lists = families.map(async (family) => {
    const saved = node.kernel.iptables.dump(family).replace(/^-A /gm, '[0:0] -A ');
    return frontendsIn(family, await readCounted([Buffer.from(saved)]));
  });
  return (await Promise.all(lists)).flat();
}
