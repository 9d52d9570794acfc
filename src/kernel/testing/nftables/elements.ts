// Elements of sets of the fake kernel: nft_add_set_elem(), nft_del_setelem(), nft_get_set_elem().
import { constants } from 'node:os';
import {
  CATCH_ALL,
  DATA,
  ELEMENT,
  ELEMENTS,
  INTERVAL_END,
  MESSAGE,
  NLM_F,
  SET,
  SET_FLAGS,
} from '../../nftables/numbers.js';
import { Attributes, listIn } from './attributes.js';
import { type Context, refuse, setOf, tableOf } from './context.js';
import { elementsMessage } from './dump.js';
import { chainOfVerdict } from './expressions.js';
import {
  type FakeElement,
  type FakeObject,
  type FakeSet,
  isAnonymous,
  keyOf,
  NO_USES,
  objectKey,
} from './state.js';

const { EBUSY, EEXIST, EINVAL, ENFILE, ENOENT, EOPNOTSUPP, ERANGE } = constants.errno;

const NAMES = { name: ELEMENTS.set, id: ELEMENTS.setId } as const;

/** Adds elements. */
export function newElements(context: Context): void {
  const { attributes } = context;
  const set = setOf(context, tableOf(context, ELEMENTS.table), NAMES);
  if (set.bindings > 0 && (set.flags & SET_FLAGS.constant || isAnonymous(set))) refuse(EBUSY);
  const list = attributes.bytes(ELEMENTS.list) ?? refuse(EINVAL);
  for (const { value } of listIn(list)) addElement(context, set, value);
  if (isPlainInterval(set)) checkOverlaps(set, list);
}

/** Intervals of one number, which two elements bound. */
function isPlainInterval({ flags, fields }: FakeSet): boolean {
  return (flags & SET_FLAGS.interval) !== 0 && fields === undefined;
}

function addElement(context: Context, set: FakeSet, written: Uint8Array): void {
  const { changes, flags, notify } = context;
  const element = elementOf(context, set, written);
  const place = keyOf(element.key, element.flags);
  const found = liveElement(set, place, context.now());
  if (found) {
    if (flags & NLM_F.exclusive || !hasSameData(found, element)) refuse(EEXIST, written);
    return;
  }
  if (set.size !== undefined && set.elements.size >= set.size) refuse(ENFILE, written);
  if (set.elements.has(place)) changes.delete(set.elements, place); // it has expired
  changes.add(set.elements, place, element);
  for (const chain of element.uses.chains) changes.set(chain, 'jumps', chain.jumps + 1);
  for (const object of element.uses.objects) changes.set(object, 'uses', object.uses + 1);
  notify(() => elementsMessage(MESSAGE.newElements, set, [element], context.now()));
}

function elementOf(context: Context, set: FakeSet, written: Uint8Array): FakeElement {
  const attributes = new Attributes(written);
  const { key, flags } = placeIn(written);
  if (key.length !== (flags & CATCH_ALL ? 0 : set.keyLength)) refuse(EINVAL, written);
  const data = attributes.copy(ELEMENT.data);
  const isEnd = (flags & INTERVAL_END) !== 0;
  if ((data !== undefined) !== (set.dataType !== undefined && !isEnd)) refuse(EINVAL, written);
  const given = attributes.u64(ELEMENT.timeout);
  if (given !== undefined && !(set.flags & SET_FLAGS.timeout)) refuse(EINVAL, written);
  const timeout = given ?? set.timeout;
  const rest = attributes.u64(ELEMENT.expires);
  if (rest !== undefined && timeout === undefined) refuse(EOPNOTSUPP, written);
  if (rest !== undefined && timeout !== undefined && rest > timeout) refuse(ERANGE, written);
  const expires = rest ?? timeout;
  const target = chainOfVerdict(set.table, attributes.nested(ELEMENT.data));
  const object = attributes.text(ELEMENT.object);
  if ((object !== undefined) !== (set.kept.has(SET.objectType) && !isEnd)) refuse(EINVAL, written);
  return {
    key,
    keyEnd: valueIn(attributes, ELEMENT.keyEnd),
    flags,
    data,
    object,
    expressions: expressionsIn(attributes) ?? (isEnd ? undefined : expressionsOfSet(set)),
    userData: attributes.copy(ELEMENT.userData),
    timeout,
    until: expires === undefined || isEnd ? undefined : context.now() + Number(expires),
    uses: {
      ...NO_USES,
      ...(target && { chains: [target] }),
      ...(object !== undefined && { objects: [objectNamed(set, object, written)] }),
    },
  };
}

/** The object of the type of the set, or ENOENT. */
function objectNamed(set: FakeSet, name: string, culprit: Uint8Array): FakeObject {
  const type = Buffer.from(set.kept.get(SET.objectType) ?? []).readUInt32BE();
  return set.table.objects.get(objectKey(type, name)) ?? refuse(ENOENT, culprit);
}

