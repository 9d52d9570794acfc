// Elements that are added and deleted, as operations of the kernel: for each set, one that deletes, and one that adds.
import type {
  ElementName,
  NewElement,
  NftablesOperation,
  SetName,
  Value,
} from '../../../../kernel/nftables/types.js';
import { bytesOf } from '../../../../kernel/nftables/values/values.js';
import {
  type Container,
  keyOfText,
  type NamedSet,
  nameIn,
  type SlotMap,
  shapeOf,
  slotMapOf,
} from './containers.js';
import type { ElementItem, Item } from './items.js';
import type { Operation } from './operations.js';
import { SlotBytes } from './slotBytes.js';
import { BalancedElement, eachSlotChange, hasSlots, LooseElement } from './slots.js';

/** The elements of one container. */
interface Elements {
  readonly deleted: ElementName[];
  readonly added: NewElement[];
}

/** The slots of one map. */
interface Slots {
  readonly deleted: SlotBytes;
  readonly added: SlotBytes;
}

/** Changes of elements, no two of them of the same one. */
export class ElementChanges {
  readonly #elements = new Map<Container, Elements>();
  readonly #slots = new Map<SlotMap, Slots>();

  get isEmpty(): boolean {
    return this.#elements.size === 0 && this.#slots.size === 0;
  }

  /** Adds the changes of an item. Slots are changed with the element that leads to them. */
  add(verb: Operation['do'], item: ElementItem, from: Item | undefined): void {
    const isDeleted = verb === 'delete';
    const { container, text, verdict, comment } = item;
    const key = keyOfText(container, text);
    if (isDeleted) this.#addSlots(container, text, key, item, undefined);
    else this.#addSlots(container, text, key, from, item);
    const before = from?.kind === 'element' && !isAbsent(from) ? from : undefined;
    if (!isDeleted && before?.verdict === verdict && before.comment === comment) return;
    const { deleted, added } = this.#elementsOf(container);
    const isThere = isDeleted ? !isAbsent(item) : verb === 'replace' && !(from && isAbsent(from));
    if (isThere) deleted.push({ key });
    if (isDeleted) return;
    const { data } = container;
    added.push({
      key,
      ...(data !== undefined && { data: verdictOf(verdict) }),
      ...(comment !== undefined && { comment }),
    });
  }

  /** The operations: all that delete come before those that add. */
  operations(): NftablesOperation[] {
    const deletions: NftablesOperation[] = [];
    const additions: NftablesOperation[] = [];
    for (const [map, { deleted, added }] of this.#slots) {
      const set = targetOf(map);
      if (deleted.count > 0) deletions.push({ do: 'deleteElements', set, elements: deleted.bytes });
      if (added.count > 0) additions.push({ do: 'addElements', set, elements: added.bytes });
    }
    for (const [container, { deleted, added }] of this.#elements) {
      const set = targetOf(container);
      if (deleted.length > 0) deletions.push({ do: 'deleteElements', set, elements: deleted });
      if (added.length > 0) additions.push({ do: 'addElements', set, elements: added });
    }
    return [...deletions, ...additions];
  }

  /** Adds the changes of the slots of a frontend, which are all in one map. @param key that of its element */
  #addSlots(
    container: Container,
    text: string,
    key: Value | readonly Value[],
    from: Item | undefined,
    to: Item | undefined,
  ): void {
    if (!(hasSlots(from) || hasSlots(to))) return;
    const map = slotMapOf(container, text);
    if (!map) return;
    const frontend = bytesOf(map.key, (key as readonly Value[]).concat(0));
    const endpoints = to instanceof BalancedElement ? to.endpoints : undefined;
    const { deleted, added } = this.#slotsOf(map, frontend.length);
    eachSlotChange(from, to, (slot, empties, place) => {
      if (empties) deleted.add(frontend, slot);
      if (place !== undefined && endpoints) added.addEndpoint(frontend, slot, endpoints, place);
    });
  }

  #elementsOf(container: Container): Elements {
    const known = this.#elements.get(container);
    if (known) return known;
    const elements = { deleted: [], added: [] };
    this.#elements.set(container, elements);
    return elements;
  }

  #slotsOf(map: SlotMap, keyLength: number): Slots {
    const known = this.#slots.get(map);
    if (known) return known;
    const slots = {
      deleted: new SlotBytes(map.family, keyLength),
      added: new SlotBytes(map.family, keyLength),
    };
    this.#slots.set(map, slots);
    return slots;
  }
}

function isAbsent(item: Item): boolean {
  return item instanceof LooseElement && item.isAbsent;
}

/** The verdict of an element that is written. */
function verdictOf(verdict: string) {
  return verdict === 'drop' ? ({ verdict } as const) : ({ verdict: 'goto', chain: verdict } as const);
}

/** The sets of elements, as operations name them. They are frozen: the client then checks each only once. */
const TARGETS = new WeakMap<NamedSet, SetName>();

function targetOf(set: NamedSet): SetName {
  const known = TARGETS.get(set);
  if (known) return known;
  const target = { ...nameIn(set.family, set.name), ...shapeOf(set) };
  for (const part of [target, ...Object.values(target)]) Object.freeze(part);
  TARGETS.set(set, target);
  return target;
}
