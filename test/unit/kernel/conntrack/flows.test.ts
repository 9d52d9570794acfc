// Flows: read from messages, named in them, and the rule that a name breaks. Expected values of captured ones: conntrack-replies.txt and
// conntrack-details.txt of test/native/captures.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCpus, readExpectations, readTotals } from '../../../../src/kernel/conntrack/decode/reports.js';
import { readEvents } from '../../../../src/kernel/conntrack/events.js';
import { readFlows } from '../../../../src/kernel/conntrack/listing.js';
import { CTA, CTA_COUNTERS, CTA_TIMESTAMP } from '../../../../src/kernel/conntrack/numbers.js';
import { FLOW_STATUSES, statusNames } from '../../../../src/kernel/conntrack/states.js';
import {
  attribute,
  capture,
  FLOW,
  flowsIn,
  hex,
  listedFlow,
  writtenFlow,
} from '../../../support/tables/flows.js';

const [CLIENT, SERVICE, ENDPOINT] = ['10.0.0.9', '10.96.0.10', '10.0.0.1'];

describe('a listing of the kernel', () => {
  it('has flows of IPv4', () => {
    const flows = flowsIn(capture('flows4.reply'));
    assert.equal(flows.length, 4);
    const [zoned, udp, icmp, tcp] = flows;
    assert.deepEqual([zoned?.zone, zoned?.replyZone, zoned?.id], [258, 258, 1966537128]);
    assert.deepEqual(zoned?.status, ['CONFIRMED']);
    const { timeout = 0, ...others } = udp ?? {};
    assert.ok(timeout > 0 && timeout <= 30, String(timeout));
    assert.deepEqual(others, {
      family: 4,
      protocol: 'udp',
      original: { source: CLIENT, destination: SERVICE, sourcePort: 4660, destinationPort: 53 },
      reply: { source: ENDPOINT, destination: CLIENT, sourcePort: 5353, destinationPort: 4660 },
      zone: 0,
      replyZone: 0,
      id: 529710881,
      status: udp?.status,
      mark: 16384,
      use: 1,
    });
    assert.equal(icmp?.protocol, 1);
    assert.deepEqual(icmp.original.icmp, { type: 8, code: 0, id: 513 });
    assert.deepEqual(icmp.reply.icmp, { type: 0, code: 0, id: 513 });
    assert.equal(tcp?.original.destinationPort, 80);
    assert.equal(tcp.tcpState, 'ESTABLISHED');
    assert.deepEqual(tcp.status, ['SEEN_REPLY', 'ASSURED', 'CONFIRMED']);
  });

  it('has flows of IPv6', () => {
    const [udp, sctp, icmp] = flowsIn(capture('flows6.reply'));
    assert.equal(udp?.family, 6);
    assert.equal(udp.original.destination, 'fd00:96::a');
    assert.equal(udp.reply.sourcePort, 5353);
    assert.equal(sctp?.id, 2312467322);
    // conntrack(8) writes the tags 1 and 2 in the order of its own machine.
    assert.deepEqual(sctp.sctp, { state: 'ESTABLISHED', originalTag: 0x01000000, replyTag: 0x02000000 });
    assert.equal(icmp?.protocol, 58);
    assert.deepEqual(icmp.original.icmp, { type: 128, code: 0, id: 513 });
    assert.deepEqual(icmp.reply.icmp, { type: 129, code: 0, id: 513 });
  });

  it('has the details of flows', () => {
    const flows = flowsIn(capture('details.reply'));
    assert.equal(flows.length, 2);
    const [udp, tcp] = ['udp', 'tcp'].map((name) => flows.find(({ protocol }) => protocol === name));
    assert.deepEqual(udp?.counters, {
      original: { packets: 2n, bytes: 58n },
      reply: { packets: 2n, bytes: 58n },
    });
    assert.deepEqual(udp.labels, [5]);
    assert.equal(tcp?.counters?.original.bytes, 246n);
    assert.deepEqual(tcp.counters.reply, { packets: 3n, bytes: 164n });
    assert.equal(tcp.helper, 'ftp');
    assert.deepEqual(
      [tcp.start, tcp.stop, tcp.secctx, tcp.master],
      [undefined, undefined, undefined, undefined],
    );
  });

  it('has expectations', () => {
    const [expectation] = readExpectations(capture('expectation.reply'));
    const { timeout = 0, id: _, ...others } = expectation ?? {};
    assert.ok(timeout >= 298 && timeout <= 300, String(timeout));
    assert.deepEqual(others, {
      family: 4,
      protocol: 'tcp',
      original: { source: ENDPOINT, destination: CLIENT, sourcePort: 0, destinationPort: 41739 },
      mask: {
        source: '255.255.255.255',
        destination: '255.255.255.255',
        sourcePort: 0,
        destinationPort: 65535,
      },
      master: {
        protocol: 'tcp',
        original: { source: CLIENT, destination: ENDPOINT, sourcePort: 4001, destinationPort: 21 },
      },
      zone: 0,
      flags: 0,
      class: 0,
      helper: 'ftp',
    });
  });

  it('has the numbers of the table and of each CPU', () => {
    const { entries, maxEntries = 0 } = readTotals(capture('statistics.reply'));
    assert.equal(entries, 2);
    assert.ok(maxEntries > 0);
    const [cpu] = readCpus(capture('cpus.reply'));
    assert.deepEqual(cpu, {
      ...{ cpu: 0, found: 0, invalid: 0, insert: 0, insertFailed: 0, drop: 0, earlyDrop: 0, error: 0 },
      ...{ searchRestart: 0, clashResolve: 0, chainTooLong: 0 },
    });
    assert.throws(() => readTotals(new Uint8Array()), {
      code: 'ERR_MALFORMED_REPLY',
      message: /statistics without the number of flows/,
    });
  });

  it('has each flow once', () => {
    const [first, second] = [listedFlow({ id: 7 }), listedFlow({ id: 8 })];
    const sameId = listedFlow({ id: 7, sourcePort: 4001 });
    const six = listedFlow({ id: 7, family: 6 });
    const portions = [Buffer.concat([first, second, six]), Buffer.concat([first, sameId, six, second])];
    const found = [...readFlows(portions, 'conntrack.list')].filter((flow) => flow !== undefined);
    assert.deepEqual(
      found.map(({ id, family, original }) => [id, family, original.sourcePort]),
      [
        [7, 4, 4000],
        [8, 4, 4000],
        [7, 6, 4000],
        [7, 4, 4001],
      ],
    );
  });
});

