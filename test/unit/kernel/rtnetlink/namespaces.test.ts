// Ids of network namespaces ↔ messages, byte by byte: captured ones of ip, and those of struct rtgenmsg and NETNSA_ attributes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { messagesOf } from '../../../../src/kernel/rtnetlink/message.js';
import {
  encodeGetNamespaceId,
  encodeListNamespaceIds,
  encodeNamespaceId,
  readNamespaceId,
} from '../../../../src/kernel/rtnetlink/namespaces/codec.js';
import { ROOT } from '../../../support/paths.js';
import { HEADER, listed, only, withHeader } from '../../../support/tables/rtnetlink/messages.js';

const RTM_NEWNSID = 88;

const capture = (name: string) =>
  new Uint8Array(readFileSync(join(ROOT, `test/native/captures/route-${name}`)));

/** A message without its header. */
const payload = (bytes: Uint8Array) => Buffer.from(bytes.subarray(HEADER)).toString('hex');
/** Numbers of 32 bits in the byte order of this machine. */
const words = (...values: readonly number[]) => Buffer.from(new Uint32Array(values).buffer).toString('hex');
/** An attribute with a number of 32 bits. */
const attribute = (type: number, value: number) =>
  Buffer.from(new Uint16Array([8, type]).buffer).toString('hex') + words(value);

describe('ids of network namespaces', () => {
  it('are listed with the request of ip', () => {
    const theirs = capture('list-namespace-ids.request');
    const ours = listed(encodeListNamespaceIds());
    assert.equal(payload(ours), payload(theirs));
    assert.deepEqual(ours.subarray(4, 6), theirs.subarray(4, 6));
  });

  it('are read as ip shows them', () => {
    const ids = [...messagesOf(capture('namespace-ids.reply'), 'rtnetlink.test')].map(readNamespaceId);
    assert.deepEqual(ids, [7, 11]);
  });

  it('are set and asked for by the id of a process', () => {
    assert.equal(
      payload(listed(encodeNamespaceId({ netns: 4711, id: 7 }))),
      words(0) + attribute(2, 4711) + attribute(1, 7),
    );
    assert.equal(payload(listed(encodeGetNamespaceId(4711))), words(0) + attribute(2, 4711));
  });

  it('are selected by the kernel if none is given, and none is what has not got one', () => {
    const bytes = listed(encodeNamespaceId({ netns: 4711 }));
    assert.equal(payload(bytes), words(0) + attribute(2, 4711) + attribute(1, 0xffff_ffff));
    assert.equal(only(bytes, readNamespaceId), undefined);
    assert.equal(only(withHeader(RTM_NEWNSID, new Uint8Array(4)), readNamespaceId), undefined);
  });

  it('name a file by a descriptor, whose place is left open until the message is sent', () => {
    const bytes = listed(encodeGetNamespaceId('/run/netns/blue'));
    assert.equal(payload(bytes), words(0) + attribute(3, 0));
  });

  it('are refused with the field and its rule', () => {
    const faults = [
      encodeNamespaceId({ netns: 0 }),
      encodeNamespaceId({ netns: 4_194_304 }),
      encodeNamespaceId({ netns: '' }),
      encodeNamespaceId({ netns: 1, id: -1 }),
      encodeNamespaceId({ netns: 1, id: 2 ** 31 }),
      encodeNamespaceId({ id: 1 } as never),
      encodeNamespaceId({ netns: 1, name: 'blue' } as never),
      encodeGetNamespaceId(1.5),
    ].map(({ check }) => `${check.invalid?.field} ${check.invalid?.rule}`);
    const [process, id] = ['must be an integer from 1 to 4194303', 'must be an integer from 0 to 2147483647'];
    assert.deepEqual(faults, [
      `namespaceId.netns ${process}`,
      `namespaceId.netns ${process}`,
      'namespaceId.netns must be a text of 1 to 4095 bytes',
      `namespaceId.id ${id}`,
      `namespaceId.id ${id}`,
      'namespaceId.netns must be a text of 1 to 4095 bytes',
      'namespaceId.name is not a field of an id of a network namespace',
      `netns ${process}`,
    ]);
  });
});
