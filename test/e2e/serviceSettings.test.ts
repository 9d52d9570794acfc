// Settings of a Service by annotation, with traffic: each is set, changed and unset while a connection is open, in both families.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Ipvs, openIpvs } from '../../src/kernel/ipvs/index.js';
import { type Lab, openLab } from '../laboratory/lab.js';
import { LabHost } from '../laboratory/labHost.js';
import { ManifestFolder } from '../laboratory/manifestFolder.js';
import { NODE_A, type Pod, SHELL, WEB, WEB_PORT } from '../laboratory/places.js';
import { ProxyProcess } from '../laboratory/proxyProcess.js';
import { closeAfter } from '../support/closeAfter.js';
import { annotations } from '../support/settings/objects.js';

type Settings = Readonly<Record<string, string>>;

/** A client in the same networks as {@link SHELL}. */
const SECOND: Pod = { name: 'second', node: NODE_A, ipv4: '10.244.1.101', ipv6: 'fd00:10:244:1::101' };
const UDP_PORT = 5353;
const FAMILIES = [4, 6] as const;
type Family = (typeof FAMILIES)[number];

/** The Services, each with an address of its own, so that no test counts the connections of another. */
const NAMES = ['schedule', 'weigh', 'bound', 'stick', 'log', 'slow'] as const;
type Name = (typeof NAMES)[number];

const addressOf = (name: Name, family: Family) => {
  const number = 1 + NAMES.indexOf(name);
  return family === 4 ? `10.96.30.${number}` : `fd00:10:96:30::${number}`;
};

/** What is special about the endpoints of a Service. */
interface Endpoints {
  /** Weights of the slices of each pod. */
  readonly weights?: readonly string[];
  /** A pod that is no endpoint. */
  readonly absent?: string;
}

/** A dual-stack Service of all web pods, as a List; each pod is in slices of its own, which may have a weight. */
function manifest(name: Name, settings: Settings, { weights = [], absent }: Endpoints = {}): string {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'settings', name, annotations: annotations(settings) },
    spec: {
      clusterIP: addressOf(name, 4),
      clusterIPs: [addressOf(name, 4), addressOf(name, 6)],
      ipFamilies: ['IPv4', 'IPv6'],
      ...(name === 'stick' ? { sessionAffinity: 'ClientIP' } : {}),
      ports: [{ port: 80, ...(name === 'log' ? { protocol: 'UDP' } : {}) }],
    },
  };
  const slices = WEB.flatMap((pod, i) =>
    FAMILIES.map((family) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        namespace: 'settings',
        name: `${name}-${i}-${family}`,
        labels: { 'kubernetes.io/service-name': name },
        annotations: annotations(weights[i] === undefined ? {} : { weight: weights[i] }),
      },
      addressType: `IPv${family}`,
      ports: [name === 'log' ? { port: UDP_PORT, protocol: 'UDP' } : { port: WEB_PORT }],
      endpoints: [
        {
          addresses: [family === 4 ? pod.ipv4 : pod.ipv6],
          nodeName: pod.node.name,
        },
      ].filter(() => pod.name !== absent),
    })),
  );
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [service, ...slices] });
}

let lab: Lab;
let manifests: ManifestFolder;
let proxy: ProxyProcess;
let ipvs: Ipvs;
let shell: LabHost;
let second: LabHost;

before(async () => {
  lab = closeAfter(openLab([SHELL, SECOND, ...WEB]));
  manifests = closeAfter(new ManifestFolder(''));
  for (const name of NAMES) manifests.write(`${name}.json`, manifest(name, {}));
  const open = async (place: Pod) => closeAfter(await LabHost.open(lab.namespace(place)));
  const servers = WEB.map(async (pod) =>
    (await open(pod)).serve(pod.name, { tcp: [WEB_PORT], udp: [UDP_PORT] }),
  );
  await Promise.all(servers);
  [shell, second] = [await open(SHELL), await open(SECOND)];
  const allowed =
    'scheduler,scheduler-flags,persistence-timeout,persistence-netmask,one-packet,upper-threshold,slow-start,weight';
  const flags = [`--service-settings=${allowed}`];
  proxy = closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path, flags));
  await proxy.programmed();
  ipvs = closeAfter(await openIpvs({ netns: lab.netns(NODE_A) }));
});

/** Changes a Service and its slices; resolves to the number of operations. */
async function change(name: Name, settings: Settings, endpoints: Endpoints = {}): Promise<number> {
  const lines = proxy.log.length;
  manifests.write(`${name}.json`, manifest(name, settings, endpoints));
  const { operations, failures } = await proxy.synced(lines);
  assert.equal(failures, 0);
  return operations;
}

