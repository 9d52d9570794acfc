// Connection tracking that lives in memory: keeps the flows that a test lets it track, refuses what the real one refuses.
import { attemptOf } from '../kernel/conntrack/names.js';
import { FILTER_SIZE, writeSelection } from '../kernel/conntrack/records.js';
import type {
  Conntrack,
  Flow,
  FlowFilter,
  FlowId,
  FlowProtocol,
  FlowSelection,
  FlowTuple,
} from '../kernel/conntrack/types.js';
import { onlyRecord, RecordWriter } from '../kernel/fields.js';
import type { OperationResult } from '../kernel/ipvs/types.js';
import { familyOf } from '../net/address.js';
import { PROTOCOL_NUMBERS, protocolOfNumber } from '../net/protocol.js';
import { attempt, type Fault, type Faults } from './faults.js';

/** What a test has to say of a flow. */
export type NewFlow = Pick<Flow, 'protocol' | 'original' | 'reply'> & Partial<Flow>;

/** A fake of conntrack. */
export class FakeConntrack implements Conntrack, Faults {
  fault: Fault = () => undefined;
  /** Listings so far: each is a walk over the whole table in reality. */
  listings = 0;
  readonly #flows = new Set<Flow>();
  #lastId = 0;

  /** Tracks a flow from now on; what is left out is as in a flow of the default zone that has just begun. */
  track(flow: NewFlow): Flow {
    const family = familyOf(flow.original.source);
    const tracked = { family, zone: 0, id: ++this.#lastId, status: 0x8, mark: 0, timeout: 30, ...flow };
    this.#flows.add(tracked);
    return tracked;
  }

  async list(selection?: FlowSelection | readonly FlowSelection[]): Promise<Flow[]> {
    const fault = this.fault('conntrack.list', '');
    if (fault) throw fault;
    const selections = selection === undefined ? undefined : [selection].flat();
    for (const each of selections ?? []) check('conntrack.list', each, false);
    this.listings++;
    return [...this.#flows].filter((flow) => selections?.some((each) => selects(each, flow)) ?? true);
  }

  async delete(filter: FlowFilter): Promise<number> {
    check('conntrack.delete', filter, true);
    const fault = this.fault('conntrack.delete', '');
    if (fault) throw fault;
    const flows = [...this.#flows].filter((flow) => selects(filter, flow));
    for (const flow of flows) this.#flows.delete(flow);
    return flows.length;
  }

  async deleteFlows(flows: readonly FlowId[]): Promise<OperationResult[]> {
    return flows.map((id) =>
      attempt(this, 'conntrack.deleteFlows', attemptOf(id).target ?? '', () => {
        for (const flow of this.#flows) if (hasName(flow, id)) this.#flows.delete(flow);
        return undefined;
      }),
    );
  }

  close(): void {}

  /** What `conntrack -L` prints, sorted, without what changes by itself. */
  dump(): string {
    return [...this.#flows]
      .map((flow) => {
        const name = protocolOfNumber(numberOf(flow.protocol)) ?? 'unknown';
        return `${name} ${numberOf(flow.protocol)} ${words(flow.original)} ${words(flow.reply)} mark=${flow.mark}\n`;
      })
      .sort()
      .join('');
  }
}

/** Throws what the real one throws. */
function check(operation: string, selection: FlowSelection, toDelete: boolean): void {
  const writer = new RecordWriter(FILTER_SIZE, 1);
  writeSelection(selection, toDelete, writer);
  onlyRecord(writer, operation);
}

function selects({ family, protocol, original = {}, reply = {} }: FlowSelection, flow: Flow): boolean {
  const alike = (wanted: Partial<FlowTuple>, tuple: FlowTuple) =>
    Object.entries(wanted).every(([field, value]) => tuple[field as keyof FlowTuple] === value);
  return (
    family === flow.family &&
    (protocol === undefined || numberOf(protocol) === numberOf(flow.protocol)) &&
    alike(original, flow.original) &&
    alike(reply, flow.reply)
  );
}

function hasName(flow: Flow, { protocol, original, zone = 0, id = 0 }: FlowId): boolean {
  return (
    numberOf(protocol) === numberOf(flow.protocol) &&
    words(original) === words(flow.original) &&
    zone === flow.zone &&
    (id === 0 || id === flow.id)
  );
}

function numberOf(protocol: FlowProtocol): number {
  return typeof protocol === 'number' ? protocol : PROTOCOL_NUMBERS[protocol];
}

function words({ source, destination, sourcePort, destinationPort }: FlowTuple): string {
  return `src=${source} dst=${destination} sport=${sourcePort} dport=${destinationPort}`;
}
