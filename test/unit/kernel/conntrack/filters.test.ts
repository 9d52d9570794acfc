// The flows that filters select, the dumps that are requested for them, and the bytes of requests. Expected bytes: conntrack(8).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FlowReader } from '../../../../src/kernel/conntrack/decode/flows.js';
import type { MessageWriter } from '../../../../src/kernel/conntrack/encode/message.js';
import {
  deleteNothingRequest,
  FLUSH,
  GET_STATISTICS,
  listRequest,
} from '../../../../src/kernel/conntrack/encode/requests.js';
import { DumpPlan, type Filter, kernelPart, MOST_WALKS } from '../../../../src/kernel/conntrack/filters.js';
import { CTA } from '../../../../src/kernel/conntrack/numbers.js';
import { Selector } from '../../../../src/kernel/conntrack/selector.js';
import type { FlowSelection } from '../../../../src/kernel/conntrack/types.js';
import { attribute, capture, filtered, hex, type Listed, listedFlow } from '../../../support/tables/flows.js';

/** The filter of a selection, which breaks no rule. */
function of(selection: FlowSelection): Filter {
  const filter = filtered(selection);
  assert.ok(typeof filter !== 'string', String(filter));
  return filter;
}

/** For services that differ in the last byte of their address. */
const to = (service: number, destinationPort: number, protocol: 'tcp' | 'udp' = 'udp') =>
  of({ family: 4, protocol, original: { destination: `10.96.0.${service}`, destinationPort } });
const to6 = (service: number, destinationPort: number) =>
  of({ family: 6, protocol: 'udp', original: { destination: `fd96::${service}`, destinationPort } });

/** Whether any of the filters selects a flow. */
function selects(filters: readonly Filter[], flow: Listed): boolean {
  const selector = new Selector();
  for (const filter of filters) selector.add(filter);
  const reader = new FlowReader(listedFlow(flow), 'conntrack.list');
  assert.ok(reader.next());
  return selector.selects(reader);
}

const flowTo = (service: number, destinationPort: number): Listed => ({
  destination: `10.96.0.${service}`,
  destinationPort,
});

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