describe('a flow', () => {
  it('is named by protocol, original tuple, zone and id', () => {
    const message = writtenFlow(FLOW);
    const tuple =
      '14000180' +
      '08000100' +
      '0a000009' +
      '08000200' +
      '0a60000a' + // CTA_TUPLE_IP
      '1c000280' +
      '05000100' +
      '11000000' +
      '06000200' +
      '12340000' +
      '06000300' +
      '00350000'; // CTA_TUPLE_PROTO
    assert.equal(hex(attribute(message, CTA.original)), tuple);
    assert.equal(hex(attribute(message, CTA.zone)), '0102');
    assert.equal(hex(attribute(message, CTA.id)), '01020304');
    assert.equal(attribute(message, CTA.reply), undefined);
  });

  it('has the default zone and any id when none is given', () => {
    const { protocol, original } = FLOW;
    const message = writtenFlow({ protocol, original });
    assert.equal(attribute(message, CTA.zone), undefined);
    assert.equal(attribute(message, CTA.id), undefined);
  });

  it('is read with its details', () => {
    const secctx = 'system_u:object_r:é';
    const message = listedFlow({
      protocol: 6,
      more: (writer) => {
        writer.nested(CTA.replyCounters, () => writer.put(CTA_COUNTERS.bytes, () => writer.u64be(2n ** 63n)));
        writer.nested(CTA.timestamp, () =>
          writer.put(CTA_TIMESTAMP.start, () => writer.u64be(1_700_000_000_000_000_001n)),
        );
        const labels = new Uint8Array(16);
        labels[0] = 0b10;
        labels[15] = 0x80;
        writer.attributeBytes(CTA.labels, labels);
        writer.nested(CTA.secctx, () => writer.attributeBytes(1, Buffer.from(`${secctx}\0`)));
        const end = { source: Buffer.from([10, 0, 0, 1]), destination: Buffer.from([10, 0, 0, 2]) };
        writer.tuple(CTA.master, 4, 6, { ...end, sourcePort: 1, destinationPort: 21 });
      },
    });
    // Not at the beginning of its memory, as messages from the addon may be; the next flow has none of it.
    const bytes = Buffer.concat([Buffer.of(0, 0, 0, 0), message, listedFlow()]).subarray(4);
    const [flow, next] = flowsIn(bytes);
    assert.deepEqual(flow?.counters, {
      original: { packets: 0n, bytes: 0n },
      reply: { packets: 0n, bytes: 2n ** 63n },
    });
    assert.equal(flow.start, 1_700_000_000_000_000_001n);
    assert.equal(flow.stop, undefined);
    assert.deepEqual(flow.labels, [1, 127]);
    assert.equal(flow.secctx, secctx);
    assert.deepEqual(flow.master, {
      protocol: 'tcp',
      original: { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 1, destinationPort: 21 },
    });
    assert.deepEqual(Object.keys(next ?? {}).length, 11);
  });

  it('is read alike whether its tuples have the usual form or not', () => {
    for (const family of [4, 6] as const) {
      const usual = listedFlow({ family });
      // CTA_TUPLE_IP without NLA_F_NESTED, which is not usual.
      const other = usual.with(16 + 4 + 4 + 3, 0);
      assert.deepEqual(flowsIn(other), flowsIn(usual));
      assert.equal(flowsIn(usual)[0]?.original.destinationPort, 53);
    }
  });

  it('without both of its tuples is malformed', () => {
    const whole = capture('delete-udp.request');
    assert.equal(flowsIn(whole).length, 1);
    const original = 16 + 4;
    const reply = original + 52;
    const changes: [name: string, at: number, byte: number][] = [
      ['of IPv6', 16, 10],
      ['the protocol of one direction', reply + 32, 6],
    ];
    for (const tuple of [original, reply]) {
      changes.push(['no tuple', tuple + 2, CTA.help]);
      changes.push(['two destinations', tuple + 10, 2]);
      changes.push(['an address of IPv6 of four bytes', tuple + 10, 3]);
    }
    for (const [name, at, byte] of changes) {
      const bytes = whole.with(at, byte);
      assert.throws(() => flowsIn(bytes), { code: 'ERR_MALFORMED_REPLY' }, name);
    }
    assert.throws(() => flowsIn(whole.slice(0, 18)), { code: 'ERR_MALFORMED_REPLY' });
  });

  const broken: [string, unknown][] = [
    ['flow must be an object, found undefined', undefined],
    ['label is not a field of a flow, found 1', { ...FLOW, label: 1 }],
    ['flow must be an object, found null', null],
    [
      "protocol must be one of tcp, udp, sctp, or a number from 1 to 255, found 'icmp'",
      { ...FLOW, protocol: 'icmp' },
    ],
    ['protocol must be an integer from 1 to 255, found 0', { ...FLOW, protocol: 0 }],
    ['protocol must be an integer from 1 to 255, found 256', { ...FLOW, protocol: 256 }],
    ['zone must be an integer from 0 to 65535, found 65536', { ...FLOW, zone: 65536 }],
    ['id must be an integer from 0 to 4294967295, found -1', { ...FLOW, id: -1 }],
    ['original must be an object, found undefined', { protocol: 'udp' }],
    [
      "original.source must be an IPv4 or IPv6 address, found 'me'",
      { ...FLOW, original: { ...FLOW.original, source: 'me' } },
    ],
    [
      "original.destination must be an IPv4 address, found 'fd00::1'",
      { ...FLOW, original: { ...FLOW.original, destination: 'fd00::1' } },
    ],
    [
      'original.sourcePort must be an integer from 0 to 65535, found 65536',
      { ...FLOW, original: { ...FLOW.original, sourcePort: 65536 } },
    ],
    [
      'original.sourcePort must be an integer from 0 to 65535, found undefined',
      { protocol: 'udp', original: { source: '10.0.0.1', destination: '10.0.0.2' } },
    ],
    [
      'original.icmp must be left out but for protocols 1 and 58, found { type: 8, code: 0, id: 1 }',
      { protocol: 17, original: { ...FLOW.original, icmp: { type: 8, code: 0, id: 1 } } },
    ],
    [
      'original.icmp must be an object, found undefined',
      { protocol: 1, original: { source: '10.0.0.1', destination: '10.0.0.2' } },
    ],
    [
      'original.sourcePort must be 0 or left out: ICMP has no ports, found 4660',
      { protocol: 1, original: { ...FLOW.original, icmp: { type: 8, code: 0, id: 1 } } },
    ],
  ];
  for (const [fault, flow] of broken) {
    it(`is refused: ${fault}`, () => assert.equal(writtenFlow(flow), fault));
  }
});

