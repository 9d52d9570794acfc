// The demonstration: a network in namespaces, the proxy on examples/, requests through virtual IPs, and a manifest edited
// while all of it runs. Needs root and a kernel with IPVS (npm run demo sees to both). Exit status 0 only if every request
// was answered, and by a server that should.
import { openIpvs } from '../src/kernel/ipvs/index.js';
import { exitOnSignals } from './atExit.js';
import { openLab } from './lab.js';
import { ManifestFolder } from './manifestFolder.js';
import { CLIENT, NODE_A, SHELL, WEB, WEB_PORT } from './places.js';
import { ProxyProcess, type SyncedLine } from './proxyProcess.js';
import { bad, explain, good, heading, paint, say, step } from './screen.js';
import { Station } from './station.js';
import { Story } from './story.js';

const PICTURE = [
  '  client ──┐                              ┌── web-0   a pod with a web server',
  '           ├── lan ── node-a ── bridge ───┼── web-1   another',
  '           │       the proxy is here      └── shell   a pod that dials',
  '           └── lan ── node-b ── bridge ────── web-2   a third web server',
  '',
];

async function main(): Promise<number> {
  exitOnSignals();
  say('', paint('bold', 'kube-netlink-proxy: how a Service gets into the kernel'));
  heading('A small cluster, in eight network namespaces');
  say(...PICTURE);
  const lab = await step('namespaces, cables, bridges, routes', () => openLab([SHELL, ...WEB]));
  const [client, node, shell, ...servers] = (await step('web servers and clients', () =>
    Promise.all([CLIENT, NODE_A, SHELL, ...WEB].map((place) => Station.open(lab.namespace(place)))),
  )) as [Station, Station, Station, ...Station[]];
  await Promise.all(WEB.map(({ name }, i) => servers[i]?.serve(name, { tcp: [WEB_PORT] })));
  const manifests = new ManifestFolder();
  const proxy = new ProxyProcess(lab.namespace(NODE_A), manifests.path);
  try {
    heading('The proxy programs the kernel');
    explain('kube-netlink-proxy --manifests examples/ --hostname-override node-a');
    const first = await step('starting it in the namespace of node-a', () => proxy.programmed());
    const ipvs = await openIpvs({ netns: lab.netns(NODE_A) });
    const story = new Story(ipvs, { client, node, shell }, manifests, proxy);
    tellFirstPass(first, story);
    await story.tell();
    const errors = proxy.log.filter(({ level }) => level === 'error').map(({ msg }) => msg);
    for (const message of new Set(errors)) story.fail(`the proxy says: ${message}`);
    ipvs.close();
    return conclude(story);
  } finally {
    await proxy.end();
    await Promise.all([client, node, shell, ...servers].map((station) => station.close()));
    lab.close();
    manifests.close();
  }
}

function tellFirstPass({ services, operations, failures, planMs, kernelMs }: SyncedLine, story: Story): void {
  if (failures > 0) story.fail(`${failures} of ${operations} kernel operations failed`);
  const times = `planned in ${planMs} ms, carried out in ${kernelMs} ms`;
  good(`${services} Services became ${operations} kernel operations: ${times}`);
}

/** The last lines; the exit status. */
function conclude({ requests, failures, latencies }: Story): number {
  heading('The end');
  const times = latencies.map((latency) => latency.toFixed(0)).join(' and ');
  explain(`File to kernel: from the renaming of the new manifest into place until our library, asking every 2 ms, saw the
    new real servers at all three virtual IPs. In an emulated machine, as npm run vm has it, everything takes six to
    eight times as long.`);
  if (failures.length === 0)
    good(`${requests} requests, all answered as they should; file to kernel in ${times} ms`);
  for (const failure of failures) bad(failure);
  say('');
  return failures.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  say('');
  bad(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
// Whatever is still open must not keep the process; what has to be undone is, at exit.
process.exit();
