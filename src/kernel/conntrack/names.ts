// Names of operations and their targets in errors, in the notation of conntrack(8), and hints.
import { joinHostPort } from '../../net/address.js';
import type { Attempt } from '../failures.js';
import { moduleHint, recent } from '../hints.js';
import type { FlowId, FlowSelection, FlowTuple } from './types.js';

/** Names the deletion of a flow: `udp 10.0.0.1:4000 -> 10.96.0.10:53`. Accepts any value. */
export function attemptOf(flow: FlowId, verb: 'delete' | 'deleteFlows' = 'deleteFlows'): Attempt {
  const end = (address: unknown, port: unknown) => joinHostPort(String(address), Number(port));
  const tuple = flow?.original;
  const target = tuple
    ? `${flow.protocol} ${end(tuple.source, tuple.sourcePort)} -> ${end(tuple.destination, tuple.destinationPort)}`
    : String(tuple);
  return { operation: `conntrack.${verb}`, target, hint: hintFor };
}

/** Names a call on selections of flows. */
export function attemptOn(verb: 'list' | 'delete', selections: readonly FlowSelection[]): Attempt {
  return { operation: `conntrack.${verb}`, target: nameSelections(selections), hint: hintFor };
}

/** The hint for every operation: nfnetlink refuses a subsystem whose module is not loaded (EINVAL). */
export function hintFor(code: string, kernelMessage: string | undefined): string | undefined {
  if (code !== 'EINVAL' || kernelMessage) return undefined;
  return recent('nf_conntrack_netlink', () => moduleHint('nf_conntrack_netlink'));
}

const OPTIONS: Readonly<Record<'original' | 'reply', Readonly<Record<keyof FlowTuple, string>>>> = {
  original: {
    source: '--orig-src',
    destination: '--orig-dst',
    sourcePort: '--orig-port-src',
    destinationPort: '--orig-port-dst',
  },
  reply: {
    source: '--reply-src',
    destination: '--reply-dst',
    sourcePort: '--reply-port-src',
    destinationPort: '--reply-port-dst',
  },
};

// `-f ipv4 -p udp --orig-dst 10.96.0.10 --orig-port-dst 53`, of several the first and how many others there are.
function nameSelections(selections: readonly FlowSelection[]): string | undefined {
  const [first] = selections;
  if (!first) return undefined;
  const others = selections.length === 1 ? '' : ` and ${selections.length - 1} others`;
  return `${nameSelection(first)}${others}`;
}

function nameSelection({ family, protocol, original = {}, reply = {} }: FlowSelection): string {
  const sides = Object.entries({ original, reply }) as ['original' | 'reply', Partial<FlowTuple>][];
  const fields = sides.flatMap(([side, tuple]) =>
    Object.entries(tuple).map(([field, value]) => `${OPTIONS[side][field as keyof FlowTuple]} ${value}`),
  );
  return [`-f ipv${family}`, ...(protocol === undefined ? [] : [`-p ${protocol}`]), ...fields].join(' ');
}