/** The servers of new connections, one after another. */
async function servers(name: Name, family: Family, times: number, host = shell): Promise<string[]> {
  const found: string[] = [];
  for (let i = 0; i < times; i++) {
    const outcome = await host.dial(addressOf(name, family), 80);
    found.push('error' in outcome ? outcome.error : outcome.by);
  }
  return found;
}

/** The number of connections of each web pod. */
async function spread(name: Name, family: Family, times: number): Promise<number[]> {
  const found = await servers(name, family, times);
  const counts = WEB.map((pod) => found.filter((by) => by === pod.name).length);
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    times,
    `${found}`,
  );
  return counts;
}

/** A request over a connection that stays open: the server, and whether the connection was the former one. */
async function kept(name: Name, family: Family): Promise<{ by: string; kept: boolean }> {
  const outcome = await shell.dial(addressOf(name, family), 80, { keep: true });
  assert.ok(!('error' in outcome), JSON.stringify(outcome));
  return { by: outcome.by, kept: outcome.kept === true };
}

/** Sends datagrams from one socket; the addresses from which replies came. */
function sendFromOneSocket(address: string, count: number): string[] {
  const code = `
    const socket = require('node:dgram').createSocket('${address.includes(':') ? 'udp6' : 'udp4'}');
    const from = new Set();
    socket.on('message', (_, { address }) => from.add(address));
    (async () => {
      for (let i = 0; i < ${count}; i++) {
        await new Promise((sent) => socket.send('x', 80, '${address}', sent));
        await new Promise((wait) => setTimeout(wait, 50));
      }
      await new Promise((wait) => setTimeout(wait, 500));
      console.log(JSON.stringify([...from].sort()));
      socket.close();
    })();`;
  const args = ['netns', 'exec', lab.namespace(SHELL), process.execPath, '-e', code];
  return JSON.parse(execFileSync('ip', args, { encoding: 'utf8' }));
}

/** Packets that each real server has got, once they are this many: the kernel sums its counters up every 2 s. */
async function packets(name: Name, family: Family, sum: number): Promise<number[]> {
  for (let tries = 0; tries < 50; tries++) {
    const service = await ipvs.get({ address: addressOf(name, family), port: 80, protocol: 'udp' });
    const counts = (service?.realServers ?? []).map(({ counters }) => Number(counters.inPackets));
    if (counts.reduce((total, count) => total + count, 0) >= sum) return counts.sort((a, b) => a - b);
    await wait(200);
  }
  throw new Error(`the real servers of ${name} did not get ${sum} packets`);
}

