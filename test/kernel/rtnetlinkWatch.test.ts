// The reports of a watch about changes that ip(8) makes, and the end of a watch.
// Needs: namespace
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import {
  type HostEvent,
  type RtnetlinkChange,
  type RtnetlinkWatch,
  type RtnetlinkWatchOptions,
  watchRtnetlink,
} from '../../src/kernel/rtnetlink/index.js';
import { PATIENCE } from '../laboratory/patience.js';
import { startNode, startScript } from '../support/namespaces/lines.js';
import { kindsOf } from '../support/tables/rtnetlinkChanges.js';

const NAME = 'knp-watch';
const netns = `/run/netns/${NAME}`;
const WORKER = new URL('./rtnetlinkWatch-worker.js', import.meta.url);

const ip = (...args: readonly string[]) => execFileSync('ip', ['-n', NAME, ...args], { stdio: 'pipe' });
const batch = (lines: readonly string[]) =>
  execFileSync('ip', ['-n', NAME, '-batch', '-'], { input: lines.map((line) => `${line}\n`).join('') });
const addresses = (verb: 'add' | 'del', count: number) =>
  batch(Array.from({ length: count }, (_, i) => `addr ${verb} 10.1.${i >> 8}.${i & 255}/32 dev va`));

/** The reports of a watch, and when all of them have come. */
class Told {
  readonly changes: RtnetlinkChange[] = [];
  readonly #watch: RtnetlinkWatch;

  static async of(t: TestContext, options: RtnetlinkWatchOptions = {}): Promise<Told> {
    const told: Told = new Told(
      await watchRtnetlink({ netns, ...options }, (change) => told.changes.push(change)),
    );
    t.after(() => told.close());
    return told;
  }

  constructor(watch: RtnetlinkWatch) {
    this.#watch = watch;
  }

  get events(): HostEvent[] {
    return this.changes.flatMap(({ events }) => events);
  }

  close(): void {
    this.#watch.close();
  }

  /** Waits until something is so. */
  async until(isSo: () => boolean): Promise<void> {
    for (const deadline = performance.now() + PATIENCE; !isSo(); await setTimeout(20)) {
      assert.ok(performance.now() < deadline, `${isSo}`);
    }
  }

  /**
   * Makes a change of vb and waits for its report, which comes after those of all earlier changes; removes the reports and returns
   * them, without vb.
   */
  async all(): Promise<RtnetlinkChange[]> {
    const reported = this.changes.length;
    const mtu = ++lastMtu;
    ip('link', 'set', 'vb', 'mtu', String(mtu));
    const isIt = (event: HostEvent) => event.kind === 'link' && event.link.mtu === mtu;
    await this.until(() =>
      this.changes.slice(reported).some(({ lost, events }) => lost || events.some(isIt)),
    );
    return this.changes
      .splice(0)
      .map(({ lost, events }) => ({ lost, events: events.filter((event) => !isOfVb(event)) }))
      .filter(({ lost, events }) => lost || events.length > 0);
  }

  /** Waits for a report, and for those of all earlier changes; removes them and returns them as words. */
  async kinds(): Promise<string> {
    await this.until(() =>
      this.changes.some(({ lost, events }) => lost || !events.every((event) => isOfVb(event))),
    );
    return kindsOf(await this.all());
  }
}

/** Of vb, which no other test changes. */
let lastMtu = 1500;

const isOfVb = (event: HostEvent) => event.kind === 'link' && event.link.name === 'vb';
const isOfVc = (event: HostEvent) => event.kind === 'address' && event.address.link === 'vc';
const isLastDeletion = (event: HostEvent) =>
  event.kind === 'address' && event.deleted && event.address.address === '10.0.0.1';

/** Starts the worker's file as a process. */
function watchElsewhere(t: TestContext, orders: object, ...flags: readonly string[]) {
  return startNode(t, ...flags, fileURLToPath(WORKER), JSON.stringify({ netns, ...orders }));
}

const statusOf = async (child: ChildProcessByStdio<null, Readable, null>): Promise<unknown> =>
  child.exitCode ?? (await once(child, 'exit'))[0];

before(() => {
  execFileSync('ip', ['netns', 'add', NAME]);
  ip('link', 'add', 'name', 'va', 'type', 'veth', 'peer', 'name', 'vb');
});
after(() => execFileSync('ip', ['netns', 'del', NAME]));