describe('a filter selects', () => {
  const flow = flowTo(10, 53);

  it('what it names', () => {
    assert.ok(selects([of({})], flow)); // nothing said, everything selected
    assert.ok(!selects([], flow));
    assert.ok(selects([to(10, 53)], flow));
    assert.ok(!selects([to(11, 53)], flow));
    assert.ok(!selects([to(10, 54)], flow));
    assert.ok(!selects([of({ family: 6 })], flow));
    assert.ok(!selects([to(10, 53, 'tcp')], flow));
    const both = { ...to(10, 53), reply: of({ family: 4, reply: { source: '10.96.0.10' } }).reply };
    assert.ok(selects([both], flow));
    assert.ok(!selects([{ ...both, reply: { ...both.reply, sourcePort: 54 } }], flow));
    const original = { source: '10.0.0.9', destination: '10.96.0.10', sourcePort: 4000, destinationPort: 53 };
    assert.ok(selects([of({ family: 4, protocol: 'udp', original })], flow));
    // A port that is 0 is one.
    assert.ok(!selects([of({ family: 4, protocol: 'udp', original: { ...original, sourcePort: 0 } })], flow));
  });

  it('with any of many', () => {
    const filters = [
      ...numbers(0, 200).map((service) => to(service, 53)),
      ...numbers(1000, 200).map((port) => to(250, port)),
    ];
    filters.push(of({ family: 4, protocol: 'udp', original: { sourcePort: 4001 } }));
    filters.push(of({ family: 4, original: { destination: '10.97.0.0/16' } }));
    assert.ok(selects(filters, flowTo(199, 53)));
    assert.ok(!selects(filters, flowTo(200, 53)));
    assert.ok(selects(filters, flowTo(250, 1199)));
    assert.ok(!selects(filters, flowTo(10, 1199)));
    assert.ok(selects(filters, { ...flowTo(200, 53), sourcePort: 4001 }));
    assert.ok(selects(filters, { destination: '10.97.3.4' }));
    assert.ok(!selects(filters, { destination: '10.98.3.4' }));
  });

  it('addresses of IPv6, which may have equal ends', () => {
    assert.ok(selects([to6(1, 53)], { family: 6, destination: 'fd96::1' }));
    assert.ok(!selects([to6(1, 53)], { family: 6, destination: 'fd97::1' }));
    assert.ok(!selects([to6(1, 53)], { destination: '0.0.0.1' }));
  });

  it('networks', () => {
    const within = (prefix: number, address = '10.96.0.15') =>
      selects([of({ family: 4, original: { destination: `${address}/${prefix}` } })], flow);
    assert.ok(within(0) && within(24) && within(29));
    assert.ok(!within(30) && !within(32));
    assert.ok(within(32, '10.96.0.10'));
  });

  it('kinds of ICMP', () => {
    const ping = { protocol: 1, sourcePort: 7, destinationPort: (8 << 8) | 1 };
    const kind = (icmp: object) => selects([of({ family: 4, protocol: 1, original: { icmp } })], ping);
    assert.ok(kind({ type: 8 }) && !kind({ type: 9 }));
    assert.ok(kind({ code: 1 }) && !kind({ code: 0 }));
    assert.ok(kind({ type: 8, code: 1, id: 7 }) && !kind({ type: 8, code: 1, id: 0 }));
  });

  it('by conditions', () => {
    const labels = new Uint8Array(16);
    labels[15] = 3;
    const more = (writer: MessageWriter) => {
      writer.attribute32(CTA.mark, 0x8000_0006).attribute32(CTA.status, 0xe).attribute16(CTA.zone, 1);
    };
    const conditions = (selection: FlowSelection) => selects([of(selection)], { ...flow, more });
    assert.ok(conditions({ mark: { value: 0x8000_0002, mask: 0x8000_0003 } }));
    assert.ok(!conditions({ mark: { value: 2, mask: 7 } }));
    assert.ok(conditions({ status: ['ASSURED'], notStatus: ['EXPECTED'] }));
    assert.ok(!conditions({ status: ['ASSURED'], notStatus: ['SEEN_REPLY'] }));
    assert.ok(conditions({ zone: 1, replyZone: 1 }));
    assert.ok(!conditions({ zone: 0 }) && !conditions({ replyZone: 0 }));
    assert.ok(conditions({ labels: [] }) && !conditions({ labels: [120] }));
    const labelled = { ...flow, more: (writer: MessageWriter) => writer.attributeBytes(CTA.labels, labels) };
    assert.ok(selects([of({ labels: [120, 121] })], labelled) && !selects([of({ labels: [122] })], labelled));
  });
});

