// The tests of settings of a Service by annotation, with traffic: each is set, changed and unset while a connection is open, in both families.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { before, describe, test } from 'node:test';
import type { VirtualServiceState } from '../../../src/kernel/ipvs/index.js';
import type { IpvsOptions } from '../../../src/proxy/modes/ipvs/plan/options.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { WEB } from '../../laboratory/places.js';
import { FAMILIES, type Family, resultOf, SettingsLab } from './settingsLab.js';

/** The Services. */
const SHAPES = {
  schedule: {},
  weigh: {},
  zones: {},
  bound: {},
  stick: { affinity: true },
  log: { protocol: 'UDP' },
  slow: {},
  // Named after what becomes of a setting.
  'drain-kept': {},
  'drain-changed': {},
  'drain-unset': {},
  'lower-kept': {},
  'lower-changed': {},
  'lower-unset': {},
  sh: {},
  mh: {},
} as const;
type Name = keyof typeof SHAPES;

const DRAINING = ['drain-kept', 'drain-changed', 'drain-unset'] as const;
const BOUNDED = ['lower-kept', 'lower-changed', 'lower-unset'] as const;

let lab: SettingsLab<Name>;

const ALLOWED = [
  ...['scheduler', 'scheduler-flags', 'persistence-timeout', 'persistence-netmask', 'one-packet'],
  ...['upper-threshold', 'lower-threshold', 'drain-timeout', 'slow-start', 'zone-weights', 'weight'],
];

/** A test of what IPVS does alone, whatever writes the rules. */
let testOfIpvs: (name: string, run: () => Promise<void>) => unknown;

/** Sends datagrams from one socket; the addresses from which replies came. */
function sendFromOneSocket(address: string, count: number): string[] {
  const code = `
    const socket = require('node:dgram').createSocket('${address.includes(':') ? 'udp6' : 'udp4'}');
    const from = new Set();
    let replies = 0;
    socket.on('message', (_, { address }) => {
      from.add(address);
      replies++;
    });
    (async () => {
      for (let i = 0; i < ${count}; i++) {
        await new Promise((sent) => socket.send('x', 80, '${address}', sent));
        await new Promise((wait) => setTimeout(wait, 50));
      }
      for (const end = Date.now() + ${PATIENCE}; replies < ${count} && Date.now() < end; ) {
        await new Promise((wait) => setTimeout(wait, 20));
      }
      console.log(JSON.stringify([...from].sort()));
      socket.close();
    })();`;
  const args = ['netns', 'exec', lab.shellNamespace, process.execPath, '-e', code];
  return JSON.parse(execFileSync('ip', args, { encoding: 'utf8' }));
}

/** Packets that each real server of `log` has got, once they are this many: the kernel sums its counters up every 2 s. */
async function packets(family: Family, sum: number): Promise<number[]> {
  let counts: number[] = [];
  await lab.state('log', family, ({ realServers }) => {
    counts = realServers.map(({ counters }) => Number(counters.inPackets)).sort((one, other) => one - other);
    return counts.reduce((total, count) => total + count, 0) >= sum;
  });
  return counts;
}

/** Calls a function for these Services in both families. */
async function each<One extends Name>(
  names: readonly One[],
  act: (name: One, family: Family) => Promise<void>,
): Promise<void> {
  await Promise.all(names.flatMap((name) => FAMILIES.map((family) => act(name, family))));
}

/** The pod of the only real server that has weight 0; undefined if there is none. */
function drainingIn({ realServers }: VirtualServiceState): string | undefined {
  const [server, ...others] = realServers.filter(({ weight }) => weight === 0);
  assert.equal(others.length, 0);
  return WEB.find(({ ipv4, ipv6 }) => server?.address === ipv4 || server?.address === ipv6)?.name;
}

/** The number of connections that count for the thresholds of the only real server. */
function connectionsOf({ realServers }: VirtualServiceState): number {
  const [server, ...others] = realServers;
  assert.ok(server && others.length === 0);
  return server.activeConnections + server.inactiveConnections;
}

