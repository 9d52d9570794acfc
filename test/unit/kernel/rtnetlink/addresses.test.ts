// Messages about addresses.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  encodeAddress,
  encodeListAddresses,
  readAddress,
} from '../../../../src/kernel/rtnetlink/addresses/codec.js';
import { MESSAGE } from '../../../../src/kernel/rtnetlink/layouts.js';
import { type MessageWriter, messagesOf } from '../../../../src/kernel/rtnetlink/message.js';
import type { LinkAddress } from '../../../../src/kernel/rtnetlink/types.js';
import { HOST_IS_LITTLE } from '../../../../src/kernel/shared/wire/messages.js';
import { HEADER, listed, only, withHeader } from '../../../support/tables/rtnetlink/messages.js';
import { ADDRESS, CAPTURED_NAMES, capture } from '../../../support/tables/rtnetlink/samples.js';

describe('addresses', () => {
  /** `ip` looks the link up, and asks for an acknowledgement: the addon does both. */
  const sent = (name: string, writer: MessageWriter) => {
    const expected = capture(`${name}.request`);
    const ours = listed(writer);
    const [given, written] = [expected, ours].map((bytes) => only(bytes, (message) => message));
    assert.equal(written?.type, given?.type, name);
    new DataView(ours.buffer).setUint32(HEADER + 4, 4, HOST_IS_LITTLE); // ifa_index of kube-ipvs0
    assert.deepEqual(ours.subarray(HEADER), expected.subarray(HEADER), name);
  };

  it('are written as ip writes them', () => {
    const link = 'kube-ipvs0';
    const id = { link, address: '10.96.0.1', prefix: 32 };
    const id6 = { link, address: 'fd00:10:96::1', prefix: 128 };
    sent('add-address', encodeAddress('add', id));
    sent('add-address-prefix', encodeAddress('replace', { link, address: '10.96.0.2', prefix: 24 }));
    sent('add-address6', encodeAddress('add', id6));
    sent('delete-address', encodeAddress('delete', id));
    sent('delete-address6', encodeAddress('delete', id6));
  });

  const read = (name: string, names = CAPTURED_NAMES) =>
    [...messagesOf(capture(name), 'rtnetlink.test')].map((message) => readAddress(message, names));
  const short = (found: readonly (LinkAddress | undefined)[]) =>
    found.map((each) => each && `${each.link} ${each.address}/${each.prefix} ${each.scope} ${each.flags}`);

  it('are read as ip shows them', () => {
    assert.deepEqual(short(read('addresses4.reply')), [
      'lo 127.0.0.1/8 host permanent',
      'lo 10.96.7.1/32 global permanent',
      'knp0 10.0.7.1/24 global permanent',
      'kube-ipvs0 10.96.0.1/32 global permanent',
      'kube-ipvs0 10.96.0.2/24 global permanent',
    ]);
    assert.deepEqual(
      read('addresses4.reply').map((each) => each?.label),
      ['lo', 'lo', 'knp0', 'kube-ipvs0', 'kube-ipvs0'],
    );
    assert.deepEqual(short(read('addresses6.reply')), [
      'lo ::1/128 host permanent',
      'knp0 fe80::f9:3fff:fe81:3b07/64 link permanent',
      'kube-ipvs0 fd00:10:96::1/128 global permanent',
    ]);
  });

  it('of another link than those that are named are left out: an old kernel lists all of them', () => {
    const found = read('addresses4.reply', new Map([[1, 'lo']]));
    assert.deepEqual(
      short(found).filter((each) => each !== undefined),
      ['lo 127.0.0.1/8 host permanent', 'lo 10.96.7.1/32 global permanent'],
    );
    const record = encodeListAddresses(7).finish();
    assert.equal(
      new DataView(record.buffer, record.byteOffset).getUint32(MESSAGE.SIZE + 4, HOST_IS_LITTLE),
      7,
    );
  });

  it('of another family are left out', () => {
    const bytes = listed(encodeAddress('add', ADDRESS));
    bytes[HEADER] = 45; // AF_MCTP
    assert.equal(
      only(bytes, (message) => readAddress(message, CAPTURED_NAMES)),
      undefined,
    );
  });

  it('of an unexpected width, without an address, or with too long a prefix are malformed', () => {
    const broken = (change: (bytes: Uint8Array) => void) => {
      const bytes = listed(encodeAddress('add', { link: 'va', address: '10.0.0.1', prefix: 24 }));
      change(bytes);
      return () => only(bytes, (message) => readAddress(message, CAPTURED_NAMES));
    };
    const code = { code: 'ERR_MALFORMED_REPLY' };
    assert.throws(
      broken((bytes) => bytes.set([10], HEADER)),
      code,
    ); // ifa_family: AF_INET6
    assert.throws(
      broken((bytes) => bytes.set([33], HEADER + 1)),
      code,
    ); // ifa_prefixlen
    const without = withHeader(20, new Uint8Array([2, 24, 0, 0, 0, 0, 0, 0]));
    assert.throws(() => only(without, (message) => readAddress(message, CAPTURED_NAMES)), code);
  });

  it('have lifetimes of a kernel that says more of them, and not of one that says less', () => {
    const lifetimes = (words: number) => {
      const writer = encodeAddress('add', { link: 'va', address: '10.0.0.1', prefix: 24 });
      writer.attribute(6, () => [60, 120, 0, 0, 9].slice(0, words).map((word) => writer.u32(word)));
      return only(listed(writer), (message) => readAddress(message, CAPTURED_NAMES));
    };
    const { validLifetime, preferredLifetime } = lifetimes(5) ?? assert.fail();
    assert.deepEqual([validLifetime, preferredLifetime], [120, 60]);
    assert.throws(() => lifetimes(1), { code: 'ERR_MALFORMED_REPLY' });
  });
});
