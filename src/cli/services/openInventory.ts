// Opens what services and top list: it depends on the mode of the node.
import type { KernelCommand } from '../../config/commandLine.js';
import { loadConfiguration } from '../../config/load.js';
import { readerOf } from '../../explain/read/select.js';
import { openIpvs } from '../../kernel/ipvs/index.js';
import { MODES } from '../../modes/select/select.js';
import type { AnswerLimit } from '../answerLimit.js';
import { modeOfNode } from '../modeOfNode.js';
import type { Output } from '../output/output.js';
import { count } from '../summary.js';
import { frontendsInventory } from './frontendsInventory.js';
import type { Inventory } from './inventory.js';
import { ipvsInventory } from './ipvsInventory.js';
import { type ReadNames, readNames } from './readNames.js';

/** The parts of an inventory. */
export interface InventoryParts {
  /** Of the agent: the configuration, and the objects for the names of Services. */
  readonly flags: KernelCommand;
  /** Show only what has one of these texts in its name or address; none: all. */
  readonly texts: readonly string[];
  /** Of the API server. */
  readonly limit: AnswerLimit;
  /** Notes on missing names are written to it. */
  readonly output: Output;
}

/** Calls `use` with the inventory of this node, and closes the kernel afterwards. Resolves to the result of `use`. */
export async function withInventory<Result>(
  { flags, texts, limit, output }: InventoryParts,
  use: <Listing>(inventory: Inventory<Listing>) => Promise<Result>,
): Promise<Result> {
  const mode = await modeOfNode(flags, loadConfiguration(flags, MODES).configuration);
  const { listFrontends } = readerOf(mode);
  const read = await readNames(flags, limit);
  if (listFrontends) {
    // The comments of rules have names too: an agent that does not answer is not a loss.
    if (read.names.origin.source !== 'none') noteNames(read, output);
    return use(frontendsInventory(listFrontends, read.names, texts));
  }
  noteNames(read, output);
  const ipvs = await openIpvs();
  try {
    return await use(ipvsInventory(ipvs, read.names, texts));
  } finally {
    await ipvs.close();
  }
}

/** Writes to standard error why there are no names, and that some may be missing. */
function noteNames({ names, problems }: ReadNames, output: Output): void {
  if (names.origin.reason !== undefined) output.note(`names of Services are unknown: ${names.origin.reason}`);
  if (problems > 0) {
    const found = count(problems, 'problem');
    output.note(`some names may be missing: the objects have ${found}, see kube-netlink-proxy check`);
  }
}
