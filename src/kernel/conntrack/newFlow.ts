// A flow that was listed → the addition that makes it again.
import { argumentError } from '../shared/arguments.js';
import { FlowWriter } from './encode/batch.js';
import { checkedName } from './encode/operations.js';
import { natOf } from './nat.js';
import type { FlowStatus } from './states.js';
import type { Flow, NewFlow, Translation } from './types.js';

/** The flags that a program sets: the kernel sets the others by itself, with the fields that they are about. */
const SET_BY_PROGRAMS: ReadonlySet<FlowStatus> = new Set(['SEEN_REPLY', 'ASSURED', 'FIXED_TIMEOUT']);

/**
 * The addition that makes a listed flow again, for add() and apply(). Of a flow with NAT it has the translation in place of the
 * reply tuple. What the kernel gives every flow is left out: id, counters, time of its start, security context.
 *
 * Throws a TypeError or RangeError that names the field whose value the kernel does not take: a state without a name, for example.
 */
export function newFlowOf(flow: Flow): NewFlow {
  return additionOf(flow, 'conntrack.newFlowOf');
}

/** The same for another operation. */
export function additionOf(flow: Flow, operation: string): NewFlow {
  checkedName(flow, operation); // checks the fields that every flow has
  const { protocol, original, timeout, zone, replyZone, mark, helper, tcpState, sctp, labels, master } = flow;
  const { source, destination } = natOf(flow);
  checkGiven(operation, { zone, replyZone, mark });
  checkGiven(operation, { sourcePort: original.sourcePort, destinationPort: original.destinationPort });
  const added: NewFlow = {
    ...{ protocol, original, timeout, zone, replyZone, mark },
    status: flow.status.filter((flag) => SET_BY_PROGRAMS.has(flag)),
    ...(source || destination ? {} : { reply: flow.reply }),
    ...(source && { sourceNat: translationTo(source) }),
    ...(destination && { destinationNat: translationTo(destination) }),
    ...(helper !== undefined && { helper }),
    ...(tcpState !== undefined && { tcpState }),
    ...(sctp !== undefined && { sctp }),
    ...(labels !== undefined && { labels }),
    ...(master !== undefined && { master }),
  };
  const invalid = new FlowWriter().write({ do: 'addFlow', flow: added });
  if (invalid) throw argumentError(operation, invalid);
  return added;
}

/** Protocols without ports have the port 0. */
function translationTo({ address, port }: { address: string; port: number }): Translation {
  return port === 0 ? { address } : { address, port };
}

/** An addition has a default for these, a listed flow has each. */
function checkGiven(operation: string, values: Readonly<Record<string, unknown>>): void {
  for (const [field, value] of Object.entries(values)) {
    if (value === undefined)
      throw argumentError(operation, { field, value, rule: 'must be given', wrongType: true });
  }
}
