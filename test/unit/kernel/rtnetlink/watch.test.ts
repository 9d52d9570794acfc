// Notifications that cannot be read, from an addon that has them: the kernel sends none.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { EVENT, EVENT_KIND, LINK_NAME } from '../../../../src/kernel/rtnetlink/layouts.js';
import { type RtnetlinkChange, watchRtnetlink } from '../../../../src/kernel/rtnetlink/watch.js';
import { withHeader } from '../../../support/tables/rtnetlink/messages.js';

const ADDON = `exports.RtnetlinkWatch = class {
  select() {}
  setReceiveBuffer() {}
  receiveBuffer() { return 4096; }
  async open() { return { netns: '' }; }
  start(gather, keepAlive, ready) { setImmediate(ready); }
  take() { return { records: globalThis.records.shift() ?? new Uint8Array(), lost: false, dropped: 0 }; }
  close() {}
};`;

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'knp-addon-'));
  writeFileSync(join(folder, 'addon.cjs'), ADDON);
  process.env['KUBE_NETLINK_PROXY_ADDON'] = join(folder, 'addon.cjs');
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** The record of a new address of lo, with this value as IFA_LOCAL. */
function eventOf(local: readonly number[]): Uint8Array {
  const header = [2, 8, 0, 0, 1, 0, 0, 0];
  const message = withHeader(20, Uint8Array.from([...header, 4 + local.length, 0, 2, 0, ...local]));
  const bytes = new Uint8Array(EVENT.SIZE + message.length + LINK_NAME.SIZE);
  const view = new DataView(bytes.buffer);
  view.setUint8(EVENT.kind, EVENT_KIND.numbers.address);
  view.setUint16(EVENT.nameCount, 1, true);
  view.setUint32(EVENT.length, message.length, true);
  bytes.set(message, EVENT.SIZE);
  view.setUint32(EVENT.SIZE + message.length, 1, true);
  bytes.set(Buffer.from('lo'), EVENT.SIZE + message.length + LINK_NAME.name.offset);
  return bytes;
}

async function changeOf(records: Uint8Array): Promise<RtnetlinkChange> {
  Object.assign(globalThis, { records: [records] });
  let report = (_change: RtnetlinkChange) => {};
  const promise = new Promise<RtnetlinkChange>((resolve) => {
    report = resolve;
  });
  const watch = await watchRtnetlink({}, (change) => report(change));
  const change = await promise;
  watch.close();
  return change;
}

it('a notification that can be read is reported', async () => {
  const { lost, events } = await changeOf(eventOf([127, 0, 0, 1]));
  assert.equal(lost, false);
  assert.deepEqual(
    events.map((event) => event.kind === 'address' && `${event.address.link} ${event.address.address}`),
    ['lo 127.0.0.1'],
  );
});

it('one that cannot be read is reported as lost', async () => {
  assert.deepEqual(await changeOf(eventOf([127, 0, 0, 1, 0, 0, 0, 0])), { lost: true, events: [] });
});
