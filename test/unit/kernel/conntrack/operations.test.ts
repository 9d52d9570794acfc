// Operations on flows: their messages, and the rule that a value breaks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FlowReader } from '../../../../src/kernel/conntrack/decode/flows.js';
import { FlowWriter } from '../../../../src/kernel/conntrack/encode/batch.js';
import { MessageWriter } from '../../../../src/kernel/conntrack/encode/message.js';
import { putFoundDeletion } from '../../../../src/kernel/conntrack/encode/requests.js';
import { CTA } from '../../../../src/kernel/conntrack/numbers.js';
import type { FlowOperation } from '../../../../src/kernel/conntrack/types.js';
import { attribute, capture, FLOW, flowsIn, hex, writtenOperation } from '../../../support/tables/flows.js';

/** `nlmsg_type` and `nlmsg_flags`. */
const head = (message: Uint8Array | string) =>
  hex(typeof message === 'string' ? undefined : message.slice(4, 8));

describe('a deletion', () => {
  // conntrack names the flows that it deletes by all their fields; we use only the fields that name them.
  for (const name of ['udp', 'udp6', 'tcp', 'sctp6', 'icmp', 'icmp6', 'zone']) {
    it(`of the flow ${name} names it as conntrack(8) does`, () => {
      const theirs = capture(`delete-${name}.request`);
      const [flow] = flowsIn(theirs);
      const ours = writtenOperation({ do: 'deleteFlow', flow: { ...flow, id: 0x01020304 } });
      assert.ok(attribute(theirs, CTA.original));
      assert.equal(hex(attribute(ours, CTA.original)), hex(attribute(theirs, CTA.original)));
      assert.equal(hex(attribute(ours, CTA.zone)), hex(attribute(theirs, CTA.zone)));
      assert.equal(hex(attribute(ours, CTA.id)), '01020304');
      assert.equal(attribute(ours, CTA.reply), undefined);
      assert.equal(head(ours), '02010000');
      assert.equal(typeof ours === 'string' ? ours : ours[16], theirs[16], 'nfgen_family');
    });
  }
});

