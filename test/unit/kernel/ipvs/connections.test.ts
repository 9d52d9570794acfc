// The text of /proc/net/ip_vs_conn, as Linux 6.1 and 6.18 print it, and its pieces.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { ConnectionListing, packFilter, parseConnection } from '../../../../src/kernel/ipvs/connections.js';

const HEADER = 'Pro FromIP   FPrt ToIP     TPrt DestIP   DPrt State       Expires PEName PEData\n';
const LINES = [
  'UDP 0A090002 CF05 0A090002 004D 7F000001 004D UDP             299',
  'IP  0A090002 0000 00000005 0000 7F000001 0000 NONE             99',
  'UDP fd00:0009:0000:0000:0000:0000:0000:0001 0000 fd00:0009:0000:0000:0000:0000:0000:0001 0035 0000:0000:0000:0000:0000:0000:0000:0001 14E9 NONE             99',
  'TCP [fd00:9::1] D431 [fd00:9::2] 0050 [::1] 1F90 ESTABLISHED     899',
  'TCP 0A090002 0000 0A090002 0050 [fd00:9::4] 1F90 ASSURED      1000000',
  'UDP 0A090001 0000 0A090001 13C4 7F000001 13C4 NONE             60 sip a call of \xe9: 1@h',
];

it('a connection', () => {
  assert.deepEqual(parseConnection(LINES[0] ?? ''), {
    protocol: 'udp',
    template: false,
    client: { address: '10.9.0.2', port: 52_997 },
    virtual: { address: '10.9.0.2', port: 77 },
    destination: { address: '127.0.0.1', port: 77 },
    state: 'UDP',
    expires: 299,
  });
});

it('the template of a firewall mark', () => {
  assert.deepEqual(parseConnection(LINES[1] ?? ''), {
    protocol: 'ip',
    template: true,
    client: { address: '10.9.0.2', port: 0 },
    virtual: { address: '0.0.0.5', port: 0 },
    destination: { address: '127.0.0.1', port: 0 },
    state: 'NONE',
    expires: 99,
  });
});

it('IPv6, in both notations, and a destination of another family', () => {
  const [six, newer, mixed] = LINES.slice(2, 5).map(parseConnection);
  assert.deepEqual(
    [six?.client, six?.destination],
    [
      { address: 'fd00:9::1', port: 0 },
      { address: '::1', port: 5353 },
    ],
  );
  assert.deepEqual(
    [newer?.virtual, newer?.state, newer?.template],
    [{ address: 'fd00:9::2', port: 80 }, 'ESTABLISHED', false],
  );
  assert.deepEqual(
    [mixed?.destination, mixed?.template, mixed?.expires],
    [{ address: 'fd00:9::4', port: 8080 }, true, 1_000_000],
  );
});

it('data of a persistence engine with blanks', () => {
  assert.deepEqual(parseConnection(LINES[5] ?? '').persistenceEngine, {
    name: 'sip',
    data: 'a call of \xe9: 1@h',
  });
});

it('a line of another form is an error that shows it', () => {
  for (const line of ['', 'UDP', 'UDP 0A09 CF05 0A090002 004D 7F000001 004D UDP 299', 'x '.repeat(9)]) {
    assert.throws(
      () => parseConnection(line),
      (error) =>
        error instanceof NetlinkError && error.code === 'ERR_MALFORMED_REPLY' && error.message.endsWith(line),
    );
  }
});

/** The listing of the lines, in pieces of this size. */
function inPieces(size: number, filter = {}): ConnectionListing {
  const text = Buffer.from(HEADER + LINES.map((line) => `${line}\n`).join(''), 'latin1');
  async function* read() {
    for (let at = 0; at < text.length; at += size) yield new Uint8Array(text.subarray(at, at + size));
  }
  return new ConnectionListing(read, packFilter(filter, 'ipvs.connections'));
}

it('pieces that are cut anywhere make the same connections, at each iteration', async () => {
  const whole = await inPieces(100_000).toArray();
  assert.equal(whole.length, LINES.length);
  for (const size of [1, 7, 80, 81]) {
    const listing = inPieces(size);
    assert.deepEqual(await listing.toArray(), whole);
    const again = [];
    for await (const connection of listing) again.push(connection);
    assert.deepEqual(again, whole);
  }
});

it('a filter selects by every value that it has', async () => {
  const count = async (filter: object) => (await inPieces(100, filter).toArray()).length;
  assert.equal(await count({}), 6);
  assert.equal(await count({ template: true }), 4);
  assert.equal(await count({ template: true, protocol: 'udp' }), 2);
  assert.equal(await count({ client: { address: 'FD00:0009::1' } }), 2);
  assert.equal(await count({ virtual: { port: 80 }, state: 'ASSURED' }), 1);
  assert.equal(await count({ destination: { address: '127.0.0.1', port: 80 } }), 0);
});
