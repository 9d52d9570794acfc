// What calls ask for, from their arguments: listings, the reading of one flow, and watches.
import { argumentError, checkOptions } from '../shared/arguments.js';
import { Checker } from '../shared/checker.js';
import type { CallOptions } from '../shared/types.js';
import { atOnce, StepCounter, type Steps } from '../steps.js';
import { DumpPlan, EVERY_FLOW, type Filter } from './filters.js';
import { GROUP } from './numbers.js';
import { filterOf } from './selections.js';
import { Selector } from './selector.js';
import type {
  FlowEventKind,
  FlowSelection,
  FlowTable,
  FlowWatchOptions,
  GetOptions,
  ListOptions,
} from './types.js';

/** How flows are listed. */
export interface ListingPlan {
  /** The part of each dump that the kernel filters. */
  readonly dumps: readonly Filter[];
  /** Which flows of the dumps are listed; undefined for all. */
  readonly selector: Selector | undefined;
  readonly table: FlowTable;
  readonly zeroCounters: boolean;
  /** A listing that is cut short has the flows read so far. */
  readonly partial: boolean;
}

type Selections = FlowSelection | readonly FlowSelection[] | undefined;

const TABLES: Readonly<Record<FlowTable, number>> = { conntrack: 0, dying: 1, unconfirmed: 2 };
const LIST_OPTIONS: ReadonlySet<string> = new Set(['partial', 'table', 'zeroCounters', 'signal']);
const KINDS = Object.keys(GROUP) as FlowEventKind[];

/** Selections in an array of their own. */
export function selectionsOf(selection: FlowSelection | readonly FlowSelection[]): readonly FlowSelection[] {
  return Array.isArray(selection) ? selection.slice() : [selection as FlowSelection];
}

/** The plan of a listing. Throws the error of the call when an argument is invalid. */
export function* planListingInSteps(selection: Selections, options: ListOptions): Steps<ListingPlan> {
  const { dumps, selector } = yield* select(selection, 'conntrack.list');
  const how = checkedOptions(options, selection !== undefined);
  // The kernel filters no other table.
  return { dumps: how.table === 'conntrack' ? dumps : [EVERY_FLOW], selector, ...how };
}

/** The plan of a listing by one filter. */
export function planOf(filter: Filter): ListingPlan {
  const [selector, plan] = [new Selector(), new DumpPlan()];
  selector.add(filter);
  plan.add(filter);
  return { dumps: plan.dumps(), selector, table: 'conntrack', zeroCounters: false, partial: false };
}

function* select(
  selection: Selections,
  operation: string,
): Steps<{ readonly dumps: readonly Filter[]; readonly selector: Selector | undefined }> {
  if (selection === undefined) return { dumps: [EVERY_FLOW], selector: undefined };
  const [selector, plan, counter] = [new Selector(), new DumpPlan(), new StepCounter()];
  for (const each of selectionsOf(selection)) {
    const check = new Checker();
    const filter = filterOf(each, false, check);
    if (check.invalid) throw argumentError(operation, check.invalid);
    selector.add(filter);
    plan.add(filter);
    if (counter.isFull()) yield;
  }
  return { dumps: plan.dumps(), selector };
}

function checkedOptions(
  options: ListOptions,
  isSelective: boolean,
): Pick<ListingPlan, 'partial' | 'table' | 'zeroCounters'> {
  checkOptions('conntrack.list', options);
  const { partial = false, table = 'conntrack', zeroCounters = false } = options;
  const check = new Checker();
  for (const [field, value] of Object.entries(options)) {
    if (!LIST_OPTIONS.has(field)) check.fail(field, value, 'is not an option', true);
  }
  for (const [field, value] of Object.entries({ partial, zeroCounters })) {
    if (typeof value !== 'boolean') check.fail(field, value, 'must be true or false', true);
  }
  check.choice('table', table, TABLES);
  if (zeroCounters && (isSelective || table !== 'conntrack')) {
    const rule = 'must be false with a selection or another table: the kernel would change other flows too';
    check.fail('zeroCounters', zeroCounters, rule);
  }
  if (check.invalid) throw argumentError('conntrack.list', check.invalid);
  return { partial, table, zeroCounters };
}

/** The options with which a flow is read, apart from those of every call. Throws the error of the call when one breaks a rule. */
export function readGetOptions(options: GetOptions): {
  readonly zeroCounters: boolean;
  readonly call: CallOptions;
} {
  checkOptions('conntrack.get', options);
  const { zeroCounters = false, ...call } = options;
  if (typeof zeroCounters === 'boolean') return { zeroCounters, call };
  const rule = 'must be true or false';
  throw argumentError('conntrack.get', { field: 'zeroCounters', value: zeroCounters, rule, wrongType: true });
}

/** What a watch reports: the events of these groups, of the selected flows. Throws the error of the call when an option breaks a rule. */
export function planWatch(options: FlowWatchOptions): {
  readonly groups: readonly number[];
  readonly selector: Selector | undefined;
} {
  checkOptions('conntrack.watch', options);
  const { kinds = KINDS, selection } = options;
  const check = new Checker();
  const groups = new Set<number>();
  if (!Array.isArray(kinds)) check.fail('kinds', kinds, 'must be an array', true);
  else for (const [i, kind] of kinds.entries()) groups.add(check.choice(`kinds[${i}]`, kind, GROUP));
  if (check.invalid) throw argumentError('conntrack.watch', check.invalid);
  return { groups: [...groups], selector: atOnce(select(selection, 'conntrack.watch')).selector };
}
