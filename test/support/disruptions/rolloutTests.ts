// The tests of a rolling replacement, in any mode: all backends of a Service are replaced one by one while many clients send
// requests, and then again while the proxy is killed and restarted. No request may fail.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Crowd, type CrowdReport } from '../../laboratory/crowd.js';
import { type Lab, openLab } from '../../laboratory/lab.js';
import { ManifestFolder } from '../../laboratory/manifestFolder.js';
import { CLIENT, NODE_A, SHELL, WEB, WEB_PORT } from '../../laboratory/places.js';
import { ProxyProcess, runOnce } from '../../laboratory/proxyProcess.js';
import { Replicas } from '../../laboratory/replica.js';
import { closeAfter } from '../closeAfter.js';
import { service, slice } from '../clusters/manifests.js';
import { ask } from '../namespaces/witnesses.js';
import { childrenOf } from '../processes/childProcesses.js';
import { CLUSTER_IP, EXTERNAL_IP, PORT, type RolloutMode } from './rolloutModes.js';

/** Time that it then waits for its clients to disconnect, in ms. */
const PARTING = 180_000;
/** Time limit for each crowd to reach every backend, in ms. */
const MEETING = 180_000;
/** Clients in each of the two crowds; half of them keep their connections. */
const CROWD = { port: PORT, keepAlive: 12, short: 13 };
/** Each client has sent two on the average. */
const LEAST_REQUESTS = 2 * (CROWD.keepAlive + CROWD.short) + 1;
/** Addresses of the backends of one generation and the next; each namespace of WEB has one of each. */
const FIRST = WEB.map(({ ipv4 }) => ipv4);
const SECOND = FIRST.map((address) => address.replace(/1(\d)$/, '2$1'));

let lab: Lab;
let manifests: ManifestFolder;
let proxy: ProxyProcess;
let mode: RolloutMode;
let crowds: readonly Crowd[];
/** The backends that serve, and the next ones. */
let generations: readonly [string[], string[]] = [FIRST, SECOND];
const replicas = new Map<string, Replicas>();

const startProxy = () => closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path, mode.flags));

const endpointsBecome = (addresses: readonly string[]) =>
  mode.endpointsBecome(
    lab,
    addresses.map((address) => `${address}:${WEB_PORT}`),
  );