describe('a deletion of a listed flow', () => {
  const deletions = (messages: Uint8Array) => {
    const writer = new MessageWriter();
    const reader = new FlowReader(messages, 'conntrack.delete');
    while (reader.next()) putFoundDeletion(reader, writer);
    return new Uint8Array(writer.written());
  };
  const named = (messages: Uint8Array) =>
    Buffer.concat(
      flowsIn(messages).map((flow) => writtenOperation({ do: 'deleteFlow', flow }) as Uint8Array),
    );
  /** Attributes of 8 bytes in any order: the kernel lists those of ICMP in another one than conntrack(8). */
  const words = (messages: Uint8Array) => hex(messages)?.match(/.{16}/g)?.sort();

  it('is that by its name', () => {
    for (const name of ['flows4', 'flows6', 'details']) {
      const messages = capture(`${name}.reply`);
      assert.deepEqual(words(deletions(messages)), words(named(messages)));
    }
  });

  it('has the zone of one direction beside the tuple', () => {
    const { protocol, original } = FLOW;
    const flow = { protocol, original, timeout: 1, zone: 6, replyZone: 0 };
    const message = writtenOperation({ do: 'addFlow', flow });
    assert.ok(typeof message !== 'string', String(message));
    assert.equal(hex(deletions(message)), hex(named(message)));
  });
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
  const written = (operation: unknown, type: number) => hex(attribute(writtenOperation(operation), type));

  it('has the message of its verb, and what it sets', () => {
    assert.equal(head(writtenOperation(add({}))), '00010006'); // NLM_F_CREATE | NLM_F_EXCL
    assert.equal(head(writtenOperation(update({ mark: 1 }))), '00010000');
    assert.equal(written(add({}), CTA.timeout), '0000001e');
    assert.equal(written(add({}), CTA.status), undefined);
    const all = add({ mark: 1, tcpState: 'ESTABLISHED', status: ['ASSURED'], helper: 'ftp' });
    assert.equal(written(all, CTA.mark), '00000001');
    assert.equal(written(all, CTA.markMask), 'ffffffff');
    assert.equal(written(all, CTA.status), '0000000c'); // with IPS_CONFIRMED
    assert.equal(written(all, CTA.help), '0800010066747000');
    assert.equal(written(all, CTA.protocolInfo), '0c000180' + '0500010003000000');
    const changes = update({ mark: { value: 1, mask: 3 }, timeout: 0 });
    assert.equal(written(changes, CTA.mark), '00000001');
    assert.equal(written(changes, CTA.markMask), '00000003');
    assert.equal(written(changes, CTA.timeout), '00000000');
    assert.equal(written(changes, CTA.reply), undefined);
  });

  it('is listed as it was added', () => {
    const sctp = { state: 'ESTABLISHED', originalTag: 1, replyTag: 0xffff_ffff } as const;
    const master = { protocol: 'udp', original: { ...tuple, destinationPort: 21 } } as const;
    const flow = {
      ...{ protocol: 'sctp', original: tuple, timeout: 77, zone: 6, replyZone: 0, mark: 0x01020304 },
      ...{ status: ['SEEN_REPLY'], helper: 'ftp', labels: [0, 127], sctp, master },
    } as const;
    const message = writtenOperation({ do: 'addFlow', flow });
    assert.ok(typeof message !== 'string', String(message));
    const [read] = flowsIn(message);
    assert.deepEqual(read, {
      ...flow,
      family: 4,
      reply: { source: '10.0.0.1', destination: '10.0.0.9', sourcePort: 80, destinationPort: 4000 },
      id: 0,
      use: 0,
      status: ['SEEN_REPLY', 'CONFIRMED'],
    });
    const both = writtenOperation(add({ zone: 6 }));
    assert.ok(typeof both !== 'string', String(both));
    assert.equal(flowsIn(both)[0]?.replyZone, 6);
    assert.equal(hex(attribute(both, CTA.zone)), '0006');
  });

  it('translates to addresses and ports', () => {
    const source = { address: '10.0.0.1', lastAddress: '10.0.0.2', port: 80, lastPort: 81 };
    const four = add({ sourceNat: source, destinationNat: { address: '10.0.0.3' } });
    const ports = '14000380' + '0600010000500000' + '0600020000510000';
    assert.equal(written(four, CTA.sourceNat), `08000100${'0a000001'}08000200${'0a000002'}${ports}`);
    assert.equal(written(four, CTA.destinationNat), `08000100${'0a000003'}08000200${'0a000003'}`);
    const original = { ...tuple, source: 'fd00::9', destination: 'fd00::1' };
    const six = add({ original, destinationNat: { address: 'fd00::2' } });
    const address = `fd${'00'.repeat(14)}02`;
    assert.equal(written(six, CTA.destinationNat), `14000400${address}14000500${address}`);
  });

  it('turns the original tuple round where there is no reply', () => {
    const inverted = (operation: unknown) => {
      const message = writtenOperation(operation);
      assert.ok(typeof message !== 'string', String(message));
      return flowsIn(message)[0]?.reply;
    };
    assert.deepEqual(inverted(add({})), {
      source: '10.0.0.1',
      destination: '10.0.0.9',
      sourcePort: 80,
      destinationPort: 4000,
    });
    const ping = { source: 'fd00::9', destination: 'fd00::1', icmp: { type: 128, code: 0, id: 7 } };
    assert.deepEqual(inverted(add({ protocol: 58, original: ping }))?.icmp, { type: 129, code: 0, id: 7 });
  });

  it('replaces all labels, or some', () => {
    const labels = (changes: unknown) =>
      `${written(update(changes), CTA.labels)} ${written(update(changes), CTA.labelsMask)}`;
    const zeros = (bytes: number) => '00'.repeat(bytes);
    assert.equal(labels({ labels: [8] }), `0001${zeros(14)} ${'ff'.repeat(16)}`);
    assert.equal(labels({ labels: [] }), `${zeros(16)} ${'ff'.repeat(16)}`);
    assert.equal(labels({ addLabels: [1] }), `02${zeros(15)} 02${zeros(15)}`);
    assert.equal(labels({ addLabels: [1], removeLabels: [2] }), `02${zeros(15)} 06${zeros(15)}`);
    assert.equal(labels({ removeLabels: [2] }), `${zeros(16)} 04${zeros(15)}`);
  });

  it('that breaks a rule leaves nothing behind', () => {
    const whole = writtenOperation(add({}));
    const writer = new FlowWriter();
    assert.ok(writer.write(add({ timeout: -1 }) as FlowOperation));
    assert.equal(writer.write(add({}) as FlowOperation), undefined);
    assert.deepEqual(new Uint8Array(writer.bytes()), whole);
  });

  const broken: [string, unknown][] = [
    ['operation must be an object, found null', null],
    ["do must be one of addFlow, updateFlow, deleteFlow, found 'add'", { do: 'add', flow: added }],
    [
      'changes is not a field of the operation deleteFlow, found {}',
      { do: 'deleteFlow', flow: FLOW, changes: {} },
    ],
    ['flow must be an object, found undefined', { do: 'addFlow' }],
    ['timeout must be given, found undefined', { do: 'addFlow', flow: { protocol: 'tcp', original: tuple } }],
    ['sctp must be given, found undefined', add({ protocol: 'sctp' })],
    ['id is not a field of a new flow, found 1', add({ id: 1 })],
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
      'sourceNat.ports is not a field of a translation, found 1',
      add({ sourceNat: { address: '10.0.0.1', ports: 1 } }),
    ],
    ['master.original must be an object, found undefined', add({ master: { protocol: 'tcp' } })],
    ['changes must be an object, found undefined', update(undefined)],
    ['changes must name a field to change, found {}', update({})],
    ['changes.zone is not a field of the changes of a flow, found 1', update({ zone: 1 })],
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
