// Expectations, and the numbers of the table and of each CPU, as the kernel lists them.
import { NetlinkError } from '../../errors.js';
import { protocolOfNumber } from '../../net/protocol.js';
import type { Reading } from '../../shared/listing.js';
import { AttributeScanner } from '../../shared/wire/attributeScanner.js';
import { MessageCursor } from '../../shared/wire/messages.js';
import { AF, CTA_CPU, CTA_EXPECT, CTA_GLOBAL, NETFILTER_HEADER } from '../numbers.js';
import type { ConntrackStatistics, CpuStatistics } from '../reports.js';
import type { Expectation } from '../types.js';
import { masterOf } from './details.js';
import { ReadTuple } from './tuples.js';

/** The messages of an answer: `next()`, then their attributes. */
class Answer extends AttributeScanner {
  readonly #message: MessageCursor;

  constructor(bytes: Uint8Array, operation: string) {
    super(bytes, operation);
    this.#message = new MessageCursor(this.view, operation);
  }

  /** Moves to the next message; false behind the last one. */
  next(): boolean {
    if (!this.#message.next()) return false;
    if (this.#message.end - this.#message.start >= NETFILTER_HEADER) return true;
    throw this.malformed('no nfgenmsg');
  }

  /** `nfgen_family`: `AF_…`. */
  get family(): number {
    return this.view.getUint8(this.#message.start);
  }

  /** `res_id`. */
  get resource(): number {
    return this.view.getUint16(this.#message.start + 2);
  }

  /** Enters each attribute of the message in turn. */
  *attributes(): Generator<number, void> {
    const { start, end } = this.#message;
    for (let at = start + NETFILTER_HEADER; at < end; ) {
      at = this.enter(at, end);
      yield this.type;
    }
  }
}

/** Reads a listing of expectations. */
export function* readExpectations(bytes: Uint8Array): Reading<Expectation> {
  for (const answer = new Answer(bytes, 'conntrack.expectations'); answer.next(); ) {
    yield readExpectation(answer);
  }
}

function readExpectation(answer: Answer): Expectation {
  const [tuple, mask, master] = [new ReadTuple(), new ReadTuple(), new ReadTuple()];
  const numbers = { timeout: 0, id: 0, zone: 0, flags: 0, class: 0 };
  let helper = '';
  for (const type of answer.attributes()) {
    if (type === CTA_EXPECT.tuple) tuple.read(answer);
    else if (type === CTA_EXPECT.mask) mask.read(answer);
    else if (type === CTA_EXPECT.master) master.read(answer);
    else if (type === CTA_EXPECT.timeout) numbers.timeout = answer.u32be();
    else if (type === CTA_EXPECT.id) numbers.id = answer.u32be();
    else if (type === CTA_EXPECT.zone) numbers.zone = answer.u16be();
    else if (type === CTA_EXPECT.flags) numbers.flags = answer.u32be();
    else if (type === CTA_EXPECT.class) numbers.class = answer.u32be();
    else if (type === CTA_EXPECT.helper) helper = answer.text();
  }
  const { family: number, bytes } = answer;
  if (![tuple, mask, master].every((each) => each.isWhole(number))) {
    throw answer.malformed('expectation without its tuple, its mask or its master');
  }
  const family = number === AF[6] ? 6 : 4;
  const { protocol } = tuple;
  mask.protocol = protocol;
  return {
    family,
    protocol: protocolOfNumber(protocol) ?? protocol,
    original: tuple.value(bytes, family),
    mask: mask.value(bytes, family),
    master: masterOf(master, bytes, family),
    ...numbers,
    ...(helper === '' ? {} : { helper }),
  };
}

/** Reads the number of flows, and the maximum of them. */
export function readTotals(bytes: Uint8Array): Omit<ConntrackStatistics, 'cpus'> {
  const operation = 'conntrack.statistics';
  let entries: number | undefined;
  let maxEntries: number | undefined;
  for (const answer = new Answer(bytes, operation); answer.next(); ) {
    for (const type of answer.attributes()) {
      if (type === CTA_GLOBAL.entries) entries = answer.u32be();
      else if (type === CTA_GLOBAL.maxEntries) maxEntries = answer.u32be() || undefined;
    }
  }
  if (entries !== undefined) return { entries, maxEntries };
  const kernelMessage = 'statistics without the number of flows';
  throw new NetlinkError({ code: 'ERR_MALFORMED_REPLY', operation, kernelMessage });
}

const COUNTERS = Object.entries(CTA_CPU) as readonly [keyof typeof CTA_CPU, number][];

/** Reads the counters of each CPU. */
export function readCpus(bytes: Uint8Array): CpuStatistics[] {
  const cpus: CpuStatistics[] = [];
  for (const answer = new Answer(bytes, 'conntrack.statistics'); answer.next(); ) {
    const counters = Object.fromEntries(COUNTERS.map(([name]) => [name, 0])) as Record<
      keyof typeof CTA_CPU,
      number
    >;
    for (const type of answer.attributes()) {
      const known = COUNTERS.find(([, number]) => number === type);
      if (known) counters[known[0]] = answer.u32be();
    }
    cpus.push({ cpu: answer.resource, ...counters });
  }
  return cpus;
}
