// Layout `scalable`: elements that lead to a shared chain, each with its endpoints in the map of slots. They are one item: the kernel has
// all of it or none, and a change of the endpoints changes only the slots that it concerns.
import type { Family } from '../../../../kernel/net/address.js';
import { type AddressPorts, AddressPortsBuilder } from '../../../../kernel/net/addressPorts.js';
import { type Container, shardOf } from './containers.js';
import { ElementItem } from './items.js';
import { isSharedChain, type SharedChain, sharedChain, sharedChainNamed } from './sharedChains.js';
import { SLOT_LENGTH } from './slotBytes.js';

/** An element that leads to a shared chain, with an endpoint in each slot of its frontend. */
export class BalancedElement extends ElementItem {
  readonly chain: SharedChain;
  readonly endpoints: AddressPorts;
  /** The place in the list of the endpoint in each slot. Undefined: slots have the order of the list, as in every plan. */
  readonly order: readonly number[] | undefined;

  /** @param endpoints at least one */
  constructor(
    container: Container,
    text: string,
    {
      role,
      endpoints,
      order,
    }: Pick<BalancedElement, 'endpoints'> &
      Pick<SharedChain, 'role'> &
      Partial<Pick<BalancedElement, 'order'>>,
    service?: string,
  ) {
    const shard = role === 'nodeport' ? 0 : shardOf(text);
    const chain = sharedChain(container.family, role, endpoints.size, shard);
    super(container, text, chain.name, undefined, service);
    this.chain = chain;
    this.endpoints = endpoints;
    this.order = order;
  }

  /** The place in the list of the endpoint in a slot. */
  placeIn(slot: number): number {
    return this.order ? (this.order[slot] as number) : slot;
  }

  /** The same element with other endpoints. */
  with(endpoints: AddressPorts, order?: readonly number[]): BalancedElement {
    const { container, text, service, chain } = this;
    return new BalancedElement(container, text, { role: chain.role, endpoints, order }, service);
  }
}

/** Read from the kernel: an element whose slots are not those of its verdict. */
export class LooseElement extends ElementItem {
  /** The numbers of the slots that there are. */
  readonly slots: readonly number[];
  /** There are slots only. */
  readonly isAbsent: boolean;

  constructor(element: ElementItem, slots: readonly number[], isAbsent = false) {
    super(element.container, element.text, element.verdict, element.comment);
    this.slots = slots;
    this.isAbsent = isAbsent;
  }

  /** The shared chain to which it leads; undefined if it leads to another one. */
  get chain(): SharedChain | undefined {
    return this.isAbsent ? undefined : sharedChainNamed(this.family, this.verdict);
  }
}

/** Whether an item has slots, or may have had some. */
export function hasSlots(item: unknown): item is BalancedElement | LooseElement {
  return item instanceof BalancedElement || item instanceof LooseElement;
}

/** The number of slots of an item. */
export function slotsOf(item: unknown): number {
  if (item instanceof BalancedElement) return item.endpoints.size;
  return item instanceof LooseElement ? item.slots.length : 0;
}

/** The slots of a frontend while they are read, in any order. */
export class FoundSlots {
  readonly numbers: number[] = [];
  readonly #family: Family;
  readonly #endpoints: AddressPortsBuilder;
  /** Each has an endpoint, and nothing else. */
  #isRegular = true;

  constructor(family: Family) {
    this.#family = family;
    this.#endpoints = new AddressPortsBuilder(family);
  }

