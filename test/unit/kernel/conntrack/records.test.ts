// Records of flows: the place of each value, and the rule that a value breaks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DETAILS, FLOW_FIELD, FLOW as FLOW_RECORD } from '../../../../src/kernel/conntrack/layouts.js';
import { readFlows } from '../../../../src/kernel/conntrack/records.js';
import { FLOW_STATUSES, statusNames } from '../../../../src/kernel/conntrack/states.js';
import { readAll } from '../../../../src/kernel/shared/listing.js';
import { FLOW, flowOf, four, hex, writtenFlow, zeros } from '../../../support/tables/flowRecords.js';

describe('a flow', () => {
  it('is named by protocol, original tuple, zone and id', () => {
    const name = `0411000002010000${'04030201'}${zeros(17)}${four('0a000009')}${four('0a60000a')}34123500`;
    assert.equal(hex(flowOf(writtenFlow(FLOW))), name + zeros(36));
  });

  it('has the default zone and any id when none is given', () => {
    const { protocol, original } = FLOW;
    assert.equal(hex(flowOf(writtenFlow({ protocol, original }))).slice(0, 24), `0411${zeros(10)}`);
  });

  it('is read with everything that is listed of it', async () => {
    const record =
      `04110000${'02010000'}04030201${'8e010000'}${'ffffffff'}${'77000000'}${'02000000'}00` +
      `${four('0a000009')}${four('0a60000a')}34123500${four('0a000001')}${four('0a000009')}e9143412`;
    // Not at the beginning of its memory, as records from the addon may be.
    const bytes = Buffer.from(`ff${record}${record}`, 'hex').subarray(1);
    assert.deepEqual(await readAll(readFlows(bytes)), [FLOW, FLOW]);
  });

  it('is read with its details, which follow it', async () => {
    const { hasDetails, hasCounters, hasStart, hasLabels, hasState } = FLOW_FIELD.numbers;
    const secctx = Buffer.from('system_u:object_r:é');
    const bytes = Buffer.alloc(2 * FLOW_RECORD.SIZE + DETAILS.SIZE + secctx.length);
    bytes[FLOW_RECORD.family] = 4;
    bytes[FLOW_RECORD.protocol] = 6;
    bytes[FLOW_RECORD.fields] = hasDetails | hasCounters | hasStart | hasLabels | hasState;
    bytes[FLOW_RECORD.state] = 3;
    const details = FLOW_RECORD.SIZE;
    bytes.writeBigUInt64LE(2n ** 63n, details + DETAILS.replyBytes);
    bytes.writeBigUInt64LE(1_700_000_000_000_000_001n, details + DETAILS.start);
    bytes[details + DETAILS.labels] = 0b10;
    bytes[details + DETAILS.labels + 15] = 0x80;
    bytes.write('ftp', details + DETAILS.helper.offset);
    bytes.writeUInt16LE(secctx.length, details + DETAILS.secctxLength);
    secctx.copy(bytes, details + DETAILS.SIZE);
    bytes[details + DETAILS.SIZE + secctx.length] = 6; // family of the next flow
    const [flow, next] = await readAll(readFlows(bytes));
    assert.equal(flow?.tcpState, 'ESTABLISHED');
    assert.deepEqual(flow.counters, {
      original: { packets: 0n, bytes: 0n },
      reply: { packets: 0n, bytes: 2n ** 63n },
    });
    assert.equal(flow.start, 1_700_000_000_000_000_001n);
    assert.equal(flow.stop, undefined);
    assert.deepEqual(flow.labels, [1, 127]);
    assert.equal(flow.helper, 'ftp');
    assert.equal(flow.secctx, 'system_u:object_r:é');
    assert.equal(flow.master, undefined);
    assert.equal(next?.family, 6);
  });

  it('is read with IPv6 addresses and with a protocol that has no name', async () => {
    const address = (last: string) => `fd00${zeros(13)}${last}`;
    const record = `063a${zeros(27)}${address('09')}${address('01')}07000080${address('01')}${address('09')}07000081`;
    const [flow] = await readAll(readFlows(Buffer.from(record, 'hex')));
    assert.equal(flow?.family, 6);
    assert.equal(flow.protocol, 58);
    assert.deepEqual(flow.original, {
      source: 'fd00::9',
      destination: 'fd00::1',
      sourcePort: 0,
      destinationPort: 0,
      icmp: { type: 128, code: 0, id: 7 },
    });
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
