// All backends of a Service are replaced one by one while many clients send requests, and then again while the proxy is
// killed and restarted. No request may fail.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { realServersBecome } from '../../demo/kernelView.js';
import { type Lab, openLab } from '../../demo/lab.js';
import { ManifestFolder } from '../../demo/manifestFolder.js';
import { CLIENT, NODE_A, SHELL, WEB, WEB_PORT } from '../../demo/places.js';
import { ProxyProcess, runOnce } from '../../demo/proxyProcess.js';
import { type AddressId, type Ipvs, openIpvs } from '../../src/kernel/ipvs/index.js';
import { closeAfter } from '../support/closeAfter.js';
import { Crowd, type CrowdReport } from '../support/crowd.js';
import { service, slice } from '../support/manifests.js';
import { Replicas } from '../support/replica.js';
import { ask } from '../support/witnesses.js';

const CLUSTER_IP: AddressId = { address: '10.96.0.80', port: 80, protocol: 'tcp' };
const EXTERNAL_IP: AddressId = { ...CLUSTER_IP, address: '203.0.113.80' };
/** Minimum time for which a terminating backend still serves, in ms; the default grace period of a pod is 30 s. */
const GRACE = 3000;
/** Time that it then waits for its clients to disconnect, in ms. */
const PARTING = 60_000;
/** Time limit for each crowd to reach every backend, in ms. */
const MEETING = 60_000;
/** A terminating backend's real server is draining until its connections have expired, which takes two minutes, or this time. */
const DRAIN = ['--drain-timeout', '20s'];
/** Clients in each of the two crowds; half of them keep their connections. */
const CROWD = { port: CLUSTER_IP.port, keepAlive: 12, short: 13 };
/** Addresses of the backends of one generation and the next; each namespace of WEB has one of each. */
const FIRST = WEB.map(({ ipv4 }) => ipv4);
const SECOND = FIRST.map((address) => address.replace(/1(\d)$/, '2$1'));

let lab: Lab;
let manifests: ManifestFolder;
let proxy: ProxyProcess;
let ipvs: Ipvs;
let crowds: readonly Crowd[];
const replicas = new Map<string, Replicas>();

const startProxy = () => closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path, DRAIN));

before(async () => {
  lab = closeAfter(openLab([SHELL, ...WEB]));
  manifests = closeAfter(new ManifestFolder(''));
  manifests.write(
    'service.yaml',
    service('web', CLUSTER_IP.address, `  externalIPs: [${EXTERNAL_IP.address}]`),
  );
  writeSlice(FIRST);
  proxy = startProxy();
  const openCrowd = async (namespace: string) => closeAfter(await Crowd.open(namespace));
  [crowds] = await Promise.all([
    Promise.all([SHELL, CLIENT].map((place) => openCrowd(lab.namespace(place)))),
    ...WEB.map(async (pod, i) => {
      const process = closeAfter(await Replicas.open(lab.namespace(pod)));
      for (const address of [FIRST[i], SECOND[i]] as string[]) replicas.set(address, process);
      ask(lab.namespace(pod), 'ip', 'address', 'add', `${SECOND[i]}/24`, 'dev', 'eth0');
    }),
  ]);
  await serve(FIRST);
  await proxy.programmed();
  ipvs = closeAfter(await openIpvs({ netns: lab.netns(NODE_A) }));
});

function writeSlice(endpoints: readonly string[]): void {
  manifests.write('slice.yaml', slice('web', ...endpoints));
}

/** The backends at these addresses. */
const serve = (addresses: readonly string[]) =>
  Promise.all(
    addresses.map((address) => replicas.get(address)?.ask({ do: 'serve', address, port: WEB_PORT })),
  );

/** Runs while the backend with that index terminates. */
type Meanwhile = (index: number) => Promise<void>;

/** Replaces backends one by one, as Kubernetes does; a grace period lasts until `meanwhile` resolves. */
async function roll(from: readonly string[], to: readonly string[], meanwhile: Meanwhile): Promise<void> {
  await serve(to);
  for (const [i, old] of from.entries()) {
    const staying = [...to.slice(0, i + 1), ...from.slice(i + 1)];
    writeSlice([...staying, old]);
    writeSlice([...staying, `${old} terminating`]);
    await replicas.get(old)?.ask({ do: 'retire', address: old });
    await Promise.all([delay(GRACE), meanwhile(i)]);
    const left = await replicas.get(old)?.ask({ do: 'end', address: old, patience: PARTING });
    assert.deepEqual(left, { open: 0 }, `connections that ${old} cut off`);
    writeSlice(staying);
  }
}

