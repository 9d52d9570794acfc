// Records of flows and filters: the place of each value, and the rule that a value breaks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeFault } from '../../../../src/kernel/arguments.js';
import {
  DETAILS,
  FILTER,
  FLOW_FIELD,
  FLOW as FLOW_RECORD,
  OPERATION,
} from '../../../../src/kernel/conntrack/layouts.js';
import { writeOperation } from '../../../../src/kernel/conntrack/operations.js';
import { readFlows } from '../../../../src/kernel/conntrack/records.js';
import { writeSelection } from '../../../../src/kernel/conntrack/selections.js';
import { FLOW_STATUSES, statusNames } from '../../../../src/kernel/conntrack/states.js';
import type { Flow, FlowOperation, FlowSelection } from '../../../../src/kernel/conntrack/types.js';
import { readAll } from '../../../../src/kernel/listing.js';
import { RecordWriter } from '../../../../src/kernel/recordWriter.js';

const FLOW: Flow = {
  family: 4,
  protocol: 'udp',
  original: { source: '10.0.0.9', destination: '10.96.0.10', sourcePort: 0x1234, destinationPort: 53 },
  reply: { source: '10.0.0.1', destination: '10.0.0.9', sourcePort: 5353, destinationPort: 0x1234 },
  zone: 0x0102,
  replyZone: 0,
  id: 0x01020304,
  status: ['SEEN_REPLY', 'ASSURED', 'CONFIRMED', 'SRC_NAT_DONE', 'DST_NAT_DONE'],
  mark: 0xffffffff,
  timeout: 119,
  use: 2,
};

function writtenOperation(operation: unknown): Uint8Array | string {
  const writer = new RecordWriter(OPERATION.SIZE, 1);
  writeOperation(operation as FlowOperation, writer);
  const fault = writer.finish();
  return fault ? describeFault(fault) : writer.records();
}

const writtenFlow = (flow: unknown) => writtenOperation({ do: 'deleteFlow', flow });

