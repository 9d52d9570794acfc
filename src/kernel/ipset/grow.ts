// Growing a hash: a larger one is made beside it, and takes its place.
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import { NetlinkError } from '../errors.js';
import { argumentError, findUnknown, invalidInteger, invalidObject } from '../shared/arguments.js';
import { toNetlinkError } from '../shared/failures.js';
import { throwOnFailure } from '../shared/throwOnFailure.js';
import type { CallOptions, OperationResult } from '../shared/types.js';
import { TimeSlice } from '../timeSlice.js';
import { attemptToRead } from './names.js';
import { PARAMETERS } from './parameters.js';
import type { Ipset, IpsetOperation, LargerSet, ListedEntry, SetDefinition, SetState } from './types.js';
import { formatEntry } from './values/entry.js';

/** The verbs that growing needs. */
type Sets = Pick<Ipset, 'get' | 'create' | 'apply' | 'swap' | 'destroy'>;

const LARGER: ReadonlySet<string> = new Set(['maxElements', 'hashSize']);
/** Entries of one batch: packing them takes a few ms. */
const PORTION = 2000;
const ATTEMPTS = 5;

/** Replaces a hash by a larger one; `Ipset.grow` describes the guarantees. */
export async function grow(sets: Sets, name: string, larger: LargerSet, options: CallOptions): Promise<void> {
  checkLarger(larger);
  const state = await sets.get(name, options);
  if (!state) throw missing(name);
  const temporary = await createBeside(sets, largerDefinition(state, larger), options);
  try {
    await copy(sets, temporary, state.entries, options);
    options.signal?.throwIfAborted();
    // From here on nothing is aborted: the outcome of a swap that was not awaited is unknown.
    await sets.swap(name, temporary.name);
  } catch (error) {
    throw await destroyed(sets, temporary.name, error);
  }
  try {
    await catchUp(sets, { ...temporary, name }, temporary.name, state.entries);
  } catch (error) {
    throw await undone(sets, name, temporary.name, error);
  }
  await sets.destroy(temporary.name);
}

/** The error to throw after the former set has its name again; if that fails, the former set remains beside the larger one. */
async function undone(sets: Sets, name: string, former: string, error: unknown): Promise<unknown> {
  try {
    await sets.swap(name, former);
  } catch (second) {
    return remaining(former, error, second);
  }
  return destroyed(sets, former, error);
}

function checkLarger(larger: LargerSet): void {
  const { maxElements = 1, hashSize = 1 } = larger ?? {};
  const invalid =
    invalidObject('larger', larger) ??
    findUnknown(larger, LARGER) ??
    invalidInteger('maxElements', maxElements, 1, 0xffff_ffff) ??
    invalidInteger('hashSize', hashSize, 1, 0x8000_0000);
  if (invalid) throw argumentError('ipset.grow', invalid);
}

function missing(name: string): NetlinkError {
  return toNetlinkError(
    { errno: constants.errno.ENOENT, code: '', message: '' },
    attemptToRead('grow', name),
  );
}

/** The definition of the set with other sizes. A set of which something would be lost is refused. */
function largerDefinition({ set, entries }: SetState, larger: LargerSet): SetDefinition {
  const refuse = (rule: string) =>
    argumentError('ipset.grow', { field: 'name', value: set.name, rule, wrongType: false });
  if (!set.type.startsWith('hash:')) throw refuse(`must be the name of a hash, and not of a ${set.type}`);
  if (set.attributes || entries.some(({ attributes }) => attributes)) {
    throw refuse('must be the name of a set whose attributes are all known');
  }
  // A new hash function: the kernel's default.
  const parameters = PARAMETERS.filter((parameter) => parameter !== 'initval').map((parameter) => [
    parameter,
    set[parameter],
  ]);
  const { name, type, hashSize = 0 } = set;
  const defined = Object.fromEntries(parameters.filter(([, value]) => value !== undefined));
  const { maxElements = set.maxElements } = larger;
  return {
    ...defined,
    ...{ name, type, hashSize: larger.hashSize ?? hashSize },
    ...(maxElements !== undefined && { maxElements }),
  } as SetDefinition;
}

/** Creates a set of this definition with a name of its own. */
async function createBeside(
  sets: Sets,
  definition: SetDefinition,
  options: CallOptions,
): Promise<SetDefinition> {
  for (let attempt = 1; ; attempt++) {
    const temporary = { ...definition, name: `knp-${randomBytes(8).toString('hex')}` };
    try {
      await sets.create(temporary, { ...options, strict: true });
      return temporary;
    } catch (error) {
      const isUsed = error instanceof NetlinkError && error.code === 'EEXIST';
      if (!isUsed || attempt === ATTEMPTS) throw error;
    }
  }
}

async function copy(
  sets: Sets,
  set: SetDefinition,
  entries: readonly ListedEntry[],
  options: CallOptions,
): Promise<void> {
  for (let i = 0; i < entries.length; i += PORTION) {
    const portion = entries.slice(i, i + PORTION).map((entry) => ({ do: 'add', set, entry }) as const);
    throwOnFailure(await sets.apply(portion, options));
  }
}

/** Repeats in the larger set what others did to the old one, now called `former`, while its entries were copied. */
async function catchUp(
  sets: Sets,
  set: SetDefinition,
  former: string,
  copied: readonly ListedEntry[],
): Promise<void> {
  const state = await sets.get(former);
  const slice = new TimeSlice();
  const left = new Map<string, ListedEntry>();
  for (const entry of state?.entries ?? []) {
    left.set(formatEntry(entry), entry);
    if (slice.spend(1)) await slice.yield();
  }
  const operations: IpsetOperation[] = [];
  for (const entry of copied) {
    if (slice.spend(1)) await slice.yield();
    const key = formatEntry(entry);
    const now = left.get(key);
    left.delete(key);
    if (now === undefined) operations.push({ do: 'delete', set, entry });
    else if (isRewritten(entry, now)) operations.push({ do: 'add', set, entry: now });
  }
  // Others may have added the same entry to the larger set meanwhile: theirs is newer, and stays.
  for (const entry of left.values()) operations.push({ do: 'add', set, entry, strict: true });
  const results = await sets.apply(operations);
  throwOnFailure(results.filter((result) => !isExisting(result)));
}

function isExisting(result: OperationResult): boolean {
  return result?.code === 'IPSET_ERR_EXIST';
}

/** Whether an entry was added again while it was copied. Its timeout otherwise only gets shorter. */
function isRewritten(before: ListedEntry, now: ListedEntry): boolean {
  const { timeout: first = 0 } = before;
  const { timeout: second = 0 } = now;
  if (second > first || (second === 0) !== (first === 0)) return true;
  return (['comment', 'skbMark', 'skbMask', 'skbPrio', 'skbQueue'] as const).some(
    (field) => before[field] !== now[field],
  );
}

/** The error to throw after the temporary set was destroyed, or could not be. */
async function destroyed(sets: Sets, name: string, error: unknown): Promise<unknown> {
  try {
    await sets.destroy(name);
    return error;
  } catch (second) {
    return remaining(name, error, second);
  }
}

function remaining(name: string, ...errors: readonly unknown[]): AggregateError {
  return new AggregateError(errors, `ipset.grow: the temporary set ${name} remains`);
}
