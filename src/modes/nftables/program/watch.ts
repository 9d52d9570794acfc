// Detects that another program changed our tables, from the kernel's notifications. kube-proxy finds such changes in the next full pass,
// after an hour at most.
import type { TableName } from '../../../kernel/nftables/types.js';
import type { DisturbedListener } from '../../mode.js';
import { familyOfTable } from '../plan/fixedChains.js';
import type { Item } from '../plan/items.js';
import { TABLE } from '../plan/names.js';
import type { NftablesOptions } from '../plan/options.js';
import type { NftablesKernel } from './kernel.js';
import type { OwnGenerations } from './ownGenerations.js';

/** Notifications are gathered for so long, in ms. */
const GATHER = 100;

/** Watches until closed. Resolves when changes from now on are noticed. */
export async function watchTables(
  { nftables }: Pick<NftablesKernel, 'nftables'>,
  own: OwnGenerations,
  { families }: Pick<NftablesOptions, 'families'>,
  listener: DisturbedListener<Item>,
): Promise<{ close(): void }> {
  const commits = nftables.watchCommits({ gather: GATHER, keepAlive: false })[Symbol.asyncIterator]();
  await commits.next(); // The first event: later changes are notified of.
  let closed = false;
  const run = async () => {
    for (let next = await commits.next(); !next.done && !closed; next = await commits.next()) {
      const commit = next.value;
      if (commit.kind === 'resync') {
        listener.disturbed(() => true);
        continue;
      }
      const { id } = commit.generation;
      // Asked after the current pass: only then the generations of its transactions are known.
      if (commit.tables.some((table) => isOurs(table, families))) listener.disturbed(() => !own.isOurs(id));
    }
  };
  run().catch(() => {
    // Without notifications, audits find the changes; the next pass reads all, and reports what prevents it.
    if (!closed) listener.disturbed(() => true);
  });
  return {
    close() {
      closed = true;
      commits.return?.().catch(() => {});
    },
  };
}

/** Whether a table is one of this mode. */
function isOurs({ family, name }: TableName, families: readonly (4 | 6)[]): boolean {
  const ours = familyOfTable(family);
  return name === TABLE && ours !== undefined && families.includes(ours);
}