/** The part of an operation's record that is its flow. */
function flowOf(record: Uint8Array | string): Uint8Array | string {
  return typeof record === 'string'
    ? record
    : record.subarray(OPERATION.flow, OPERATION.flow + FLOW_RECORD.SIZE);
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
    ['label is no field of a flow, found 1', { ...FLOW, label: 1 }],
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

describe('a filter', () => {
  it('names the fields that it compares', () => {
    const selection = {
      family: 4,
      protocol: 'udp',
      original: { destination: '10.96.0.10', destinationPort: 53 },
      reply: { source: '10.0.0.0/9', sourcePort: 5353 },
    };
    const original = `${zeros(16)}${four('0a60000a')}${'00003500'}`;
    const reply = `${four('0a000000')}${zeros(16)}${'e9140000'}`;
    assert.equal(hex(written(selection, true)), `04110a05${'00200900'}00${zeros(36)}${original}${reply}`);
  });

  it('may look at ports and addresses that are zero', () => {
    const selection = { family: 6, protocol: 6, original: { source: '::', sourcePort: 0 } };
    assert.equal(hex(written(selection, true)), `06060500${'80000000'}00${zeros(108)}`);
  });

  it('may look at a family only, or at nothing, to list', () => {
    assert.equal(hex(written({ family: 6 })), `06${zeros(116)}`);
    assert.equal(hex(written({})), zeros(117));
  });

  it('compares the parts of a kind of ICMP', () => {
    const selection = {
      family: 4,
      protocol: 1,
      original: { icmp: { type: 8, code: 1 } },
      reply: { icmp: { id: 258 } },
    };
    const bytes = written(selection, true);
    assert.ok(typeof bytes !== 'string', String(bytes));
    assert.equal(bytes[FILTER.originalFields], 16 | 32);
    assert.equal(bytes[FILTER.replyFields], 4);
    assert.equal(hex(bytes.subarray(FILTER.original + 32, FILTER.original + 36)), '00000108');
    assert.equal(hex(bytes.subarray(FILTER.reply + 32, FILTER.reply + 36)), '02010000');
  });

  it('compares marks, flags, zones and labels', () => {
    const selection = {
      mark: { value: 4, mask: 6 },
      status: ['ASSURED'],
      notStatus: ['SEEN_REPLY', 'HW_OFFLOAD'],
      zone: 258,
      replyZone: 0,
      labels: [0, 9, 127],
    };
    const numbers = `${'0201'}${'0000'}${'04000000'}${'06000000'}${'04000000'}${'06800000'}`;
    assert.equal(hex(written(selection, true)), `${zeros(8)}1f${numbers}0102${zeros(13)}80${zeros(72)}`);
  });

  const tooWide =
    'filter must name an address, a port, a mark, a zone or a label: without one it would select every flow, or every one of a protocol';
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
      "original.destination must be an IPv6 address or network, found '10.0.0.1'",
      { family: 6, original: { destination: '10.0.0.1' } },
    ],
    [
      "reply.sourcePort must be an integer from 0 to 65535, found '53'",
      { family: 4, protocol: 'udp', reply: { sourcePort: '53' } },
    ],
    ["original.dst is no field of a filter, found '10.0.0.1'", { family: 4, original: { dst: '10.0.0.1' } }],
    [
      'label is no field of a filter, found 1',
      { family: 4, label: 1, original: { destination: '10.0.0.1' } },
    ],
    [`${tooWide}, found { mark: 0 }`, { mark: 0 }],
    [`${tooWide}, found { mark: [Object] }`, { mark: { value: 0, mask: 1 } }],
    [`${tooWide}, found { zone: 0 }`, { zone: 0 }],
    [`${tooWide}, found { labels: [] }`, { labels: [] }],
    [
      `${tooWide}, found { status: [Array], notStatus: [Array] }`,
      { status: ['CONFIRMED'], notStatus: ['DYING'] },
    ],
    [`${tooWide}, found { family: 4, original: [Object] }`, { family: 4, original: { source: '0.0.0.0/0' } }],
    ['mark must be an integer from 0 to 4294967295, found -1', { mark: -1 }],
    ['mark must be an object, found undefined', { mark: undefined }],
    ['mark.mask must be an integer from 1 to 4294967295, found 0', { mark: { value: 0, mask: 0 } }],
    ['mark.value must have no bit outside the mask 2, found 3', { mark: { value: 3, mask: 2 } }],
    ['zone must be an integer from 0 to 65535, found undefined', { zone: undefined }],
    ['labels must be an array, found 1', { labels: 1 }],
    ['labels[1] must be an integer from 0 to 127, found 128', { labels: [0, 128] }],
    [
      "notStatus must have no flag that status has, found [ 'ASSURED' ]",
      { status: ['ASSURED'], notStatus: ['ASSURED'] },
    ],
    [
      "original.source must be an IPv4 or IPv6 address, found '10.0.0.0/33'",
      { family: 4, original: { source: '10.0.0.0/33' } },
    ],
    [
      "original.source must be an IPv6 address or network, found '10.0.0.0/8'",
      { family: 6, original: { source: '10.0.0.0/8' } },
    ],
    [
      'original.icmp must be given with protocol 1 or 58, found { type: 8, x: 1 }',
      { family: 4, protocol: 17, original: { icmp: { type: 8, x: 1 } } },
    ],
    [
      'original.icmp.type must be an integer from 0 to 255, found 256',
      { family: 4, protocol: 1, original: { icmp: { type: 256 } } },
    ],
    [
      'reply.icmp.kind is no field of a kind of ICMP, found 8',
      { family: 4, protocol: 1, reply: { icmp: { kind: 8 } } },
    ],
  ];
  for (const [fault, filter] of broken) {
    it(`is refused: ${fault} (${JSON.stringify(filter)})`, () => assert.equal(written(filter, true), fault));
  }
});