describe('settings of a Service, with traffic', () => {
  for (const family of FAMILIES) {
    test(`the scheduler decides about new connections, and an open one stays, IPv${family}`, async () => {
      const { by } = await kept('schedule', family);
      assert.deepEqual(await spread('schedule', family, 6), [2, 2, 2]);
      assert.equal(await change('schedule', { scheduler: 'sh' }), 2, 'one for each virtual service');
      assert.deepEqual((await spread('schedule', family, 6)).sort(), [0, 0, 6], 'a client has one endpoint');
      assert.deepEqual(await kept('schedule', family), { by, kept: true });
      assert.equal(await change('schedule', { scheduler: 'sh', 'scheduler-flags': 'port' }), 2);
      const ports = await spread('schedule', family, 24);
      assert.ok(
        ports.filter((count) => count > 0).length > 1,
        `a client's ports have several endpoints: ${ports}`,
      );
      assert.equal(await change('schedule', {}), 2);
      assert.deepEqual(await spread('schedule', family, 6), [2, 2, 2]);
      assert.deepEqual(await kept('schedule', family), { by, kept: true });
    });

    test(`connections are spread by weight, and with weight 0 an open one stays, IPv${family}`, async () => {
      await change('weigh', { scheduler: 'wrr' });
      const { by } = await kept('weigh', family);
      const index = WEB.findIndex(({ name }) => name === by);
      /** The weights of the pod with the open connection and of the other two, in the order of pods. */
      const weights = (own: number, ...others: number[]) =>
        WEB.map((_, i) => (i === index ? own : (others.shift() ?? 0)));
      const set = (values: readonly number[]) =>
        change('weigh', { scheduler: 'wrr' }, { weights: values.map(String) });
      assert.equal(await set(weights(1, 3, 4)), 4, 'one for each real server whose weight changes');
      assert.deepEqual(await spread('weigh', family, 16), weights(2, 6, 8));
      assert.equal(await set(weights(0, 3, 1)), 4);
      assert.deepEqual(await spread('weigh', family, 8), weights(0, 6, 2));
      assert.deepEqual(await kept('weigh', family), { by, kept: true });
      assert.equal(
        await change('weigh', {}),
        6,
        'two virtual services, and four real servers whose weight was not 1',
      );
      assert.deepEqual(await spread('weigh', family, 6), [2, 2, 2]);
      assert.deepEqual(await kept('weigh', family), { by, kept: true });
    });

    test(`an endpoint gets no more connections than its threshold, and open ones go on, IPv${family}`, async () => {
      const { by } = await kept('bound', family);
      assert.equal(await change('bound', { 'upper-threshold': '1' }), 6, 'one for each real server');
      const first = await servers('bound', family, 3);
      assert.ok(!first.slice(1).includes(by), `${first}: ${by} has a connection`);
      const [refused] = await servers('bound', family, 1);
      assert.equal(refused, 'ECONNREFUSED');
      assert.deepEqual(await kept('bound', family), { by, kept: true });
      assert.equal(await change('bound', {}), 6);
      assert.equal((await spread('bound', family, 3)).length, 3);
      assert.deepEqual(await kept('bound', family), { by, kept: true });
    });

    test(`a new endpoint has a tenth of the connections that it will have, IPv${family}`, async () => {
      const slow = { scheduler: 'wrr', 'slow-start': '900' };
      await change('slow', slow, { absent: 'web-1' });
      assert.deepEqual(await spread('slow', family, 20), [10, 0, 10]);
      const { by } = await kept('slow', family);
      assert.equal(await change('slow', slow), 2, 'the new real server of each family');
      assert.deepEqual(await spread('slow', family, 21), [10, 1, 10]);
      await change('slow', { scheduler: 'wrr' });
      assert.deepEqual(await spread('slow', family, 6), [2, 2, 2]);
      await change('slow', slow);
      assert.deepEqual(await spread('slow', family, 30), [10, 10, 10], 'those that are there are not new');
      assert.deepEqual(await kept('slow', family), { by, kept: true });
    });

    test(`clients of one network keep one endpoint, IPv${family}`, async () => {
      const one = await servers('stick', family, 2);
      const other = await servers('stick', family, 2, second);
      assert.ok(one[0] === one[1] && other[0] === other[1] && one[0] !== other[0], `${one} ${other}`);
      const netmask = { 'persistence-netmask': 'IPv4=24,IPv6=64' };
      assert.equal(await change('stick', netmask), 2);
      const together = [
        ...(await servers('stick', family, 2)),
        ...(await servers('stick', family, 2, second)),
      ];
      assert.equal(new Set(together).size, 1, `${together}`);
      assert.equal(await change('stick', { ...netmask, 'persistence-timeout': '200000' }), 2);
      const service = await ipvs.get({ address: addressOf('stick', family), port: 80, protocol: 'tcp' });
      assert.deepEqual(service?.persistence, { timeout: 200_000, netmask: family === 4 ? 24 : 64 });
      assert.equal(await change('stick', {}), 2);
    });

    test(`every packet of one socket is scheduled by itself, IPv${family}`, async () => {
      const address = addressOf('log', family);
      assert.deepEqual(sendFromOneSocket(address, 6), [address]);
      assert.deepEqual(await packets('log', family, 6), [0, 0, 6]);
      assert.equal(await change('log', { 'one-packet': 'true' }), 2);
      const replies = sendFromOneSocket(address, 6);
      assert.deepEqual(await packets('log', family, 12), [2, 2, 8]);
      const pods = WEB.map(({ ipv4, ipv6 }) => (family === 4 ? ipv4 : ipv6)).sort();
      assert.deepEqual(replies, pods, 'as docs/service-settings.md says');
      assert.equal(await change('log', {}), 2);
      assert.deepEqual(sendFromOneSocket(address, 3), [address]);
    });
  }

  test('a wrong value has the default, and a line in the log', async () => {
    const lines = proxy.log.length;
    manifests.write('schedule.json', manifest('schedule', { scheduler: 'fastest' }));
    await proxy.synced(lines);
    const service = await ipvs.get({ address: addressOf('schedule', 4), port: 80, protocol: 'tcp' });
    assert.equal(service?.scheduler, 'rr');
    await proxy.logged(
      (line) => JSON.stringify(line).includes('must be a scheduler: rr, wrr'),
      'the problem',
    );
  });
});
