// Counters of nfacct: the bytes of their messages, and what each answer of the kernel means.
import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { describe, it } from 'node:test';
import { addRequest, getRequest, readCounter } from '../../../../src/command/kernel/nfacct/codec.js';
import { nfacctOver } from '../../../../src/command/kernel/nfacct/index.js';
import { FakeNetlink } from '../../../../src/kernel/testing/index.js';

const { EBUSY, EINVAL, ENOENT, ENOMEM } = constants.errno;
const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex');
const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

/** `nfgenmsg`, NFACCT_NAME "ab", NFACCT_PKTS 7, NFACCT_BYTES 420, NFACCT_USE 1, as Linux 6.18 sends them. */
const REPLY = `00000000${'0700010061620000'}${'0c0002000000000000000007'}${'0c00030000000000000001a4'}${'0800040000000001'}`;

function kernel(answer: FakeNetlink['answer']) {
  const netlink = new FakeNetlink();
  netlink.answer = answer;
  return { netlink, nfacct: nfacctOver(netlink) };
}

it('requests have the header nfgenmsg and the name of the counter', () => {
  const add = addRequest('ab');
  assert.deepEqual([add.type, add.flags, hex(add.payload)], [0x700, 0x400, '00000000' + '0700010061620000']);
  const get = getRequest('ab');
  assert.deepEqual([get.type, hex(get.payload)], [0x701, '00000000' + '0700010061620000']);
});

it('a name that the kernel cannot have is an error that names the rule', () => {
  for (const name of ['', 'a\0b', 'x'.repeat(32)]) {
    assert.throws(() => addRequest(name), /^NetlinkError: ERR_INVALID_ARGUMENT: nfacct\.add.*1 to 31 bytes/s);
  }
  assert.ok(getRequest('x'.repeat(31)));
});

it('a message of the kernel that is malformed is an error', () => {
  const broken = {
    'no name': '00000000',
    'short header': '0000',
    'narrow number': '00000000' + '0800020000000007',
  };
  for (const [what, text] of Object.entries(broken)) {
    const read = () => readCounter({ type: 0x700, flags: 0, payload: bytes(text) });
    assert.throws(read, { code: 'ERR_MALFORMED_REPLY' }, what);
  }
});

describe('get', () => {
  it('has the numbers of the counter', async () => {
    const { nfacct } = kernel(() => [{ type: 0x700, flags: 0, payload: bytes(REPLY) }]);
    assert.deepEqual(await nfacct.get('ab'), { name: 'ab', packets: 7n, bytes: 420n });
  });

  it('is undefined for a counter that does not exist', async () => {
    assert.equal(await kernel(() => ENOENT).nfacct.get('ab'), undefined);
  });

  it('rejects if the kernel has no nfacct, or sends nothing', async () => {
    await assert.rejects(kernel(() => EINVAL).nfacct.get('ab'), { code: 'EINVAL', operation: 'nfacct.get' });
    await assert.rejects(kernel(() => []).nfacct.get('ab'), { code: 'ERR_MALFORMED_REPLY', target: 'ab' });
  });
});

describe('add', () => {
  it('creates a counter, and keeps one that exists', async () => {
    const { netlink, nfacct } = kernel(() => []);
    assert.equal(await nfacct.add('ab'), undefined);
    netlink.answer = () => EBUSY;
    assert.equal(await nfacct.add('ab'), undefined);
    assert.deepEqual(
      netlink.sent.map(({ type }) => type),
      [0x700, 0x700],
    );
  });

  it('resolves to any other error', async () => {
    const error = await kernel(() => ENOMEM).nfacct.add('ab');
    assert.deepEqual([error?.code, error?.operation, error?.target], ['ENOMEM', 'nfacct.add', 'ab']);
  });
});
