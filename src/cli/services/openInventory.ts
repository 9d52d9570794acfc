// Opens what services and top list: it depends on the mode of the node.
import { loadConfiguration } from '../../config/load.js';
import { readerOf } from '../../explain/read/select.js';
import { openIpvs } from '../../kernel/ipvs/index.js';
import { MODES } from '../../modes/select/select.js';
import { AnswerLimit } from '../answerLimit.js';
import type { Invocation } from '../command.js';
import { modeOfNode } from '../modeOfNode.js';
import type { Output } from '../output/output.js';
import { count } from '../summary.js';
import { frontendsInventory } from './frontendsInventory.js';
import type { Inventory } from './inventory.js';
import { ipvsInventory } from './ipvsInventory.js';
import { type ReadNames, readNames } from './readNames.js';

/**
 * Calls `use` with the inventory of this node, and closes the kernel afterwards. Resolves to exit status 0.
 *
 * @param args show only what has one of these texts in its name or address; none: all
 */
export async function withInventory(
  { args: texts, options, flags, output }: Invocation,
  use: <Listing>(inventory: Inventory<Listing>) => Promise<void>,
): Promise<number> {
  const limit = new AnswerLimit(Number(options['timeout']));
  const loaded = loadConfiguration(flags, MODES);
  const mode = await modeOfNode(flags, loaded.configuration);
  const { listFrontends, uncounted } = readerOf(mode);
  const read = await readNames(flags, loaded, limit);
  if (listFrontends) {
    // The comments of rules have names too: an agent that does not answer is not a loss.
    if (read.names.origin.source !== 'none') noteNames(read, output);
    await use(frontendsInventory(listFrontends, read.names, texts, !uncounted));
    return 0;
  }
  noteNames(read, output);
  const ipvs = await openIpvs();
  try {
    await use(ipvsInventory(ipvs, read.names, texts));
    return 0;
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
