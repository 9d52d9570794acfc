// Sets → the text that `ipset save` prints and `ipset restore` reads.
import { inPieces, isAsyncIterable } from '../shared/programs/textLines.js';
import { namedProtocol } from './protocolNames.js';
import { type Parameter, SHAPES } from './shapes.js';
import { SavedChecker } from './textArguments.js';
import type { SetDefinition, SetEntry } from './types.js';
import { formatElement, hexadecimal } from './values/entry.js';

/** A set that is saved: as it was listed, or its definition and entries. */
export interface SavedSet {
  readonly set: SetDefinition;
  readonly entries: Iterable<SetEntry>;
}

/**
 * The text that `ipset save` prints for these sets, in their order: a `create` line for each, and an `add` line for each of
 * its entries. A list:set comes behind its members in a listing, which is the order that `ipset restore` needs.
 *
 * Throws a TypeError or RangeError that names what breaks a rule, and for `attributes`, which ipset has no words for.
 *
 * It blocks the event loop for about 1 ms for each 1000 entries: {@link formatSetsAsync} is for many.
 */
export function formatSets(sets: Iterable<SavedSet>): string {
  const checker = new SavedChecker(sets, 'ipset.formatSets');
  let text = '';
  for (const saved of sets) {
    checker.set(saved);
    const { set, entries } = saved;
    text += `${formatSet(set)}\n`;
    for (const line of linesOf(set, entries, checker)) text += `${line}\n`;
  }
  return text;
}

/** As {@link SavedSet}; the entries may also be a listing. */
export interface ListedSet {
  readonly set: SetDefinition;
  readonly entries: Iterable<SetEntry> | AsyncIterable<SetEntry>;
}

/**
 * The text of {@link formatSets} in pieces of about 64 KiB, each of whole lines, written in time slices of 2 ms, between which other
 * callbacks of the event loop run. Throws as that does.
 */
export function formatSetsAsync(
  sets: Iterable<ListedSet> | AsyncIterable<ListedSet>,
): AsyncGenerator<string, void, undefined> {
  return inPieces(groupsOf(sets, new SavedChecker(sets, 'ipset.formatSetsAsync', true)));
}

async function* groupsOf(
  sets: Iterable<ListedSet> | AsyncIterable<ListedSet>,
  checker: SavedChecker,
): AsyncGenerator<Iterable<string>, void, undefined> {
  for await (const saved of sets) {
    checker.set(saved);
    const { set, entries } = saved;
    yield [formatSet(set)];
    if (!isAsyncIterable(entries)) {
      yield linesOf(set, entries, checker);
      continue;
    }
    let place = 0;
    for await (const entry of entries) yield linesOf(set, [entry], checker, place++);
  }
}

/** @param first the place of the first entry among those of its set */
function* linesOf(
  set: SetDefinition,
  entries: Iterable<SetEntry>,
  checker: SavedChecker,
  first = 0,
): Generator<string, void> {
  let place = first;
  for (const entry of entries) {
    checker.entry(set, entry, place++);
    yield `add ${set.name} ${formatSavedEntry(entry)}`;
  }
}

/** The `create` line of a set, with its parameters in the tool's order. */
function formatSet(set: SetDefinition): string {
  const words = ['create', set.name, set.type];
  for (const parameter of SHAPES[set.type]?.parameters ?? []) {
    const value = set[parameter];
    if (value === undefined || value === false) continue;
    words.push(KEYWORDS[parameter]);
    if (value !== true) words.push(formatParameter(parameter, value));
  }
  return words.join(' ');
}

/** The words of ipset(8) for the parameters of a set. */
export const KEYWORDS: Readonly<Record<Parameter, string>> = {
  family: 'family',
  hashSize: 'hashsize',
  maxElements: 'maxelem',
  bucketSize: 'bucketsize',
  initval: 'initval',
  netmask: 'netmask',
  bitmask: 'bitmask',
  markMask: 'markmask',
  size: 'size',
  range: 'range',
  timeout: 'timeout',
  counters: 'counters',
  comment: 'comment',
  skbInfo: 'skbinfo',
  forceAdd: 'forceadd',
};

function formatParameter(parameter: Parameter, value: unknown): string {
  switch (parameter) {
    case 'family':
      return value === 6 ? 'inet6' : 'inet';
    case 'range':
      return (value as readonly unknown[]).join('-');
    case 'initval':
    case 'markMask':
      return hexadecimal(value as number);
    default:
      return String(value);
  }
}

function formatSavedEntry(entry: SetEntry): string {
  const words = [formatElement(entry, namedProtocol)];
  if (entry.timeout !== undefined) words.push(`timeout ${entry.timeout}`);
  if (entry.noMatch) words.push('nomatch');
  if (entry.wildcard) words.push('wildcard');
  if (entry.before !== undefined) words.push(`before ${entry.before}`);
  if (entry.after !== undefined) words.push(`after ${entry.after}`);
  if (entry.packets !== undefined) words.push(`packets ${entry.packets}`);
  if (entry.bytes !== undefined) words.push(`bytes ${entry.bytes}`);
  if (entry.comment !== undefined) words.push(`comment "${entry.comment}"`);
  if (entry.skbMark !== undefined) words.push(`skbmark ${formatMark(entry.skbMark, entry.skbMask)}`);
  if (entry.skbPrio !== undefined) {
    words.push(`skbprio ${(entry.skbPrio >>> 16).toString(16)}:${(entry.skbPrio & 0xffff).toString(16)}`);
  }
  if (entry.skbQueue !== undefined) words.push(`skbqueue ${entry.skbQueue}`);
  return words.join(' ');
}

function formatMark(mark: number, mask = 0xffff_ffff): string {
  const hex = `0x${mark.toString(16)}`;
  return mask === 0xffff_ffff ? hex : `${hex}/0x${mask.toString(16)}`;
}