/**
 * Lets both crowds send requests while the backends are replaced: they begin before, until each has reached every old
 * backend, and end after, when each has reached every new one. Returns their reports.
 */
async function whileAsking(
  from: readonly string[],
  to: readonly string[],
  meanwhile: Meanwhile,
): Promise<CrowdReport[]> {
  const addresses = [CLUSTER_IP.address, EXTERNAL_IP.address];
  await Promise.all(crowds.map((crowd, i) => crowd.start({ ...CROWD, address: addresses[i] as string })));
  const replaced = async () => {
    await allMet(from);
    await roll(from, to, meanwhile);
    await allMet(to);
  };
  const [happened] = await Promise.allSettled([replaced()]);
  const reports = await Promise.all(crowds.map((crowd) => crowd.stop()));
  if (happened.status === 'fulfilled') return reports;
  const failures = reports.flatMap((report) => report.failures);
  throw new Error(`${happened.reason}\nfailed requests: ${failures.join('; ') || 'none'}`);
}

/** Waits until each crowd has a response from every one of these backends. */
async function allMet(backends: readonly string[]): Promise<void> {
  for (const deadline = performance.now() + MEETING; ; await delay(500)) {
    const reports = await Promise.all(crowds.map((crowd) => crowd.report()));
    const missed = reports.flatMap(({ answers }) => backends.filter((address) => !answers[address]));
    if (missed.length === 0) return;
    assert.ok(performance.now() < deadline, `no response to a crowd from: ${missed}`);
  }
}

function allAnswered(answered: readonly CrowdReport[], by: readonly string[]): void {
  for (const { requests, failures, answers } of answered) {
    assert.deepEqual(failures, [], `${failures.length} of ${requests} requests failed`);
    assert.ok(requests > 2 * (CROWD.keepAlive + CROWD.short), `only ${requests} requests`);
    for (const address of by) assert.ok(address in answers, `${address} never responded`);
  }
}

const serversBecome = (addresses: readonly string[]) =>
  Promise.all(
    [CLUSTER_IP, EXTERNAL_IP].map((id) =>
      realServersBecome(
        ipvs,
        id,
        addresses.map((address) => `${address}:${WEB_PORT}`),
      ),
    ),
  );

test('all backends are replaced without a failed request of 50 clients', async () => {
  const asked = await whileAsking(FIRST, SECOND, async () => {});
  allAnswered(asked, [...FIRST, ...SECOND]);
  await serversBecome(SECOND);
});

test('the same while the proxy is killed and restarted', async () => {
  const kill = async () => assert.equal(await proxy.end('SIGKILL'), 'SIGKILL');
  const start = async () => {
    proxy = startProxy();
    assert.equal((await proxy.programmed()).failures, 0);
  };
  const asked = await whileAsking(SECOND, FIRST, async (i) => {
    if (i === 0) {
      // It has received a new backend and a terminating one, and may or may not have programmed them.
      await kill();
      await start();
    } else if (i === 1) {
      // While it is down, a draining backend ends, and its endpoint is removed.
      await serversBecome([...FIRST.slice(0, 2), ...SECOND.slice(2)]);
      await kill();
    } else {
      await start();
    }
  });
  allAnswered(asked, [...FIRST, ...SECOND]);
  await serversBecome(FIRST);
});

test('at the end no real server is draining, and a restart has no operations', async () => {
  const shown = () => ask(lab.namespace(NODE_A), 'ipvsadm', '-S', '-n');
  for (const deadline = performance.now() + 60_000; / -w 0$/m.test(shown()); await delay(500)) {
    assert.ok(performance.now() < deadline, `still draining:\n${shown()}`);
  }
  assert.equal(shown().match(/^-a /gm)?.length, 2 * FIRST.length, shown());
  const { stdout, stderr } = await runOnce(lab.namespace(NODE_A), manifests.path);
  assert.match(stdout, /^1 service: 0 kernel operations /, stderr);
});