/**
 * The tests of a file.
 *
 * @param rules with those of nf_tables, only what they have a part in: they see each packet of a connection, refuse connections, and accept others
 */
export function testServiceSettings(rules: IpvsOptions['rules']): void {
  testOfIpvs = rules === 'iptables' ? test : () => {};
  before(async () => {
    const flags = [`--service-settings=${ALLOWED}`, '--drain-timeout=1s', `--ipvs-rules=${rules}`];
    lab = await SettingsLab.open(SHAPES, flags);
  });
  describe('settings of a Service, with traffic', () => {
    for (const family of FAMILIES) {
      testOfIpvs(
        `the scheduler decides about new connections, and an open one stays, IPv${family}`,
        async () => {
          const { by } = await lab.kept('schedule', family);
          assert.deepEqual(await lab.spread('schedule', family, 6), [2, 2, 2]);
          assert.equal(await lab.change('schedule', { scheduler: 'sh' }), 2, 'one for each virtual service');
          assert.deepEqual(
            (await lab.spread('schedule', family, 6)).sort(),
            [0, 0, 6],
            'a client has one endpoint',
          );
          assert.deepEqual(await lab.kept('schedule', family), { by, kept: true });
          assert.equal(await lab.change('schedule', { scheduler: 'sh', 'scheduler-flags': 'port' }), 2);
          const ports = await lab.spread('schedule', family, 24);
          assert.ok(
            ports.filter((count) => count > 0).length > 1,
            `a client's ports have several endpoints: ${ports}`,
          );
          assert.equal(await lab.change('schedule', {}), 2);
          assert.deepEqual(await lab.spread('schedule', family, 6), [2, 2, 2]);
          assert.deepEqual(await lab.kept('schedule', family), { by, kept: true });
        },
      );

      testOfIpvs(
        `connections are spread by weight, and with weight 0 an open one stays, IPv${family}`,
        async () => {
          await lab.change('weigh', { scheduler: 'wrr' });
          const { by } = await lab.kept('weigh', family);
          const index = WEB.findIndex(({ name }) => name === by);
          /** The weights of the pod with the open connection and of the other two, in the order of pods. */
          const weights = (own: number, ...others: number[]) =>
            WEB.map((_, i) => (i === index ? own : (others.shift() ?? 0)));
          const set = (values: readonly number[]) =>
            lab.change('weigh', { scheduler: 'wrr' }, { weights: values.map(String) });
          assert.equal(await set(weights(1, 3, 4)), 4, 'one for each real server whose weight changes');
          assert.deepEqual(await lab.spread('weigh', family, 16), weights(2, 6, 8));
          assert.equal(await set(weights(0, 3, 1)), 4);
          assert.deepEqual(await lab.spread('weigh', family, 8), weights(0, 6, 2));
          assert.deepEqual(await lab.kept('weigh', family), { by, kept: true });
          assert.equal(
            await lab.change('weigh', {}),
            6,
            'two virtual services, and four real servers whose weight was not 1',
          );
          assert.deepEqual(await lab.spread('weigh', family, 6), [2, 2, 2]);
          assert.deepEqual(await lab.kept('weigh', family), { by, kept: true });
        },
      );

      testOfIpvs(
        `connections are spread by zones, as the node has one, and an open one stays, IPv${family}`,
        async () => {
          const endpoints = { zones: ['a', 'b', 'c'] };
          const set = (weights: string) =>
            lab.change('zones', { scheduler: 'wrr', 'zone-weights': weights }, endpoints);
          await set('same=3');
          await lab.moveNode('a');
          assert.deepEqual(await lab.spread('zones', family, 10), [6, 2, 2]);
          const { by } = await lab.kept('zones', family);
          assert.equal(await lab.moveNode('b'), 4, 'two real servers of each family');
          assert.deepEqual(await lab.spread('zones', family, 10), [2, 6, 2]);
          const drained = endpoints.zones[WEB.findIndex(({ name }) => name === by)];
          assert.ok(drained);
          assert.equal(await set(`same=3,${drained}=0`), 2, 'the real server of each family');
          const [spread, place] = [await lab.spread('zones', family, 8), endpoints.zones.indexOf(drained)];
          assert.equal(spread[place], 0, `${spread}`);
          assert.deepEqual(await lab.kept('zones', family), { by, kept: true });
          await set('same=3');
          assert.deepEqual(await lab.spread('zones', family, 10), [2, 6, 2]);
          await lab.change('zones', {});
          assert.deepEqual(await lab.spread('zones', family, 6), [2, 2, 2]);
          assert.deepEqual(await lab.kept('zones', family), { by, kept: true });
        },
      );

      testOfIpvs(
        `an endpoint gets no more connections than its threshold, and open ones go on, IPv${family}`,
        async () => {
          const { by } = await lab.kept('bound', family);
          assert.equal(await lab.change('bound', { 'upper-threshold': '1' }), 6, 'one for each real server');
          const first = await lab.servers('bound', family, 3);
          assert.ok(!first.slice(1).includes(by), `${first}: ${by} has a connection`);
          const [refused] = await lab.servers('bound', family, 1);
          assert.equal(refused, 'ECONNREFUSED');
          assert.deepEqual(await lab.kept('bound', family), { by, kept: true });
          assert.equal(await lab.change('bound', {}), 6);
          assert.equal((await lab.spread('bound', family, 3)).length, 3);
          assert.deepEqual(await lab.kept('bound', family), { by, kept: true });
        },
      );

      testOfIpvs(
        `a new endpoint has a tenth of the connections that it will have, IPv${family}`,
        async () => {
          const slow = { scheduler: 'wrr', 'slow-start': '900' };
          await lab.change('slow', slow, { absent: ['web-1'] });
          assert.deepEqual(await lab.spread('slow', family, 20), [10, 0, 10]);
          const { by } = await lab.kept('slow', family);
          assert.equal(await lab.change('slow', slow), 2, 'the new real server of each family');
          assert.deepEqual(await lab.spread('slow', family, 21), [10, 1, 10]);
          await lab.change('slow', { scheduler: 'wrr' });
          assert.deepEqual(await lab.spread('slow', family, 6), [2, 2, 2]);
          await lab.change('slow', slow);
          assert.deepEqual(
            await lab.spread('slow', family, 30),
            [10, 10, 10],
            'those that are there are not new',
          );
          assert.deepEqual(await lab.kept('slow', family), { by, kept: true });
        },
      );

      testOfIpvs(`clients of one network keep one endpoint, IPv${family}`, async () => {
        const one = await lab.servers('stick', family, 2);
        const other = await lab.servers('stick', family, 2, lab.second);
        assert.ok(one[0] === one[1] && other[0] === other[1] && one[0] !== other[0], `${one} ${other}`);
        const netmask = { 'persistence-netmask': 'IPv4=24,IPv6=64' };
        assert.equal(await lab.change('stick', netmask), 2);
        const together = [
          ...(await lab.servers('stick', family, 2)),
          ...(await lab.servers('stick', family, 2, lab.second)),
        ];
        assert.equal(new Set(together).size, 1, `${together}`);
        assert.equal(await lab.change('stick', { ...netmask, 'persistence-timeout': '200000' }), 2);
        const { persistence } = await lab.state('stick', family);
        assert.deepEqual(persistence, { timeout: 200_000, netmask: family === 4 ? 24 : 64 });
        assert.equal(await lab.change('stick', {}), 2);
      });

      test(`every packet of one socket is scheduled by itself, IPv${family}`, async () => {
        const address = lab.addressOf('log', family);
        assert.deepEqual(sendFromOneSocket(address, 6), [address]);
        assert.deepEqual(await packets(family, 6), [0, 0, 6]);
        assert.equal(await lab.change('log', { 'one-packet': 'true' }), 2);
        const replies = sendFromOneSocket(address, 6);
        assert.deepEqual(await packets(family, 12), [2, 2, 8]);
        const pods = WEB.map(({ ipv4, ipv6 }) => (family === 4 ? ipv4 : ipv6)).sort();
        assert.deepEqual(replies, pods, 'as docs/service-settings.md says');
        assert.equal(await lab.change('log', {}), 2);
        assert.deepEqual(sendFromOneSocket(address, 3), [address]);
      });
    }

    testOfIpvs('a wrong value has the default, and a line in the log', async () => {
      await lab.change('schedule', { scheduler: 'fastest' });
      assert.equal((await lab.state('schedule', 4)).scheduler, 'rr');
      await lab.proxy.logged(
        (line) => JSON.stringify(line).includes('must be a scheduler: rr, wrr'),
        'the problem',
      );
    });
  });

  describe('settings of a Service that end or refuse connections, with traffic', () => {
    const absent = ['web-1', 'web-2'];

    test('at the upper threshold, an endpoint gets no new connections, whatever the lower one becomes', async () => {
      const thresholds = { 'upper-threshold': '2', 'lower-threshold': '1' };
      for (const name of BOUNDED) await lab.change(name, thresholds, { absent });
      await each(BOUNDED, async (name, family) => {
        for (const host of [lab.shell, lab.second]) {
          assert.deepEqual(await lab.kept(name, family, host), { by: 'web-0', kept: false });
        }
      });
      const changed = { 'upper-threshold': '2', 'lower-threshold': '2' };
      assert.equal(await lab.change('lower-changed', changed, { absent }), 2, 'one for each real server');
      assert.equal(await lab.change('lower-unset', { 'upper-threshold': '2' }, { absent }), 2);
      await each(BOUNDED, async (name, family) => {
        assert.deepEqual(await lab.kept(name, family), { by: 'web-0', kept: true });
        assert.deepEqual(await lab.servers(name, family, 1), ['ECONNREFUSED'], 'no connection has ended');
        await lab.shell.reset(lab.addressOf(name, family), 80);
      });
    });

    test('a terminating endpoint keeps its connections for as long as the bound of draining says', async () => {
      const long = { 'drain-timeout': '3600' };
      for (const name of DRAINING) await lab.change(name, long, { absent });
      await each(DRAINING, async (name, family) => {
        assert.equal((await lab.kept(name, family)).by, 'web-0');
      });
      const endpoints = { absent: ['web-2'], terminating: ['web-0'] };
      for (const name of DRAINING) await lab.change(name, long, endpoints);
      await each(DRAINING, async (name, family) => {
        assert.equal(drainingIn(await lab.state(name, family)), 'web-0');
        assert.deepEqual(await lab.servers(name, family, 2), ['web-1', 'web-1']);
        assert.deepEqual(await lab.kept(name, family), { by: 'web-0', kept: true });
      });
      await lab.change('drain-changed', { 'drain-timeout': '1' }, endpoints);
      await lab.change('drain-unset', {}, endpoints);
      await each(['drain-changed', 'drain-unset'], async (name, family) => {
        await lab.state(name, family, (state) => drainingIn(state) === undefined);
        const outcome = await lab.shell.dial(lab.addressOf(name, family), 80, { keep: true });
        assert.equal(resultOf(outcome), 'ECONNRESET', 'the connection ended');
        assert.deepEqual(await lab.kept(name, family), { by: 'web-1', kept: false });
      });
      await each(['drain-kept'], async (name, family) => {
        assert.equal(drainingIn(await lab.state(name, family)), 'web-0', 'the bound of another Service');
        assert.deepEqual(await lab.kept(name, family), { by: 'web-0', kept: true });
      });
    });

    for (const family of FAMILIES) {
      testOfIpvs(
        `sh refuses the clients of an endpoint with weight 0, or falls back to another, IPv${family}`,
        async () => {
          const sh = { scheduler: 'sh', 'scheduler-flags': 'none' };
          await lab.change('sh', sh);
          const { by } = await lab.kept('sh', family);
          assert.deepEqual(await lab.servers('sh', family, 2), [by, by], 'a client has one endpoint');
          const endpoints = { weights: WEB.map(({ name }) => (name === by ? '0' : '1')) };
          assert.equal(await lab.change('sh', sh, endpoints), 2, 'a real server of each family');
          assert.deepEqual(await lab.servers('sh', family, 1), ['ECONNREFUSED']);
          const falling = { ...sh, 'scheduler-flags': 'fallback' };
          assert.equal(await lab.change('sh', falling, endpoints), 2, 'one for each virtual service');
          const [other] = await lab.servers('sh', family, 1);
          assert.ok(
            WEB.some(({ name }) => name === other && name !== by),
            other,
          );
          assert.deepEqual(await lab.servers('sh', family, 2), [other, other]);
          assert.deepEqual(await lab.kept('sh', family), { by, kept: true });
          assert.equal(await lab.change('sh', { scheduler: 'sh' }, endpoints), 2);
          assert.deepEqual(
            await lab.servers('sh', family, 1),
            ['ECONNREFUSED'],
            'by default, sh has no flag',
          );
          assert.deepEqual(await lab.kept('sh', family), { by, kept: true });
          await lab.change('sh', {});
        },
      );

      testOfIpvs(
        `mh refuses the clients of an overloaded endpoint, or falls back to another, IPv${family}`,
        async () => {
          const mh = { scheduler: 'mh', 'scheduler-flags': 'none', 'upper-threshold': '1' };
          await lab.change('mh', mh);
          const { by } = await lab.kept('mh', family);
          assert.deepEqual(await lab.servers('mh', family, 1), ['ECONNREFUSED']);
          const falling = { ...mh, 'scheduler-flags': 'fallback' };
          assert.equal(await lab.change('mh', falling), 2, 'one for each virtual service');
          const [other] = await lab.servers('mh', family, 1);
          assert.ok(
            WEB.some(({ name }) => name === other && name !== by),
            other,
          );
          assert.deepEqual(await lab.kept('mh', family), { by, kept: true });
          assert.equal(await lab.change('mh', mh), 2);
          assert.deepEqual(await lab.servers('mh', family, 1), ['ECONNREFUSED']);
          assert.deepEqual(await lab.kept('mh', family), { by, kept: true });
          const unbounded = { scheduler: 'mh', 'scheduler-flags': 'none' };
          await lab.change('mh', unbounded);
          assert.deepEqual(await lab.servers('mh', family, 2), [by, by], 'a client has one endpoint');
          const weights = WEB.map(({ name }) => (name === by ? '0' : '1'));
          await lab.change('mh', unbounded, { weights });
          const found = await lab.servers('mh', family, 1);
          assert.ok(
            WEB.some(({ name }) => name === found[0] && name !== by),
            `weight 0 has no places: ${found}`,
          );
          assert.deepEqual(await lab.kept('mh', family), { by, kept: true });
          await lab.change('mh', {});
        },
      );
    }

    // IPVS forgets a connection 10 s after its reset: the tests before this one use the time.
    testOfIpvs('below the lower threshold, an endpoint gets new connections again', async () => {
      await each(BOUNDED, async (name, family) => {
        await lab.state(name, family, (state) => connectionsOf(state) === 1);
        const expected = name === 'lower-kept' ? 'ECONNREFUSED' : 'web-0';
        assert.deepEqual(await lab.servers(name, family, 1), [expected]);
        assert.deepEqual(await lab.kept(name, family, lab.second), { by: 'web-0', kept: true });
      });
    });
  });
}
