// Names of operations and their targets in errors, in the notation of conntrack(8), and hints.
import { joinHostPort } from '../net/address.js';
import { hasFields, shown } from '../shared/arguments.js';
import type { Attempt } from '../shared/failures.js';
import { moduleHint, recent } from '../shared/hints.js';
import { verbOf } from '../shared/reported.js';
import type { FlowChanges, FlowId, FlowOperation, FlowSelection, NewFlow, TupleFilter } from './types.js';

/** Names an operation in errors: `udp 10.0.0.1:4000 -> 10.96.0.10:53`. Accepts operations that break every rule. */
export function attemptOf(operation: FlowOperation): Attempt {
  const verb = verbOf(operation);
  const attempt = attemptOn(verb, nameFlow(operation?.flow));
  if (!CHANGING.has(verb)) return attempt;
  const isNew = verb === 'addFlow';
  const given = isNew ? operation.flow : (operation as { readonly changes?: FlowChanges }).changes;
  return { ...attempt, hint: (code) => changeHint(code, isNew, (given ?? {}) as Partial<NewFlow>) };
}

/** Names a call on a target. */
export function attemptOn(verb: string, target?: string): Attempt {
  return { operation: `conntrack.${verb}`, target, hint: hintFor };
}

/** The name of a flow: `udp 10.0.0.1:4000 -> 10.96.0.10:53`. Accepts any value. */
export function nameFlow(flow: FlowId | NewFlow | undefined): string {
  const tuple = flow?.original;
  if (!tuple) return shown(tuple);
  const { icmp } = tuple;
  const [from, to] = [
    nameEnd(tuple.source, tuple.sourcePort),
    nameEnd(tuple.destination, tuple.destinationPort),
  ];
  const kind = icmp ? ` type ${shown(icmp.type)} code ${shown(icmp.code)} id ${shown(icmp.id)}` : '';
  return icmp
    ? `${shown(flow.protocol)} ${shown(tuple.source)} -> ${shown(tuple.destination)}${kind}`
    : `${shown(flow.protocol)} ${from} -> ${to}`;
}

function nameEnd(address: unknown, port: unknown): string {
  return port === undefined ? shown(address) : joinHostPort(shown(address), shown(port));
}

/** The hint for operations without values: nfnetlink refuses a subsystem whose module is not loaded (EINVAL). */
export function hintFor(code: string, kernelMessage: string | undefined): string | undefined {
  if (code !== 'EINVAL' || kernelMessage) return undefined;
  return recent('nf_conntrack_netlink', () => moduleHint('nf_conntrack_netlink'));
}

/** Operations of which the kernel may refuse a value. */
const CHANGING: ReadonlySet<string> = new Set(['addFlow', 'updateFlow']);

function changeHint(
  code: string,
  isNew: boolean,
  { helper, status, labels }: Partial<NewFlow>,
): string | undefined {
  switch (code) {
    case 'EOPNOTSUPP':
      if (helper === undefined) return 'leave out a field that the kernel was built without';
      return `${isNew ? '' : 'a flow that began without a helper gets none later; or '}load the kernel module of the helper (nf_conntrack_${helper}), or leave out a field that the kernel was built without`;
    case 'ENOSPC':
      if (labels === undefined) return undefined;
      return 'the flow has no labels: a rule of its namespace must use labels (connlabel, ct label) when it begins';
    case 'EBUSY':
      // The kernel refuses bits of the status with the same code.
      if (helper === undefined) return undefined;
      return status === undefined ? 'the flow has another helper, which stays' : undefined;
    case 'EEXIST':
      return isNew ? 'another flow has one of its tuples: update it, or delete it first' : undefined;
    default:
      return undefined;
  }
}

const SIDES: Readonly<Record<'original' | 'reply', Readonly<Record<keyof TupleFilter, string>>>> = {
  original: {
    source: '--orig-src',
    destination: '--orig-dst',
    sourcePort: '--orig-port-src',
    destinationPort: '--orig-port-dst',
    icmp: '--icmp',
  },
  reply: {
    source: '--reply-src',
    destination: '--reply-dst',
    sourcePort: '--reply-port-src',
    destinationPort: '--reply-port-dst',
    icmp: '--reply-icmp',
  },
};

const CONDITIONS = {
  mark: '--mark',
  status: '--status',
  notStatus: 'not --status',
  zone: '--orig-zone',
  replyZone: '--reply-zone',
  labels: '--label',
} as const;

/**
 * Names selections: `-f ipv4 -p udp --orig-dst 10.96.0.10 --orig-port-dst 53`, of several the first and how many others
 * there are. Accepts any value.
 */
export function nameSelections(selections: readonly FlowSelection[]): string | undefined {
  const [first] = selections;
  if (!first) return undefined;
  const others = selections.length === 1 ? '' : ` and ${selections.length - 1} others`;
  return `${nameSelection(first)}${others}`;
}

function nameSelection(selection: FlowSelection): string {
  if (!hasFields(selection)) return shown(selection);
  const { family, protocol, original, reply } = selection;
  const sides = Object.entries({ original, reply }) as ['original' | 'reply', TupleFilter][];
  const words = sides.flatMap(([side, tuple]) =>
    Object.entries(tuple ?? {}).map(
      ([field, value]) => `${SIDES[side][field as keyof TupleFilter]} ${textOf(value)}`,
    ),
  );
  const conditions = Object.entries(CONDITIONS).flatMap(([field, option]) => {
    const value = selection[field as keyof typeof CONDITIONS];
    return value === undefined ? [] : [`${option} ${textOf(value)}`];
  });
  return [
    ...(family === undefined ? [] : [`-f ipv${shown(family)}`]),
    ...(protocol === undefined ? [] : [`-p ${shown(protocol)}`]),
    ...words,
    ...conditions,
  ].join(' ');
}

/** `ASSURED,SEEN_REPLY`; `1/3` for a mark; `8/0/1` for a kind of ICMP. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(shown).join();
  return hasFields(value) ? Object.values(value).map(shown).join('/') : shown(value);
}
