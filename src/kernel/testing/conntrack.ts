// Connection tracking in memory: keeps the flows that a test adds, and refuses the same arguments as the real one.
import type { NetlinkError } from '../../errors.js';
import { canonicalAddress, familyOf } from '../../net/address.js';
import { type IpProtocol, PROTOCOL_NUMBERS, protocolOfNumber } from '../../net/protocol.js';
import { attemptOf, attemptOn } from '../conntrack/names.js';
import { PACKING } from '../conntrack/packing.js';
import { packFilter, packSelections } from '../conntrack/records.js';
import type {
  Conntrack,
  Flow,
  FlowChange,
  FlowDeletion,
  FlowFilter,
  FlowId,
  FlowSelection,
  FlowTuple,
  ListOptions,
} from '../conntrack/types.js';
import { reported } from '../reported.js';
import type { OperationResult } from '../types.js';
import { FakeClient } from './client.js';

/** The fields of a flow that a test must give. */
export type NewFlow = Pick<Flow, 'protocol' | 'original' | 'reply'> & Partial<Flow>;

/** A fake of conntrack. */
export class FakeConntrack extends FakeClient<FlowChange> implements Conntrack {
  /** Listings so far: each is a walk over the whole table in reality. */
  listings = 0;
  readonly #flows = new Set<Flow>();
  #lastId = 0;

  /** Adds a flow. The fields left out have the values of a new flow in the default zone. */
  track(flow: NewFlow): Flow {
    const family = familyOf(flow.original.source);
    const tracked = { family, zone: 0, id: ++this.#lastId, status: 0x8, mark: 0, timeout: 30, ...flow };
    this.#flows.add(tracked);
    return tracked;
  }

  async list(
    selection?: FlowSelection | readonly FlowSelection[],
    options: ListOptions = {},
  ): Promise<Flow[]> {
    const selections = selection === undefined ? [] : [selection].flat();
    packSelections(selections, options);
    return this.read(attemptOn('list', selections), () => {
      this.listings++;
      return [...this.#flows].filter(
        (flow) => selection === undefined || selections.some((each) => selects(each, flow)),
      );
    });
  }

  /** Deleting each flow may fail on its own: fault() is called for the listing, and for each flow that was found. */
  async delete(filter: FlowFilter): Promise<FlowDeletion> {
    packFilter(filter);
    let found: Flow[] = [];
    let failures: NetlinkError[] = [];
    const change = { do: 'delete', filter } as const;
    await reported<FlowChange, OperationResult>(
      this,
      [change],
      () => 'delete',
      async () => {
        found = await this.change(attemptOn('delete', [filter]), () =>
          [...this.#flows].filter((flow) => selects(filter, flow)),
        );
        const packing = { ...PACKING, attempt: (flow: FlowId) => attemptOf(flow, 'delete') };
        const results = this.results(found, packing, (flow) => this.#remove(flow));
        failures = results.filter((result) => result !== undefined);
        return [failures[0]];
      },
    );
    return { deleted: found.length - failures.length, failures };
  }

  deleteFlows(flows: readonly FlowId[]): Promise<OperationResult[]> {
    return this.applyAll(flows, PACKING, (id) => this.#remove(id));
  }

  /** The output of `conntrack -L`, sorted, without the values that change by themselves. */
  dump(): string {
    return [...this.#flows]
      .map((flow) => {
        const name = protocolOfNumber(numberOf(flow.protocol)) ?? 'unknown';
        return `${name} ${numberOf(flow.protocol)} ${words(flow.original)} ${words(flow.reply)} mark=${flow.mark}\n`;
      })
      .sort()
      .join('');
  }

  #remove(id: FlowId): undefined {
    for (const flow of this.#flows) if (hasName(flow, id)) this.#flows.delete(flow);
  }
}

function selects({ family, protocol, original = {}, reply = {} }: FlowSelection, flow: Flow): boolean {
  const alike = (wanted: Partial<FlowTuple>, tuple: FlowTuple) =>
    words({ ...tuple, ...wanted }) === words(tuple);
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

function numberOf(protocol: IpProtocol): number {
  return typeof protocol === 'number' ? protocol : PROTOCOL_NUMBERS[protocol];
}

function words({ source, destination, sourcePort, destinationPort }: FlowTuple): string {
  const text = (address: string) => canonicalAddress(address) ?? address;
  return `src=${text(source)} dst=${text(destination)} sport=${sourcePort} dport=${destinationPort}`;
}
