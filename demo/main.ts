// The demo: a network in namespaces, the proxy with examples/, and a steady load through virtual IPs while an endpoint is
// removed and the proxy is killed. Needs root and a kernel with IPVS (npm run demo provides both). The exit status is 0 only
// if each response was from an expected server, and the open connection was never lost.
import { performance } from 'node:perf_hooks';
import { openIpvs } from '../src/kernel/ipvs/index.js';
import { exitOnSignals } from '../test/laboratory/atExit.js';
import { openLab } from '../test/laboratory/lab.js';
import { LabHost } from '../test/laboratory/labHost.js';
import { ManifestFolder } from '../test/laboratory/manifestFolder.js';
import { CLIENT, NODE_A, type Pod, SHELL, WEB, WEB_PORT } from '../test/laboratory/places.js';
import { ProxyProcess, type SyncedLine } from '../test/laboratory/proxyProcess.js';
import { dial, type Route } from '../test/laboratory/route.js';
import type { Requests } from './load.js';
import { Outcomes } from './outcomes.js';
import { boardRows, failureLines, LAST_SCREEN, type Measured, NEXT, timeLines } from './report.js';
import { bad, explain, good, heading, paint, say, step } from './screen.js';
import { measureSlowdown, type Slowdown } from './slowdown.js';
import { play } from './story.js';
import { tableLines } from './table.js';
import { virtualIPRoutes } from './web.js';

/** Time limit of the demo, in ms. */
const LIMIT = 500_000;

const PICTURE = [
  '  client ──┐                              ┌── web-0   a pod with a web server',
  '           ├── lan ── node-a ── bridge ───┼── web-1   another',
  '           │       with the proxy         └── shell   a client pod',
  '           └── lan ── node-b ── bridge ────── web-2   a third web server',
  '',
];

async function main(): Promise<number> {
  exitOnSignals();
  setTimeout(() => {
    bad(`not done after ${LIMIT} ms`);
    process.exit(1);
  }, LIMIT).unref();
  const outcomes = new Outcomes(performance.now());
  say(
    '',
    paint('bold', 'kube-netlink-proxy: an endpoint is removed, the proxy is killed, no connection breaks'),
  );
  heading('A small cluster, in eight network namespaces');
  say(...PICTURE);
  const slowdown = await step('measuring the speed of this machine', measureSlowdown);
  const lab = await step('namespaces, veth pairs, bridges, routes', () => openLab([SHELL, ...WEB]));
  const [client, shell, ...servers] = (await step('web servers and clients', () =>
    Promise.all([CLIENT, SHELL, ...WEB].map((place) => LabHost.open(lab.namespace(place)))),
  )) as [LabHost, LabHost, ...LabHost[]];
  await Promise.all(WEB.map(({ name }, i) => servers[i]?.serve(name, { tcp: [WEB_PORT] })));
  const manifests = new ManifestFolder();
  const startProxy = () => new ProxyProcess(lab.namespace(NODE_A), manifests.path);
  const proxies = [startProxy()] as [ProxyProcess];
  try {
    heading('The proxy programs the kernel');
    explain('kube-netlink-proxy --proxy-mode ipvs --manifests examples/ --hostname-override node-a');
    reportFirstPass(
      await step('starting it in the namespace of node-a', () => proxies[0].programmed()),
      outcomes,
    );
    const ipvs = await openIpvs({ netns: lab.netns(NODE_A) });
    heading('A steady load during the changes');
    const routes = virtualIPRoutes({ client, shell });
    const { flow: kept, pod: lost } = await openConnection(routes[0] as Route);
    const flows = [...routes.map(newConnections), kept];
    const measured = await play({ ipvs, manifests, outcomes, flows, lost, proxies, startProxy });
    ipvs.close();
    for (const message of errorsOf(proxies)) outcomes.fail(`the proxy logs: ${message}`, performance.now());
    return conclude(outcomes, flows, measured, slowdown);
  } finally {
    await Promise.all(proxies.map((proxy) => proxy.end()));
    await Promise.all([client, shell, ...servers].map((host) => host.close()));
    lab.close();
    manifests.close();
  }
}

function reportFirstPass(pass: SyncedLine, outcomes: Outcomes): void {
  const { services, operations, failures, planMs, kernelMs } = pass;
  if (failures > 0) outcomes.fail(`${failures} of ${operations} kernel operations failed`, performance.now());
  const times = `planned in ${planMs.toFixed(0)} ms, done in ${kernelMs.toFixed(0)} ms`;
  good(`${services} Services became ${operations} kernel operations, ${times}`);
}

/** Opens the connection that stays open. */
async function openConnection(route: Route): Promise<{ flow: Requests; pod: Pod }> {
  const send = () => dial(route, { keep: true });
  const first = await send();
  const pod = WEB.find(({ name }) => 'by' in first && name === first.by);
  const where = `${route.address}:${route.port}`;
  if (!pod) throw new Error(`${where} gave no connection: ${'error' in first ? first.error : first.by}`);
  explain(`A connection to ${where} stays open. Its endpoint is ${pod.name}, which is going to be lost.
    Requests are sent over it all the time, and over new connections to each kind of virtual IP.`);
  say('');
  return { flow: { name: `${where}, one connection that stays open`, server: pod.name, send }, pod };
}

/** Requests over new connections. */
function newConnections(route: Route): Requests {
  return { name: `${route.address}:${route.port}, ${route.name}`, send: () => dial(route) };
}

function errorsOf(proxies: readonly ProxyProcess[]): Set<string> {
  const lines = proxies.flatMap(({ log }) => log);
  return new Set(lines.filter(({ level }) => level === 'error').map(({ msg }) => msg));
}

/** The last screen; the exit status. */
function conclude(
  outcomes: Outcomes,
  flows: readonly Requests[],
  measured: Measured,
  slowdown: Slowdown,
): number {
  const { failures, requests, meanwhile, phases, slowest } = outcomes;
  heading(LAST_SCREEN);
  const columns = phases.map(({ name }) => name);
  const servers = WEB.map(({ name }) => name);
  const rows = boardRows(outcomes, flows, servers, measured);
  const lines = tableLines('', columns, rows, {
    heading: (text) => paint('underline', text),
    title: (text) => paint('bold', text),
    marked: (text) => paint('yellow', text),
  });
  say(...lines.map((line) => `  ${line}`));
  heading('Times');
  explain(slowdown.text);
  say('');
  say(...timeLines(measured, slowest, slowdown.factor).map((line) => `  ${line}`), '');
  const count = `${requests} requests (${meanwhile} while something changed), ${failures.length} failures`;
  if (failures.length === 0) good(paint('bold', `${count}; the open connection was never lost`));
  else bad(paint('bold', count));
  for (const failure of failureLines(failures)) bad(failure);
  say('', ...NEXT, '');
  return failures.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  say('');
  bad(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
// Open handles must not delay the exit; the clean-ups run at exit.
process.exit();