describe('the kernel', () => {
  const dumps = (filters: readonly Filter[]) => {
    const plan = new DumpPlan();
    for (const filter of filters) plan.add(filter);
    return plan.dumps();
  };

  it('is asked for what it gets right', () => {
    const all = { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 1, destinationPort: 2 };
    const fields = (selection: FlowSelection) => Object.keys(kernelPart(of(selection)).original);
    const addresses = ['source', 'destination'];
    const ports = ['sourcePort', 'destinationPort'];
    assert.deepEqual(fields({ family: 4, protocol: 'udp', original: all }), [...addresses, ...ports]);
    const network = { ...all, source: '10.0.0.0/31' };
    assert.deepEqual(fields({ family: 4, protocol: 'udp', original: network }), ['destination', ...ports]);
    assert.deepEqual(fields({ family: 4, protocol: 'sctp', original: all }), addresses);
    const six = { ...all, source: 'fd00::1', destination: 'fd00::2' };
    assert.deepEqual(fields({ family: 6, protocol: 'sctp', original: six }), []);
    assert.deepEqual(fields({ family: 6, protocol: 'tcp', original: six }), ports);
    const conditions = kernelPart(of({ mark: 1, zone: 1, replyZone: 1, labels: [1], status: ['ASSURED'] }));
    assert.deepEqual(Object.keys(conditions), ['family', 'protocol', 'original', 'reply', 'mark', 'status']);
    assert.ok(!('status' in kernelPart(of({ status: [] }))), 'it refuses an empty mask');
  });

  it('is asked for a status that all have', () => {
    const unanswered = { family: 4, notStatus: ['SEEN_REPLY'] } as const;
    const ports = numbers(0, MOST_WALKS + 1).map((sourcePort) =>
      of({ ...unanswered, protocol: 'tcp', original: { sourcePort } }),
    );
    assert.deepEqual(
      dumps(ports).map(({ status }) => status),
      [{ value: 0, mask: 2 }],
    );
    assert.equal(dumps([of(unanswered), of({ family: 4, status: ['ASSURED'] })]).length, 2);
  });

  it('is asked for a mark that all have', () => {
    const marked = (value: number) => of({ mark: { value, mask: 0xff } });
    assert.equal(dumps([marked(1), marked(2), marked(1)]).length, 2);
    const [one, ...others] = dumps(numbers(0, MOST_WALKS + 1).map(marked));
    assert.deepEqual([one?.mark, others.length], [undefined, 0]);
  });

  it('is asked for each part once', () => {
    assert.deepEqual(dumps([]), []);
    assert.equal(dumps([to(10, 53), to(11, 53), to(10, 53)]).length, 2);
    // Without their addresses, which the kernel gets wrong, these are one.
    const six = dumps([to6(10, 53), to6(11, 53)]);
    assert.deepEqual(six, [{ family: 6, protocol: 17, original: { destinationPort: 53 }, reply: {} }]);
  });

  it('is asked for the common part of many', () => {
    const filters = numbers(0, MOST_WALKS).map((service) => to(service, 53));
    assert.equal(dumps(filters).length, MOST_WALKS);
    filters.push(to(MOST_WALKS, 53));
    const common = { family: 4, protocol: 17, original: { destinationPort: 53 }, reply: {} };
    assert.deepEqual(dumps(filters), [common]);
    // One more, with another port; then of another protocol, which makes ports useless to the kernel.
    assert.deepEqual(dumps([...filters, to(10, 54)]), [{ ...common, original: {} }]);
    assert.deepEqual(dumps([...filters, to(10, 53, 'tcp')]), [{ ...common, protocol: 0, original: {} }]);
    // The other family has a listing of its own: of both together, the kernel could filter nothing.
    const both = dumps([...filters, to6(10, 53)]);
    assert.deepEqual(
      both.map(({ family }) => family),
      [4, 6],
    );
  });

  it('is asked for an address that all have, but not for networks with the same one', () => {
    const ports = numbers(0, MOST_WALKS + 1).map((port) => to(10, port));
    const [one] = dumps(ports);
    assert.deepEqual(Object.keys(one?.original ?? {}), ['destination']);
    const network = of({ family: 4, protocol: 'udp', original: { destination: '10.96.0.10/31' } });
    assert.deepEqual(dumps([...ports, network])[0]?.original, {});
  });
});

describe('a request', () => {
  const list = (filter: Filter) => listRequest(filter, 'conntrack', false);
  /** Without the flags, the sequence number and the port, which are filled in when it is sent. */
  const plain = (bytes: Uint8Array) => hex(bytes.slice(0, 6).slice()) + String(hex(bytes.slice(16)));
  const narrow = {
    protocol: 'udp',
    original: { destination: '10.96.0.10', destinationPort: 53 },
    reply: { source: '10.0.0.1' },
  } as const;

  it('lists flows as conntrack(8) does', () => {
    assert.equal(plain(list(of({ family: 4 }))), plain(capture('list4.request')));
    assert.equal(plain(list(of({ family: 6 }))), plain(capture('list6.request')));
    assert.equal(plain(GET_STATISTICS), plain(capture('statistics.request')));
  });

  it('says what of its tuples counts', () => {
    const bytes = list(of({ family: 4, ...narrow }));
    // IP { destination }, PROTO { number, destination port }; IP { source }, PROTO { number }. The flags are those of
    // net/netfilter/nf_internals.h, in the machine's order.
    const original = '0c000180' + '080002000a60000a' + '14000280' + '0500010011000000' + '0600030000350000';
    const reply = '0c000180' + '080001000a000001' + '0c000280' + '0500010011000000';
    assert.equal(hex(attribute(bytes, CTA.original)), original);
    assert.equal(hex(attribute(bytes, CTA.reply)), reply);
    assert.equal(hex(attribute(bytes, CTA.filter)), '080001002a000000' + '0800020009000000');
  });

  it('of both families, or of another table, leaves the filter to us', () => {
    const filter = of({ family: 4, ...narrow });
    assert.equal(list({ ...filter, family: 0 }).length, 20);
    assert.equal(listRequest(filter, 'dying', false).length, 20);
  });

  it('names no flow only to delete all', () => {
    assert.equal(FLUSH.length, 20);
    // The probe of deletions by a filter names a tuple, which kernels without them delete.
    assert.ok(attribute(deleteNothingRequest(), CTA.original));
    assert.ok(attribute(deleteNothingRequest(), CTA.filter));
  });
});