/** What each element of the set has. */
function expressionsOfSet({ kept }: FakeSet): FakeElement['expressions'] {
  const one = kept.get(SET.expression);
  if (one) return { type: ELEMENT.expression, value: one };
  const list = kept.get(SET.expressions);
  return list && { type: ELEMENT.expressions, value: list };
}

function valueIn(attributes: Attributes, type: number): Uint8Array | undefined {
  return attributes.nested(type)?.copy(DATA.value);
}

function expressionsIn(attributes: Attributes): FakeElement['expressions'] {
  for (const type of [ELEMENT.expression, ELEMENT.expressions]) {
    const value = attributes.copy(type);
    if (value) return { type, value };
  }
  return undefined;
}

function hasSameData(a: FakeElement, b: FakeElement): boolean {
  const [key, otherKey] = [a.keyEnd ?? a.key, b.keyEnd ?? b.key];
  return Buffer.compare(key, otherKey) === 0 && Buffer.compare(a.data ?? NOTHING, b.data ?? NOTHING) === 0;
}

const NOTHING = new Uint8Array();

/** The element, unless it has expired. */
function liveElement(set: FakeSet, place: string, now: number): FakeElement | undefined {
  const element = set.elements.get(place);
  return element && isLive(element, now) ? element : undefined;
}

/** Whether an element has not expired. */
function isLive({ until }: FakeElement, now: number): boolean {
  return until === undefined || until > now;
}

/** The elements in the order of listings: intervals in descending order, the end of each before its start. */
export function listedElements(set: FakeSet, now: number): FakeElement[] {
  const elements = [...set.elements.values()].filter((element) => isLive(element, now));
  const isCatchAll = ({ flags }: FakeElement) => (flags & CATCH_ALL) !== 0;
  const keyed = elements.filter((element) => !isCatchAll(element));
  if (isPlainInterval(set)) keyed.sort(inOrder).reverse();
  return [...keyed, ...elements.filter(isCatchAll)];
}

const isEnd = ({ flags }: FakeElement) => (flags & INTERVAL_END) !== 0;

/** By keys; the end of an interval before the start of the next one. */
function inOrder(a: FakeElement, b: FakeElement): number {
  return Buffer.compare(a.key, b.key) || Number(isEnd(b)) - Number(isEnd(a));
}

/** Refuses an interval that begins within another one: EEXIST. */
function checkOverlaps(set: FakeSet, list: Uint8Array): void {
  let open = false;
  const keyed = [...set.elements.values()].filter(({ flags }) => !(flags & CATCH_ALL));
  for (const element of keyed.sort(inOrder)) {
    if (!isEnd(element) && open) refuse(EEXIST, list);
    open = !isEnd(element);
  }
}

/** Deletes elements, or all of the set. */
export function deleteElements(context: Context): void {
  const { attributes, ifExists } = context;
  const set = setOf(context, tableOf(context, ELEMENTS.table), NAMES);
  if (set.bindings > 0 && (set.flags & SET_FLAGS.constant || isAnonymous(set))) refuse(EBUSY);
  const list = attributes.bytes(ELEMENTS.list);
  if (!list) {
    for (const element of [...set.elements.values()]) deleteElement(context, set, element);
    return;
  }
  for (const { value } of listIn(list)) {
    const element = liveElement(set, placeOf(value), context.now());
    if (element) deleteElement(context, set, element);
    else if (!ifExists) refuse(ENOENT, value);
  }
}

function placeOf(written: Uint8Array): string {
  const { key, flags } = placeIn(written);
  return keyOf(key, flags);
}

/** The key of an element, which is empty of a catch-all, and its flags. */
function placeIn(written: Uint8Array): { readonly key: Uint8Array; readonly flags: number } {
  const attributes = new Attributes(written);
  const flags = attributes.u32(ELEMENT.flags) ?? 0;
  const key = valueIn(attributes, ELEMENT.key) ?? (flags & CATCH_ALL ? NOTHING : refuse(EINVAL, written));
  return { key, flags };
}

/** Deletes an element. The kernel does not notify of those that vanish with their set. */
export function deleteElement(context: Context, set: FakeSet, element: FakeElement, notified = true): void {
  const { changes, notify } = context;
  changes.delete(set.elements, keyOf(element.key, element.flags));
  for (const chain of element.uses.chains) changes.set(chain, 'jumps', chain.jumps - 1);
  for (const object of element.uses.objects) changes.set(object, 'uses', object.uses - 1);
  if (notified) notify(() => elementsMessage(MESSAGE.deleteElements, set, [element], context.now()));
}

/** Those elements of the set that a message names. */
export function findElements(context: Pick<Context, 'setIds' | 'attributes' | 'tables' | 'family' | 'now'>): {
  set: FakeSet;
  elements: FakeElement[];
} {
  const set = setOf(context, tableOf(context, ELEMENTS.table), NAMES);
  const list = context.attributes.bytes(ELEMENTS.list) ?? refuse(EINVAL);
  const elements = [...listIn(list)].map(
    ({ value }) => liveElement(set, placeOf(value), context.now()) ?? refuse(ENOENT, value),
  );
  return { set, elements };
}
