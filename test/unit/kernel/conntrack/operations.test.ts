// Records of operations on flows: the place of each value, and the rule that a value breaks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DETAILS, FLOW as FLOW_RECORD, OPERATION } from '../../../../src/kernel/conntrack/layouts.js';
import { FLOW, four, hex, writtenOperation, zeros } from '../../../support/tables/flowRecords.js';

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
