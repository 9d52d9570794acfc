// Records of flows and filters: the place of each value, and the rule that a value breaks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeFault } from '../../../../src/kernel/arguments.js';
import { FILTER, FLOW as FLOW_RECORD } from '../../../../src/kernel/conntrack/layouts.js';
import { readFlows, writeFlowId, writeSelection } from '../../../../src/kernel/conntrack/records.js';
import type { Flow, FlowId, FlowSelection } from '../../../../src/kernel/conntrack/types.js';
import { readAll } from '../../../../src/kernel/listing.js';
import { RecordWriter } from '../../../../src/kernel/recordWriter.js';

const FLOW: Flow = {
  family: 4,
  protocol: 'udp',
  original: { source: '10.0.0.9', destination: '10.96.0.10', sourcePort: 0x1234, destinationPort: 53 },
  reply: { source: '10.0.0.1', destination: '10.0.0.9', sourcePort: 5353, destinationPort: 0x1234 },
  zone: 0x0102,
  id: 0x01020304,
  status: 0x18e,
  mark: 0xffffffff,
  timeout: 119,
};

function writtenFlow(flow: unknown): Uint8Array | string {
  const writer = new RecordWriter(FLOW_RECORD.SIZE, 1);
  writeFlowId(flow as FlowId, writer);
  const fault = writer.finish();
  return fault ? describeFault(fault) : writer.records();
}

function written(selection: unknown, toDelete = false): Uint8Array | string {
  const writer = new RecordWriter(FILTER.SIZE, 1);
  writeSelection(selection as FlowSelection, toDelete, writer);
  const fault = writer.finish();
  return fault ? describeFault(fault) : writer.records();
}

const hex = (bytes: Uint8Array | string) =>
  typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('hex');
const zeros = (bytes: number) => '00'.repeat(bytes);
/** An IPv4 address and the rest of its field. */
const four = (address: string) => address + zeros(12);

describe('a flow', () => {
  it('is named by protocol, original tuple, zone and id', () => {
    const name = `0411020104030201${zeros(12)}${four('0a000009')}${four('0a60000a')}34123500`;
    assert.equal(hex(writtenFlow(FLOW)), name + zeros(36));
  });

  it('has the default zone and any id when none is given', () => {
    const { protocol, original } = FLOW;
    assert.equal(hex(writtenFlow({ protocol, original })).slice(0, 16), `0411${zeros(6)}`);
  });

  it('is read with everything that is listed of it', async () => {
    const record =
      `0411020104030201${'8e010000'}${'ffffffff'}${'77000000'}` +
      `${four('0a000009')}${four('0a60000a')}34123500${four('0a000001')}${four('0a000009')}e9143412`;
    // Not at the beginning of its memory, as records from the addon may be.
    const bytes = Buffer.from(`ff${record}${record}`, 'hex').subarray(1);
    assert.deepEqual(await readAll(readFlows(bytes)), [FLOW, FLOW]);
  });

  it('is read with IPv6 addresses and with a protocol that has no name', async () => {
    const address = (last: string) => `fd00${zeros(13)}${last}`;
    const record = `063a${zeros(18)}${address('09')}${address('01')}07000080${address('01')}${address('09')}07000081`;
    const [flow] = await readAll(readFlows(Buffer.from(record, 'hex')));
    assert.equal(flow?.family, 6);
    assert.equal(flow.protocol, 58);
    assert.deepEqual(flow.original, {
      source: 'fd00::9',
      destination: 'fd00::1',
      sourcePort: 7,
      destinationPort: 128 << 8,
    });
  });

  const broken: [string, unknown][] = [
    ['flow must be an object, found undefined', undefined],
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
  ];
  for (const [fault, flow] of broken) {
    it(`is refused: ${fault}`, () => assert.equal(writtenFlow(flow), fault));
  }
});

describe('a filter', () => {
  it('names the fields that it compares', () => {
    const selection = {
      family: 4,
      protocol: 'udp',
      original: { destination: '10.96.0.10', destinationPort: 53 },
      reply: { source: '10.0.0.1', sourcePort: 5353 },
    };
    const original = `${zeros(16)}${four('0a60000a')}${'00003500'}`;
    const reply = `${four('0a000001')}${zeros(16)}${'e9140000'}`;
    assert.equal(hex(written(selection, true)), `04110a05${original}${reply}`);
  });

  it('may look at ports and addresses that are zero', () => {
    const selection = { family: 6, protocol: 6, original: { source: '::', sourcePort: 0 } };
    assert.equal(hex(written(selection, true)), `06060500${zeros(72)}`);
  });

  it('may look at a family only, to list', () => {
    assert.equal(hex(written({ family: 6 })), `06${zeros(75)}`);
  });

  const tooWide =
    'filter must name an address or a port: without one it would select every flow, or every one of a protocol';
  const broken: [string, unknown][] = [
    [`${tooWide}, found { family: 4 }`, { family: 4 }],
    [`${tooWide}, found { family: 4, protocol: 'udp' }`, { family: 4, protocol: 'udp' }],
    [`${tooWide}, found { family: 4, original: {} }`, { family: 4, original: {} }],
    ['filter must be an object, found undefined', undefined],
    ['family must be 4 or 6, found undefined', { original: { source: '10.0.0.1' } }],
    ['family must be 4 or 6, found 2', { family: 2, original: { source: '10.0.0.1' } }],
    [
      'protocol must be one of tcp, udp, sctp, or a number from 1 to 255, found undefined',
      { family: 4, protocol: undefined, original: { source: '10.0.0.1' } },
    ],
    ['protocol must be given with a port, found undefined', { family: 4, original: { sourcePort: 53 } }],
    ['protocol must be given with a port, found undefined', { family: 4, reply: { destinationPort: 53 } }],
    ['original must be an object, found undefined', { family: 4, original: undefined }],
    ["reply must be an object, found '10.0.0.1'", { family: 4, reply: '10.0.0.1' }],
    [
      'original.destination must be an IPv4 or IPv6 address, found undefined',
      { family: 4, original: { destination: undefined } },
    ],
    [
      "original.destination must be an IPv6 address, found '10.0.0.1'",
      { family: 6, original: { destination: '10.0.0.1' } },
    ],
    [
      "reply.sourcePort must be an integer from 0 to 65535, found '53'",
      { family: 4, protocol: 'udp', reply: { sourcePort: '53' } },
    ],
    ["original.dst is no field of a filter, found '10.0.0.1'", { family: 4, original: { dst: '10.0.0.1' } }],
    ['mark is no field of a filter, found 1', { family: 4, mark: 1, original: { destination: '10.0.0.1' } }],
  ];
  for (const [fault, filter] of broken) {
    it(`is refused: ${fault} (${JSON.stringify(filter)})`, () => assert.equal(written(filter, true), fault));
  }
});
