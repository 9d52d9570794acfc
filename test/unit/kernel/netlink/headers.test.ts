// Headers of families and flags of messages: as the kernel's headers have them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as flags from '../../../../src/kernel/netlink/flags.js';
import {
  FAMILY_HEADER_SIZE,
  familyHeader,
  LINK_HEADER_SIZE,
  linkHeader,
  NETFILTER_HEADER_SIZE,
  netfilterHeader,
  TRAFFIC_CONTROL_HEADER_SIZE,
  trafficControlHeader,
} from '../../../../src/kernel/netlink/headers.js';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('headers have the layout of their structs', () => {
  assert.equal(hex(netfilterHeader(10, 0x1234)), '0a001234');
  assert.equal(hex(netfilterHeader(2)), '02000000');
  assert.equal(hex(familyHeader()), '00000000');
  assert.equal(hex(familyHeader(7)), '07000000');
  assert.equal(hex(linkHeader()), '00'.repeat(16));
  const link = { family: 7, type: 0x201, index: 3, flags: 0x8000_0001, change: 1 };
  assert.equal(hex(linkHeader(link)), '07000102' + '03000000' + '01000080' + '01000000');
  const control = { family: 2, index: 3, handle: 0x10000, parent: 0xffff_ffff, info: 0x0008_0001 };
  assert.equal(
    hex(trafficControlHeader(control)),
    '02000000' + '03000000' + '00000100' + 'ffffffff' + '01000800',
  );
});

test('headers have their sizes, and are no Buffers', () => {
  const headers: [Uint8Array, number][] = [
    [netfilterHeader(0), NETFILTER_HEADER_SIZE],
    [familyHeader(), FAMILY_HEADER_SIZE],
    [linkHeader(), LINK_HEADER_SIZE],
    [trafficControlHeader(), TRAFFIC_CONTROL_HEADER_SIZE],
  ];
  for (const [header, size] of headers) {
    assert.equal(header.length, size);
    assert.ok(!Buffer.isBuffer(header) && header.buffer.byteLength === size);
  }
});

test("every flag has the number of the kernel's header", () => {
  const header = readFileSync('/usr/include/linux/netlink.h', 'utf8');
  const numbers = Object.fromEntries(
    [...header.matchAll(/^#define (NLM_F_\w+)\s+(0x[0-9a-f]+)\b/gim)].map(([, name = '', number]) => [
      name,
      Number(number),
    ]),
  );
  // It has this one as a sum, and those of acknowledgements, which the addon reads.
  const { NLM_F_DUMP, ...simple } = { ...flags };
  const { NLM_F_CAPPED: _, NLM_F_ACK_TLVS: __, ...expected } = numbers;
  assert.deepEqual(simple, expected);
  assert.equal(NLM_F_DUMP, flags.NLM_F_ROOT | flags.NLM_F_MATCH);
});
