// Selections of flows → filters.
import type { Family } from '../net/address.js';
import { parseAddressAsIs } from '../net/address.js';
import { parseNetworkAsIs } from '../net/network.js';
import { argumentError } from '../shared/arguments.js';
import { Checker } from '../shared/checker.js';
import { labelBits, maskedMark, statusBits } from './fields.js';
import { type AddressFilter, EVERY_FLOW, type Filter, type TuplePart } from './filters.js';
import { isIcmp, isIcmpKind, LARGEST_U8, LARGEST_U16, TUPLE_FIELDS, WIDTHS } from './tuples.js';
import type { FlowFilter, FlowSelection, IcmpKind, MaskedMark, TupleFilter } from './types.js';

const SELECTION_FIELDS: ReadonlySet<string> = new Set([
  ...['family', 'protocol', 'original', 'reply'],
  ...['mark', 'status', 'notStatus', 'zone', 'replyZone', 'labels'],
]);

const TOO_WIDE =
  'must name an address, a port, a mark, a zone or a label: without one it would select every flow, or every one of a protocol';

/** A field while a filter is made. */
type Draft<T> = { -readonly [Field in keyof T]: T[Field] };

/** The filter of a selection; `toDelete` makes sure that it narrows, see {@link FlowFilter}. */
export function filterOf(selection: FlowSelection, toDelete: boolean, check: Checker): Filter {
  const filter: Draft<Filter> = { ...EVERY_FLOW };
  if (!check.isObject(toDelete ? 'filter' : 'selection', selection)) return filter;
  check.onlyFields('', selection, SELECTION_FIELDS, 'a filter');
  filter.family = familyOf(selection, check);
  const protocol = 'protocol' in selection ? check.protocol('protocol', selection.protocol) : 0;
  filter.protocol = protocol;
  filter.original = partOf('original', selection, filter.family || 4, protocol, check);
  filter.reply = partOf('reply', selection, filter.family || 4, protocol, check);
  const hasPorts = [filter.original, filter.reply].some(
    ({ sourcePort, destinationPort }) => sourcePort !== undefined || destinationPort !== undefined,
  );
  if (protocol === 0 && hasPorts) check.fail('protocol', undefined, 'must be given with a port', true);
  takeConditions(selection, filter, check);
  if (toDelete && !narrows(filter)) check.fail('filter', selection, TOO_WIDE, true);
  return filter;
}

/** The filter to delete by; throws the error of the call when it is invalid. */
export function deletionFilter(filter: FlowFilter): Filter {
  const check = new Checker();
  const made = filterOf(filter, true, check);
  if (check.invalid) throw argumentError('conntrack.delete', check.invalid);
  return made;
}

/**
 * Whether a filter has a condition that most flows do not fulfil by default. Others select the whole table, or a whole protocol, and must
 * not be used to delete flows.
 */
function narrows({ original, reply, mark, zone, replyZone, labels }: Filter): boolean {
  return (
    narrowsTuple(original) ||
    narrowsTuple(reply) ||
    (mark?.value ?? 0) !== 0 ||
    (zone ?? 0) !== 0 ||
    (replyZone ?? 0) !== 0 ||
    (labels?.some((byte) => byte !== 0) ?? false)
  );
}

function narrowsTuple({ source, destination, ...numbers }: TuplePart): boolean {
  return (source?.prefix ?? 0) > 0 || (destination?.prefix ?? 0) > 0 || Object.keys(numbers).length > 0;
}

/** 0 for both. */
function familyOf(selection: FlowSelection, check: Checker): Family | 0 {
  const { family } = selection;
  if (family === 4 || family === 6) return family;
  const isOptional = !('original' in selection) && !('reply' in selection) && !('family' in selection);
  if (!isOptional) check.fail('family', family, 'must be 4 or 6', typeof family !== 'number');
  return 0;
}

function takeConditions(selection: FlowSelection, filter: Draft<Filter>, check: Checker): void {
  if ('mark' in selection) {
    filter.mark = maskedMark('mark', selection.mark as number | MaskedMark, check);
  }
  for (const field of ['zone', 'replyZone'] as const) {
    if (field in selection) filter[field] = check.integer(field, selection[field], 0, LARGEST_U16);
  }
  if ('labels' in selection) filter.labels = labelBits('labels', selection.labels, check);
  if ('status' in selection || 'notStatus' in selection) filter.status = statusOf(selection, check);
}

function statusOf(selection: FlowSelection, check: Checker): MaskedMark {
  const wanted = 'status' in selection ? statusBits('status', selection.status, check) : 0;
  const unwanted = 'notStatus' in selection ? statusBits('notStatus', selection.notStatus, check) : 0;
  if ((wanted & unwanted) !== 0) {
    check.fail('notStatus', selection.notStatus, 'must have no flag that status has');
  }
  return { value: wanted, mask: (wanted | unwanted) >>> 0 };
}

function partOf(
  side: 'original' | 'reply',
  selection: FlowSelection,
  family: Family,
  protocol: number,
  check: Checker,
): TuplePart {
  if (!(side in selection)) return EVERY_FLOW[side];
  const tuple: TupleFilter | undefined = selection[side];
  if (!check.object(side, tuple, TUPLE_FIELDS, 'a filter')) return {};
  const part: Draft<TuplePart> = {};
  for (const field of ['source', 'destination'] as const) {
    if (field in tuple) part[field] = addressOf(`${side}.${field}`, tuple[field], family, check);
  }
  for (const field of ['sourcePort', 'destinationPort'] as const) {
    if (!(field in tuple)) continue;
    part[field] = check.integer(`${side}.${field}`, tuple[field], 0, LARGEST_U16);
    if (isIcmp(protocol)) check.fail(`${side}.${field}`, tuple[field], 'must be left out: ICMP has no ports');
  }
  if ('icmp' in tuple) takeIcmp(`${side}.icmp`, tuple.icmp, protocol, part, check);
  return part;
}

/** An address, or that of a network with the bits that are compared. */
function addressOf(path: string, value: string | undefined, family: Family, check: Checker): AddressFilter {
  const network = typeof value === 'string' ? parseNetworkAsIs(value) : undefined;
  const bytes = network?.bytes ?? (typeof value === 'string' ? parseAddressAsIs(value) : undefined);
  const own = bytes?.length === 16 ? 6 : 4;
  if (!bytes) check.fail(path, value, 'must be an IPv4 or IPv6 address', typeof value !== 'string');
  // The error of a value that is neither is already noted.
  if (own !== family) check.fail(path, value, `must be an IPv${family} address or network`);
  return { bytes: Array.from(bytes ?? [0, 0, 0, 0]), prefix: network?.prefix ?? WIDTHS[own] };
}

function takeIcmp(
  path: string,
  value: unknown,
  protocol: number,
  part: Draft<TuplePart>,
  check: Checker,
): void {
  if (!isIcmp(protocol)) check.fail(path, value, 'must be given with protocol 1 or 58', true);
  const icmp: Partial<IcmpKind> = isIcmpKind(path, value, check) ? value : {};
  const number = (field: keyof IcmpKind, most: number) =>
    check.integer(`${path}.${field}`, icmp[field], 0, most);
  // The identifier is where others have their source port.
  if ('id' in icmp) part.sourcePort = number('id', LARGEST_U16);
  if ('type' in icmp) part.icmpType = number('type', LARGEST_U8);
  if ('code' in icmp) part.icmpCode = number('code', LARGEST_U8);
}
