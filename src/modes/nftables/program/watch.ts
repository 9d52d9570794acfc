// Detects that another program changed our tables, from the kernel's notifications. kube-proxy finds such changes in the next full pass,
// after an hour at most.
import type { NftablesEvent } from '../../../kernel/nftables/types.js';
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
  const events = nftables.watch({ gather: GATHER, keepAlive: false })[Symbol.asyncIterator]();
  await events.next(); // The first event: later changes are notified of.
  let closed = false;
  const run = async () => {
    /** The current transaction changed a table of this mode. */
    let touched = false;
    for (let next = await events.next(); !next.done && !closed; next = await events.next()) {
      const event = next.value;
      if (event.kind === 'resync') listener.disturbed(() => true);
      else if (event.kind !== 'generation') touched ||= isInOurTables(event, families);
      else {
        const { id } = event.generation;
        // Asked after the current pass: only then the generations of its transactions are known.
        if (touched) listener.disturbed(() => !own.isOurs(id));
        touched = false;
      }
    }
  };
  run().catch(() => {
    // Without notifications, audits find the changes; the next pass reads all, and reports what prevents it.
    if (!closed) listener.disturbed(() => true);
  });
  return {
    close() {
      closed = true;
      events.return?.().catch(() => {});
    },
  };
}

/** Whether an event is about a table of ours, or something in it. */
function isInOurTables(
  event: Exclude<NftablesEvent, { kind: 'generation' }>,
  families: readonly (4 | 6)[],
): boolean {
  const { family, table } = placeOf(event);
  const ours = familyOfTable(family);
  return table === TABLE && ours !== undefined && families.includes(ours);
}

function placeOf(event: Exclude<NftablesEvent, { kind: 'generation' }>): {
  readonly family: string | number;
  readonly table: string;
} {
  switch (event.kind) {
    case 'table':
      return { family: event.table.family, table: event.table.name };
    case 'chain':
      return event.chain;
    case 'rule':
      return event.rule;
    case 'set':
    case 'elements':
      return event.set;
    case 'object':
      return event.object;
  }
}