describe('a watch', () => {
  it('reports links and addresses of both families, added, changed and deleted', async (t) => {
    const told = await Told.of(t);
    const cases: [string, string][] = [
      ['addr add 10.0.0.1/32 dev va', 'addresses'],
      ['addr del 10.0.0.1/32 dev va', 'addresses'],
      ['addr add fd00::1/128 dev va nodad', 'addresses'],
      ['addr del fd00::1/128 dev va', 'addresses'],
      ['link add name vc type veth peer name vd', 'links'],
      ['link set vc mtu 1400', 'links'],
      ['link del vc', 'links'],
    ];
    for (const [command, expected] of cases) {
      ip(...command.split(' '));
      assert.equal(await told.kinds(), expected, command);
    }
    ip('addr', 'add', '10.0.0.1/32', 'dev', 'va');
    ip('link', 'set', 'va', 'mtu', '1400');
    ip('addr', 'del', '10.0.0.1/32', 'dev', 'va');
    assert.equal(await told.kinds(), 'links addresses');
  });

  it('reports each change in its order, with the name of the link', async (t) => {
    const told = await Told.of(t, { gather: 100 });
    ip('addr', 'add', '10.0.0.1/32', 'dev', 'va');
    ip('link', 'add', 'name', 'vc', 'type', 'veth', 'peer', 'name', 'vd');
    ip('addr', 'add', 'fd00::1/128', 'dev', 'vc', 'nodad');
    // The kernel notifies of it later, in a work queue, and not at all once the link is deleted.
    await told.until(() => told.events.some(isOfVc));
    ip('link', 'del', 'vc');
    ip('addr', 'del', '10.0.0.1/32', 'dev', 'va');
    await told.until(() => told.events.some(isLastDeletion));
    const lines = told.events.map((event) =>
      event.kind === 'link'
        ? `${event.deleted ? '-' : '+'} ${event.link.name}`
        : `${event.deleted ? '-' : '+'} ${event.address.link} ${event.address.address}/${event.address.prefix}`,
    );
    const order = [
      '+ va 10.0.0.1/32',
      '+ vc',
      '+ vc fd00::1/128',
      '- vc fd00::1/128',
      '- vc',
      '- va 10.0.0.1/32',
    ];
    assert.deepEqual(
      [...new Set(lines)].filter((line) => order.includes(line)),
      order,
    );
  });

  it('reports that changes were lost when a link is renamed', async (t) => {
    const told = await Told.of(t);
    ip('link', 'set', 'va', 'name', 'va2');
    assert.equal(await told.kinds(), 'lost');
    ip('link', 'set', 'va2', 'name', 'va');
    assert.equal(await told.kinds(), 'lost');
  });

  it('reports a burst in a few calls, and misses no change of it', async (t) => {
    // With room for all of them: this process may get no CPU meanwhile.
    const told = await Told.of(t, { gather: 50, receiveBuffer: 16 << 20 });
    const started = performance.now();
    addresses('add', 2000);
    addresses('del', 2000);
    await told.until(() => told.events.length >= 4000);
    const most = (performance.now() - started) / 50 + 2;
    const changes = await told.all();
    assert.ok(changes.length >= 1 && changes.length <= most, `${changes.length} of ${most}`);
    assert.ok(changes.every((change) => kindsOf([change]) === 'addresses'));
    assert.equal(changes.flatMap(({ events }) => events).length, 4000);
  });

  it('reports each change at once when it is to gather for 0 ms', async (t) => {
    const told = await Told.of(t, { gather: 0 });
    ip('addr', 'add', '10.0.0.1/32', 'dev', 'va');
    ip('addr', 'del', '10.0.0.1/32', 'dev', 'va');
    assert.equal(await told.kinds(), 'addresses');
  });

  it('reports changes between the opening and the first call, and no earlier ones', async (t) => {
    ip('addr', 'add', '10.0.0.1/32', 'dev', 'va');
    const told = await Told.of(t);
    assert.deepEqual(await told.all(), []);
    ip('addr', 'del', '10.0.0.1/32', 'dev', 'va');
    assert.equal(await told.kinds(), 'addresses');
  });

  it('reports changes of its own namespace only', async (t) => {
    const told = await Told.of(t);
    const other = `${NAME}-2`;
    execFileSync('ip', ['netns', 'add', other]);
    execFileSync('ip', ['-n', other, 'link', 'set', 'lo', 'up']);
    execFileSync('ip', ['netns', 'del', other]);
    assert.deepEqual(await told.all(), []);
  });

  it('reports nothing after close(), which may be called again', async (t) => {
    const told = await Told.of(t);
    const still = await Told.of(t);
    ip('addr', 'add', '10.0.0.1/32', 'dev', 'va');
    told.close();
    told.close();
    ip('addr', 'del', '10.0.0.1/32', 'dev', 'va');
    assert.equal(await still.kinds(), 'addresses');
    assert.deepEqual(told.changes, []);
  });

  it('heeds the kernel only, whatever others send', async (t) => {
    const told = await Told.of(t);
    // A link message, a truncated one and noise, to the groups of links and addresses.
    const forge = `
import socket, struct
sender = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
link = struct.pack("=IHHII", 32, 16, 0, 0, 0) + bytes(16)
for data in (link, link[:20], struct.pack("=IHHII", 0xffffffff, 16, 0, 0, 0), b"\\xff" * 64, b"\\x01"):
    for group in (1, 0x10, 0x100):
        try:
            sender.sendto(data, (0, group))
        except OSError:
            pass
`;
    execFileSync('ip', ['netns', 'exec', NAME, 'python3', '-IS', '-c', forge]);
    assert.deepEqual(await told.all(), []);
    ip('link', 'set', 'va', 'mtu', '1500');
    assert.equal(await told.kinds(), 'links');
  });

  it('reports that notifications were lost, and continues', async (t) => {
    const { child, lines } = watchElsewhere(t, { keepAlive: true });
    assert.equal((await lines.next()).value, 'watching');
    child.kill('SIGSTOP');
    addresses('add', 3000);
    addresses('del', 3000);
    child.kill('SIGCONT');
    assert.match((await lines.next()).value, /lost/);
    ip('link', 'set', 'va', 'mtu', '1400');
    for (let told = ''; !told.includes('links'); ) told = (await lines.next()).value;
  });

  it('reports what is before a loss, how much was lost, and the names that links have after it', async (t) => {
    const script = `
      import { openRtnetlink } from '${new URL('../../src/kernel/rtnetlink/index.js', import.meta.url)}';
      const rtnetlink = await openRtnetlink({ netns: '${netns}' });
      const seen = new Map();
      for await (const event of rtnetlink.watch({ kinds: ['address'], receiveBuffer: 4096 })) {
        if (event.kind === 'resync') {
          const names = JSON.stringify([...seen.keys()]);
          const count = [...seen.values()].reduce((sum, each) => sum + each, 0);
          console.log(event.lost ? 'lost ' + event.dropped + ' ' + count + ' ' + names : 'watching');
        } else {
          const { link, address } = event.address;
          if (address === '10.9.9.9') console.log('named ' + link);
          else seen.set(link, (seen.get(link) ?? 0) + 1);
        }
      }`;
    const { child, lines } = startScript(t, script);
    assert.equal((await lines.next()).value, 'watching');
    child.kill('SIGSTOP');
    addresses('add', 3000);
    ip('link', 'set', 'va', 'name', 'vx');
    t.after(() => ip('link', 'set', 'vx', 'name', 'va'));
    child.kill('SIGCONT');
    const [, dropped, count, names] =
      /^lost (\d+) (\d+) (.*)$/.exec((await lines.next()).value) ?? assert.fail();
    assert.equal(names, '["va"]');
    // One for each address, that of the new name, and again one for each address, whose label has changed.
    assert.equal(Number(dropped) + Number(count), 3000 + 1 + 3000);
    ip('addr', 'add', '10.9.9.9/32', 'dev', 'vx');
    assert.equal((await lines.next()).value, 'named vx');
    ip('addr', 'flush', 'dev', 'vx');
  });

  it('names invalid arguments, and paths that are not a namespace', async () => {
    const ignore = () => {};
    const missing = { code: 'ENOENT', operation: 'rtnetlink.watch', target: '/run/netns/knp-none' };
    await assert.rejects(watchRtnetlink({ netns: '/run/netns/knp-none' }, ignore), missing);
    await assert.rejects(watchRtnetlink({ netns: '/etc/hostname' }, ignore), { code: 'EINVAL' });
    await assert.rejects(watchRtnetlink({ gather: -1 }, ignore), RangeError);
    await assert.rejects(watchRtnetlink({ gather: 60_001 }, ignore), RangeError);
    await assert.rejects(watchRtnetlink({ gather: '5' as never }, ignore), TypeError);
    await assert.rejects(watchRtnetlink({ keepAlive: 1 as never }, ignore), TypeError);
    await assert.rejects(watchRtnetlink({ netns: {} as never }, ignore), TypeError);
    await assert.rejects(watchRtnetlink({}, undefined as never), /onChange must be a function/);
  });
});