async function open(): Promise<void> {
  lab = closeAfter(openLab([SHELL, ...WEB]));
  // Only ipvs mode enables it by itself.
  ask(lab.namespace(NODE_A), 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1');
  manifests = closeAfter(new ManifestFolder(''));
  manifests.write('service.yaml', service('web', CLUSTER_IP, `  externalIPs: [${EXTERNAL_IP}]`));
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
}

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

/** Waits until the kernel no longer leads new connections to the backend that terminates. */
const programmed =
  (from: readonly string[], to: readonly string[]): Meanwhile =>
  (i) =>
    endpointsBecome([...to.slice(0, i + 1), ...from.slice(i + 1)]);

/** Replaces backends one by one, as Kubernetes does; a grace period begins when `meanwhile` resolves: the proxy has programmed it. */
async function roll(from: readonly string[], to: readonly string[], meanwhile: Meanwhile): Promise<void> {
  await serve(to);
  for (const [i, old] of from.entries()) {
    const staying = [...to.slice(0, i + 1), ...from.slice(i + 1)];
    writeSlice([...staying, old]);
    writeSlice([...staying, `${old} terminating`]);
    await replicas.get(old)?.ask({ do: 'retire', address: old });
    await meanwhile(i);
    await delay(mode.grace);
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
  const addresses = [CLUSTER_IP, EXTERNAL_IP];
  await Promise.all(crowds.map((crowd, i) => crowd.start({ ...CROWD, address: addresses[i] as string })));
  const all = async () => {
    await allMet(from);
    await mode.whenOpen?.(lab);
    await roll(from, to, meanwhile);
    await allMet(to, LEAST_REQUESTS);
  };
  const [happened] = await Promise.allSettled([all()]);
  const reports = await Promise.all(crowds.map((crowd) => crowd.stop()));
  if (happened.status === 'fulfilled') return reports;
  const failures = reports.flatMap((report) => report.failures);
  throw new Error(`${happened.reason}\nfailed requests: ${failures.join('; ') || 'none'}`);
}

/** Waits until each crowd has a response from every one of these backends, and has sent so many requests. */
async function allMet(backends: readonly string[], least = 0): Promise<void> {
  for (const deadline = performance.now() + MEETING; ; await delay(500)) {
    const reports = await Promise.all(crowds.map((crowd) => crowd.report()));
    const missed = reports.flatMap(({ answers }) => backends.filter((address) => !answers[address]));
    if (missed.length === 0 && reports.every(({ requests }) => requests >= least)) return;
    assert.ok(performance.now() < deadline, `no response to a crowd from: ${missed}`);
  }
}

function allAnswered(answered: readonly CrowdReport[], by: readonly string[]): void {
  for (const { requests, failures, answers } of answered) {
    assert.deepEqual(failures, [], `${failures.length} of ${requests} requests failed`);
    assert.ok(requests >= LEAST_REQUESTS, `only ${requests} requests`);
    for (const address of by) assert.ok(address in answers, `${address} never responded`);
  }
}

/** Kills the iptables-restore processes of the proxy at random times while it has an id; resolves to their number. */
async function killRepeatedly(pid: () => number | undefined): Promise<number> {
  let killed = 0;
  for (let proxy = pid(); proxy !== undefined; proxy = pid()) {
    const restores = childrenOf(proxy).filter(({ name }) => /^ip6?tables-resto/.test(name));
    for (const child of restores) process.kill(child.pid, 'SIGKILL');
    killed += restores.length;
    await delay(Math.random() * 200);
  }
  return killed;
}

/** Replaces all backends by the next generation without a failed request. */
async function replaced(meanwhile: Meanwhile): Promise<void> {
  const [from, to] = generations;
  const asked = await whileAsking(from, to, meanwhile);
  generations = [to, from];
  allAnswered(asked, [...from, ...to]);
  await endpointsBecome(to);
}

/** How often the backends are replaced at the most while programs are killed. */
const MOST_ROLLS = 4;

/** Replaces all backends while the proxy's programs are killed; resolves to the number of these. */
async function killedInRoll(): Promise<number> {
  let rolling = true;
  const killing = killRepeatedly(() => (rolling ? proxy.pid : undefined));
  // Several may be killed in succession: a change is tried again after 0.5, 1 and 2 s. The default grace period of a pod is 30 s.
  await replaced(programmed(...generations)).finally(() => {
    rolling = false;
  });
  return killing;
}

/** The tests of a file. */
export function testRollout(tested: RolloutMode): void {
  mode = tested;
  before(open);

  if (!mode.onlyRestarted)
    test('all backends are replaced without a failed request of 50 clients', () =>
      replaced(programmed(...generations)));

  test('all backends are replaced while the proxy is killed and restarted', async () => {
    const [from, to] = generations;
    const kill = async () => assert.equal(await proxy.end('SIGKILL'), 'SIGKILL');
    const start = async () => {
      proxy = startProxy();
      assert.equal((await proxy.programmed()).failures, 0);
    };
    await replaced(async (i) => {
      if (i === 0) {
        // It has received a new backend and a terminating one, and may or may not have programmed them.
        await kill();
        await start();
      } else if (i === 1) {
        // While it is down, a draining backend ends, and its endpoint is removed.
        await endpointsBecome([...to.slice(0, 2), ...from.slice(2)]);
        await kill();
      } else {
        await start();
      }
    });
  });

  if (mode.longLivedPrograms) {
    test('the same while its long-lived programs are killed', async (context) => {
      let killed = 0;
      // After the first one, the proxy starts a program for each change: a loaded machine sees few of them in the time that they take.
      for (let times = 0; killed < FIRST.length; times++) {
        assert.ok(times < MOST_ROLLS, `only ${killed} programs were killed`);
        if (times > 0) await replaced(programmed(...generations));
        killed += await killedInRoll();
      }
      context.diagnostic(`${killed} programs were killed`);
    });
  }

  test('at the end no endpoint is draining, and a restart has no operations', async () => {
    await mode.settled(lab, SECOND.length);
    const { stdout, stderr } = await runOnce(lab.namespace(NODE_A), manifests.path, mode.flags);
    assert.match(stdout, /^1 service: 0 kernel operations /, stderr);
  });
}