describe('an operation', () => {
  const tuple = { source: '10.0.0.9', destination: '10.0.0.1', sourcePort: 4000, destinationPort: 80 };
  const added = { protocol: 'tcp', original: tuple, timeout: 30 };
  const add = (more: object) => ({ do: 'addFlow', flow: { ...added, ...more } });
  const update = (changes: unknown) => ({
    do: 'updateFlow',
    flow: { protocol: 'tcp', original: tuple },
    changes,
  });
  /** The verb, the sum of what is given, and the mask of the mark. */
  const head = (operation: unknown) => hex(writtenOperation(operation)).slice(0, 12);

  it('names its verb and what it sets', () => {
    assert.equal(head(add({})), `0101${zeros(4)}`);
    assert.equal(head(add({ mark: 1, tcpState: 'ESTABLISHED', status: [] })), `0127${'ffffffff'}`);
    assert.equal(head(update({ mark: { value: 1, mask: 3 } })), `0204${'03000000'}`);
    assert.equal(head(update({ helper: 'ftp', timeout: 0 })), `0211${zeros(4)}`);
    assert.equal(head({ do: 'deleteFlow', flow: { protocol: 'tcp', original: tuple } }), `0300${zeros(4)}`);
  });

  it('turns the original tuple round where there is no reply', () => {
    const bytes = writtenOperation(add({}));
    assert.ok(typeof bytes !== 'string', String(bytes));
    const reply = OPERATION.flow + FLOW_RECORD.reply;
    assert.equal(hex(bytes.subarray(reply, reply + 36)), `${four('0a000001')}${four('0a000009')}5000a00f`);
    const ping = { source: 'fd00::9', destination: 'fd00::1', icmp: { type: 128, code: 0, id: 7 } };
    const six = writtenOperation(add({ protocol: 58, original: ping }));
    assert.ok(typeof six !== 'string', String(six));
    assert.equal(hex(six.subarray(reply + 32, reply + 36)), '07000081');
  });

  it('replaces all labels, or some', () => {
    const labels = (changes: unknown) => {
      const bytes = writtenOperation(update(changes));
      assert.ok(typeof bytes !== 'string', String(bytes));
      const at = OPERATION.details + DETAILS.labels;
      const mask = bytes.subarray(OPERATION.labelsMask, OPERATION.labelsMask + 16);
      return `${hex(bytes.subarray(at, at + 16))} ${hex(mask)}`;
    };
    assert.equal(labels({ labels: [8] }), `0001${zeros(14)} ${'ff'.repeat(16)}`);
    assert.equal(labels({ labels: [] }), `${zeros(16)} ${'ff'.repeat(16)}`);
    assert.equal(labels({ addLabels: [1] }), `02${zeros(15)} 02${zeros(15)}`);
    assert.equal(labels({ addLabels: [1], removeLabels: [2] }), `02${zeros(15)} 06${zeros(15)}`);
    assert.equal(labels({ removeLabels: [2] }), `${zeros(16)} 04${zeros(15)}`);
  });

  const broken: [string, unknown][] = [
    ['operation must be an object, found null', null],
    ["do must be one of addFlow, updateFlow, deleteFlow, found 'add'", { do: 'add', flow: added }],
    [
      'changes is no field of the operation deleteFlow, found {}',
      { do: 'deleteFlow', flow: FLOW, changes: {} },
    ],
    ['flow must be an object, found undefined', { do: 'addFlow' }],
    ['timeout must be given, found undefined', { do: 'addFlow', flow: { protocol: 'tcp', original: tuple } }],
    ['sctp must be given, found undefined', add({ protocol: 'sctp' })],
    ['id is no field of a new flow, found 1', add({ id: 1 })],
    ['timeout must be an integer from 0 to 4294967295, found 1.5', add({ timeout: 1.5 })],
    [
      "reply.source must be an IPv4 address, found 'fd00::1'",
      add({ reply: { ...tuple, source: 'fd00::1' } }),
    ],
    ['replyZone must be 0 or the zone of the original direction, 1, found 2', add({ zone: 1, replyZone: 2 })],
    ["helper must be a name of 1 to 15 bytes, found '1234567890123456'", add({ helper: '1234567890123456' })],
    ["tcpState must be left out but for TCP, found 'CLOSE'", add({ protocol: 'udp', tcpState: 'CLOSE' })],
    ["sctp must be left out but for SCTP, found { state: 'CLOSED' }", add({ sctp: { state: 'CLOSED' } })],
    [
      'sctp.replyTag must be an integer from 0 to 4294967295, found undefined',
      add({ protocol: 'sctp', sctp: { state: 'CLOSED', originalTag: 1 } }),
    ],
    ['sourceNat.address must be an IPv4 or IPv6 address, found undefined', add({ sourceNat: {} })],
    [
      "sourceNat.lastAddress must be an IPv4 address, found 'fd00::1'",
      add({ sourceNat: { address: '10.0.0.1', lastAddress: 'fd00::1' } }),
    ],
    [
      'destinationNat.lastPort must be an integer from 80 to 65535, found 79',
      add({ destinationNat: { address: '10.0.0.1', port: 80, lastPort: 79 } }),
    ],
    [
      'destinationNat.port must be an integer from 1 to 65535, found undefined',
      add({ destinationNat: { address: '10.0.0.1', lastPort: 79 } }),
    ],
    [
      'sourceNat.ports is no field of a translation, found 1',
      add({ sourceNat: { address: '10.0.0.1', ports: 1 } }),
    ],
    ['master.original must be an object, found undefined', add({ master: { protocol: 'tcp' } })],
    ['changes must be an object, found undefined', update(undefined)],
    ['changes must name a field to change, found {}', update({})],
    ['changes.zone is no field of the changes of a flow, found 1', update({ zone: 1 })],
    [
      'labels must be left out with addLabels or removeLabels, found [ 1 ]',
      update({ labels: [1], addLabels: [2] }),
    ],
    [
      'removeLabels must have no label that addLabels has, found 1',
      update({ addLabels: [1], removeLabels: [1] }),
    ],
    ['status[0] must be one of EXPECTED', update({ status: ['NEW'] })],
  ];
  for (const [fault, operation] of broken) {
    it(`is refused: ${fault}`, () => {
      const found = writtenOperation(operation);
      assert.ok(typeof found === 'string' && found.startsWith(fault), String(found));
    });
  }
});

it('flags of a status have the names of their bits, in order', () => {
  assert.deepEqual(statusNames(0), []);
  assert.deepEqual(statusNames(0x8000_0006), ['SEEN_REPLY', 'ASSURED', 'BIT_31']);
  assert.deepEqual(statusNames(0xffff), FLOW_STATUSES);
  assert.equal(statusNames(0x18e), statusNames(0x18e));
});