it('flags of a status have the names of their bits, in order', () => {
  assert.deepEqual(statusNames(0), []);
  assert.deepEqual(statusNames(0x8000_0006), ['SEEN_REPLY', 'ASSURED', 'BIT_31']);
  assert.deepEqual(statusNames(0xffff), FLOW_STATUSES);
  assert.equal(statusNames(0x18e), statusNames(0x18e));
});

describe('an event', () => {
  const [CREATE, EXCLUSIVE] = [0x400, 0x200];
  /** The message of a flow with another type and other flags. */
  const event = (type: number, flags = 0, bytes = listedFlow()) => {
    const view = new DataView(bytes.buffer);
    view.setUint16(4, type, true);
    view.setUint16(6, flags, true);
    return bytes;
  };

  it('says what happened', () => {
    const messages = [event(0x100, CREATE | EXCLUSIVE), event(0x100), event(0x102), event(0x200)];
    const kinds = [...readEvents(Buffer.concat(messages))].map(({ kind }) => kind);
    assert.deepEqual(kinds, ['new', 'update', 'destroy']);
  });

  it('that cannot be read is lost, with those that follow', () => {
    const malformed = event(0x100, 0, listedFlow().with(16, 1));
    const found = [...readEvents(Buffer.concat([event(0x102), malformed, event(0x102), event(0x102)]))];
    assert.deepEqual(found.slice(1), [{ kind: 'resync', lost: true, dropped: 3 }]);
    assert.equal(found[0]?.kind, 'destroy');
  });
});
