// The slots of a map as the kernel lists them.
import type { Element, ValueTypes } from '../../../../kernel/nftables/types.js';
import { readValue } from '../../../../kernel/nftables/values/values.js';
import { layoutOf } from '../../../../kernel/nftables/values/valueTypes.js';
import { keyText, nameIn, type SlotMap, shapeOf } from '../plan/containers.js';
import type { FoundSlots } from '../plan/slots.js';
import { SlotTable } from '../plan/slotTable.js';
import type { NftablesKernel } from './kernel.js';
import { addSlot } from './readItems.js';

/** The slots of each frontend, with the key of its element. They are made while they are taken. */
export async function readSlots(
  nftables: Pick<NftablesKernel['nftables'], 'listElementBytes'>,
  map: SlotMap,
): Promise<Iterable<readonly [string, FoundSlots]>> {
  const { family, name } = map;
  const table = new SlotTable(family, layoutOf(map.key).length);
  const irregular: Element[] = [];
  for await (const piece of nftables.listElementBytes({ ...nameIn(family, name), ...shapeOf(map) })) {
    table.add(piece);
    for (const element of piece.others) irregular.push(element);
  }
  const regular = slotsIn(table, map);
  if (irregular.length === 0) return regular;
  const slots = new Map(regular);
  for (const element of irregular) addSlot(slots, family, element);
  return slots;
}

function* slotsIn(table: SlotTable, { key }: SlotMap): Generator<readonly [string, FoundSlots], void> {
  const frontend = layoutOf(key.slice(0, -1) as unknown as ValueTypes);
  for (let i = 0; i < table.size; i++) {
    const bytes = table.frontendAt(i);
    if (isCanonical(bytes)) yield [keyText(readValue(frontend, bytes) as string[]), table.slotsAt(i)];
  }
}

/**
 * Whether there are zeros behind the protocol and the port, with which frontends end. No packet finds a slot of another program that has
 * something else there; it does no harm, and stays.
 */
function isCanonical(frontend: Uint8Array): boolean {
  const [, a, b, c, , , d, e] = frontend.subarray(-8);
  return !(a || b || c || d || e);
}
