// Flows are listed in portions: those that are not selected are dropped as they come, the others are read when they are asked for.
import { NetlinkError } from '../errors.js';
import type { NativeNetlinkClient, NativePortion } from '../shared/addon.js';
import { isNativeError } from '../shared/calls.js';
import type { Reading } from '../shared/listing.js';
import { aligned, MESSAGE_HEADER } from '../shared/wire/messages.js';
import { TimeSlice } from '../timeSlice.js';
import { FlowNames } from './decode/flowNames.js';
import { FlowReader, firstFlow } from './decode/flows.js';
import { type FlowName, getRequest, listRequest } from './encode/requests.js';
import type { ListingPlan } from './plans.js';
import type { Selector } from './selector.js';
import type { Flow } from './types.js';

/** Reads the messages of the selected flows. Ends with the reason of an aborted signal, before the next portion. */
export async function listFlows(
  client: NativeNetlinkClient,
  plan: ListingPlan,
  operation: string,
  signal?: AbortSignal,
): Promise<Uint8Array[]> {
  const kept: Uint8Array[] = [];
  for (const dump of plan.dumps) {
    const request = listRequest(dump, plan.table, plan.zeroCounters);
    try {
      await listInto(kept, client, request, plan.selector, operation, signal);
    } catch (error) {
      if (!plan.partial || !isInterrupted(error)) throw error;
    }
  }
  return kept;
}

async function listInto(
  kept: Uint8Array[],
  client: NativeNetlinkClient,
  request: Uint8Array,
  selector: Selector | undefined,
  operation: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const before = kept.length;
  const slice = new TimeSlice();
  let coming: Promise<NativePortion> | undefined = client.beginListing(request);
  try {
    while (coming) {
      const portion: NativePortion = await coming;
      // While the kernel makes the next portion, this one is selected from.
      coming = portion.ended ? undefined : client.readListing();
      signal?.throwIfAborted();
      // The next attempt finds the same flows again.
      if (portion.restarted) kept.length = before;
      const { messages } = portion;
      const selected = selector ? await selectedOf(messages, selector, operation, slice) : messages;
      if (selected.length > 0) kept.push(selected);
    }
  } finally {
    await coming?.catch(() => undefined); // the next call must not come before it
  }
}

function isInterrupted(error: unknown): boolean {
  return (isNativeError(error) || error instanceof NetlinkError) && error.code === 'ERR_INTERRUPTED';
}

/** The messages of the selected flows, which take the place of the others. */
async function selectedOf(
  messages: Uint8Array,
  selector: Selector,
  operation: string,
  slice: TimeSlice,
): Promise<Uint8Array> {
  const reader = new FlowReader(messages, operation);
  let length = 0;
  while (reader.next()) {
    if (slice.spend(selector.steps)) await slice.yield();
    if (!selector.selects(reader)) continue;
    const start = reader.message.start - MESSAGE_HEADER;
    const end = Math.min(aligned(reader.message.end), messages.length);
    if (start > length) messages.copyWithin(length, start, end);
    length += end - start;
  }
  // Else a few flows would hold the memory of a portion.
  return length < messages.length / 2
    ? new Uint8Array(messages.subarray(0, length))
    : messages.subarray(0, length);
}

/** Reads the flows of a listing, each once. */
export function* readFlows(portions: readonly Uint8Array[], operation: string): Reading<Flow> {
  for (const reader of readersOf(portions, operation)) yield reader?.flow();
}

/** The same without an object for each: a reader that has read the flow, until the next one is asked for. */
export function* readersOf(portions: readonly Uint8Array[], operation: string): Reading<FlowReader> {
  const names = new FlowNames(portions.reduce((sum, { length }) => sum + length, 0));
  for (const portion of portions) {
    const reader = new FlowReader(portion, operation);
    while (reader.next()) yield names.add(reader) ? reader : undefined;
  }
}

/** Reads the flow with this name; undefined when another one has its tuple. Rejects with ENOENT when there is none. */
export async function getFlow(
  client: NativeNetlinkClient,
  name: FlowName,
  zeroCounters: boolean,
): Promise<Flow | undefined> {
  const read = async (zero: boolean) => {
    const found = firstFlow(await client.query(getRequest(name, zero)), 'conntrack.get');
    // The kernel does not compare the id.
    return found && (name.id === 0 || name.id === found.id) ? found.flow() : undefined;
  };
  // With the id, the kernel may have another flow, whose counters must stay.
  if (zeroCounters && name.id !== 0 && !(await read(false))) return undefined;
  return read(zeroCounters);
}