  /** @param data address and port of an endpoint; the kernel may hold other data, which no plan has */
  add(slot: number, data: unknown): void {
    this.numbers.push(slot);
    const [address, port] = Array.isArray(data) ? data : [];
    const isEndpoint = typeof address === 'string' && typeof port === 'number';
    if (!isEndpoint || !this.#endpoints.add(address, port)) this.#isRegular = false;
  }

  /** Adds a slot with the bytes of an endpoint: its address, and its port in network order. */
  addBytes(slot: number, data: Uint8Array, at: number): void {
    this.numbers.push(slot);
    const port = at + SLOT_LENGTH[this.#family].address;
    this.#endpoints.addBytes(data, at, ((data[port] as number) << 8) | (data[port + 1] as number));
  }

  /** The element that leads to a shared chain, if the slots are those of the chain. Call it once. */
  elementOf(element: ElementItem): ElementItem {
    const { numbers } = this;
    const chain = sharedChainNamed(this.#family, element.verdict);
    if (!chain || !this.#isRegular || chain.endpoints !== numbers.length || element.comment !== undefined)
      return new LooseElement(element, numbers);
    const { list: endpoints, order: added } = this.#endpoints.buildOrdered(() => 0);
    const order = new Array<number>(numbers.length).fill(-1);
    for (let place = 0; place < endpoints.size; place++) {
      const slot = numbers[added ? (added[place] as number) : place] as number;
      if (slot < order.length) order[slot] = place;
    }
    if (order.includes(-1)) return new LooseElement(element, numbers);
    const { container, text } = element;
    const balanced = new BalancedElement(container, text, {
      role: chain.role,
      endpoints,
      order: isInOrder(order) ? undefined : order,
    });
    return balanced.chain === chain ? balanced : new LooseElement(element, numbers);
  }
}

/** The element that was read, with its slots if there are any. */
export function withSlots(element: ElementItem, found: FoundSlots | undefined): ElementItem {
  if (found) return found.elementOf(element);
  return isSharedChain(element.verdict) ? new LooseElement(element, []) : element;
}

/**
 * A wanted element in which endpoints that the known one has too keep their slots. The last slots are given up, or are new, if the
 * numbers of endpoints differ.
 */
export function arranged(want: BalancedElement, have: unknown): BalancedElement {
  if (!(have instanceof BalancedElement)) return want;
  const { endpoints } = want;
  const order = new Array<number>(endpoints.size).fill(-1);
  const placed = new Uint8Array(endpoints.size);
  const kept = Math.min(endpoints.size, have.endpoints.size);
  for (let slot = 0; slot < kept; slot++) {
    const place = endpoints.indexOf(have.endpoints, have.placeIn(slot));
    if (place < 0) continue;
    order[slot] = place;
    placed[place] = 1;
  }
  let next = 0;
  for (let slot = 0; slot < order.length; slot++) {
    if (order[slot] !== -1) continue;
    while (placed[next] === 1) next++;
    order[slot] = next++;
  }
  return isInOrder(order) ? want : want.with(endpoints, order);
}

function isInOrder(order: readonly number[]): boolean {
  return order.every((place, slot) => place === slot);
}

/** Whether elements have the same endpoints in the same slots. */
export function sameOrder(a: BalancedElement, b: BalancedElement): boolean {
  if (!a.endpoints.equals(b.endpoints)) return false;
  if (a.order === b.order) return true;
  for (let slot = 0; slot < a.endpoints.size; slot++) if (a.placeIn(slot) !== b.placeIn(slot)) return false;
  return true;
}

/** A slot that is emptied, filled, or both. */
interface SlotChange {
  readonly slot: number;
  /** It has something, which is deleted. */
  readonly empties: boolean;
  /** The place of the endpoint that it gets; undefined if it stays empty. */
  readonly place: number | undefined;
}

/** The changes of slots from an element to another one; undefined stands for one without slots. */
export function slotChanges(from: unknown, to: unknown): SlotChange[] {
  const changes: SlotChange[] = [];
  eachSlotChange(from, to, (slot, empties, place) => changes.push({ slot, empties, place }));
  return changes;
}

/** Calls `change` for each change of {@link slotChanges}, without an object for it: a cluster has as many as endpoints. */
export function eachSlotChange(
  from: unknown,
  to: unknown,
  change: (...change: [slot: number, empties: boolean, place: number | undefined]) => void,
): void {
  const wanted = to instanceof BalancedElement ? to : undefined;
  const size = wanted?.endpoints.size ?? 0;
  const before = from instanceof BalancedElement ? from : undefined;
  const loose = from instanceof LooseElement ? new Set(from.slots) : undefined;
  const has = (slot: number) => (before ? slot < before.endpoints.size : (loose?.has(slot) ?? false));
  for (let slot = 0; slot < size; slot++) {
    const place = wanted?.placeIn(slot) as number;
    const empties = has(slot);
    const stays =
      empties && before && wanted?.endpoints.compareAt(place, before.endpoints, before.placeIn(slot)) === 0;
    if (!stays) change(slot, empties, place);
  }
  for (let slot = size; slot < (before?.endpoints.size ?? 0); slot++) change(slot, true, undefined);
  for (const slot of loose ?? []) if (slot >= size) change(slot, true, undefined);
}
