// The command services: the virtual services of this node, or the frontends in its rules, under the names of their Services.
import { setTimeout as wait } from 'node:timers/promises';
import type { CommandRunner } from '../command.js';
import { type Output, writeReport } from '../output/output.js';
import type { Inventory } from './inventory.js';
import { withInventory } from './openInventory.js';

/** `services`. */
export const runServices: CommandRunner = (invocation) => {
  const { args, options, output } = invocation;
  const interval = Number(options['interval']);
  return withInventory(invocation, 'endpoints', (inventory) =>
    printServices({ inventory, isFiltered: args.length > 0, interval, output }),
  );
};

/** The parts of the list. */
export interface ServicesParts<Listing> {
  readonly inventory: Inventory<Listing>;
  /** Whether the inventory shows some only. */
  readonly isFiltered: boolean;
  /** Time over which rates are measured, in s; 0: they are not measured. */
  readonly interval: number;
  readonly output: Output;
}

/** Lists what the kernel has, twice if rates are measured, and prints it. */
export async function printServices<Listing>(parts: ServicesParts<Listing>): Promise<void> {
  const { inventory, isFiltered, interval, output } = parts;
  const start = performance.now();
  const before = interval > 0 ? await inventory.list() : undefined;
  if (before) await wait(interval * 1000);
  const measured = (performance.now() - start) / 1000;
  const report = inventory.report({ before, after: await inventory.list(), interval: measured }, 'name');
  writeReport(output, report.result, (layout) => {
    if (report.size > 0) return report.lines({ ...layout, realServers: true });
    return [
      isFiltered ? `no ${inventory.what} has such a name or address` : `there are no ${inventory.what}s`,
    ];
  });
}