describe('a process that watches', () => {
  it('ends when nothing else keeps it', async (t) => {
    const { child } = watchElsewhere(t, {});
    assert.equal(await statusOf(child), 0);
  });

  it('is kept alive when asked, until the watch is closed', async (t) => {
    const { child, lines } = watchElsewhere(t, { keepAlive: true, close: true });
    assert.equal((await lines.next()).value, 'watching');
    await setTimeout(300);
    assert.equal(child.exitCode, null);
    ip('link', 'set', 'va', 'mtu', '1401');
    assert.equal((await lines.next()).value, 'links');
    assert.equal(await statusOf(child), 0);
  });

  it('makes an exception of onChange an uncaught one', async (t) => {
    const { child, lines } = watchElsewhere(t, { keepAlive: true, fail: true });
    assert.equal((await lines.next()).value, 'watching');
    ip('link', 'set', 'va', 'mtu', '1402');
    assert.equal((await lines.next()).value, 'links');
    assert.equal((await lines.next()).value, 'uncaught: from onChange');
    assert.equal(await statusOf(child), 3);
  });

  it('survives workers that are terminated during a report', async (t) => {
    const told = await Told.of(t);
    let changing = true;
    const changes = (async () => {
      for (let mtu = 1300; changing; mtu = mtu === 1400 ? 1300 : mtu + 1) {
        ip('link', 'set', 'va', 'mtu', String(mtu));
        await setTimeout(1);
      }
    })();
    for (let round = 0; round < 6; round++) {
      const worker = new Worker(WORKER, { workerData: { netns, gather: 0, keepAlive: round % 2 === 0 } });
      await once(worker, 'message');
      if (round % 3 !== 0) await setTimeout(round);
      await worker.terminate();
    }
    changing = false;
    await changes;
    assert.equal(await told.kinds(), 'links');
  });
});
