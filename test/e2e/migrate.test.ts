// docs/migrate.md on a cluster of three nodes: from kube-proxy's state in ipvs mode, as it was recorded, node by node to the proxy, to nftables
// mode and back, back to kube-proxy, and to deploy/base. Clients send requests all the time, and none fails. Commands on a node are those of
// the page; what kubectl does is done instead: pods start and end, files of ConfigMaps change.
// Needs: ipvs, dummy device, nftables, bridge filter, command, curl, time
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Crowd } from '../laboratory/crowd.js';
import { openLab } from '../laboratory/lab.js';
import { PATIENCE } from '../laboratory/patience.js';
import { CLIENT, NODE_A, NODE_B, NODE_C, type NodePlace, type Pod } from '../laboratory/places.js';
import { Replicas } from '../laboratory/replica.js';
import { ApiCluster } from '../support/apiServer/apiCluster.js';
import { makeAuthority } from '../support/apiServer/certificates.js';
import { closeAfter } from '../support/closeAfter.js';
import { ClusterNode } from '../support/deployment/clusterNode.js';
import { type PodSpec, readDeployed } from '../support/deployment/daemonSet.js';
import { kubeadmConfiguration, kubeadmKubeconfig } from '../support/deployment/kubeadm.js';
import { DAEMON_SETS } from '../support/deployment/sets.js';
import { commandIn, commandsOfTable, commandsWith } from '../support/documents/migratePage.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';
import { ask } from '../support/namespaces/witnesses.js';
import { recordedObjects, scenarios } from '../support/oracle/oracle.js';
import { RecordedNode } from '../support/oracle/recordedNodes.js';
import type { LoggedProcess } from '../support/processes/agentProcess.js';

const RECORDED = { node: '192.168.50.10', other: '10.0.2.15', localEndpoint: '10.244.1.71' };
const API = '192.168.50.5';
const TOKEN = 'a-token';
const [CLUSTER_IP, PORT, NODE_PORT] = ['10.96.20.1', 80, 30080];
/** Of the recording, and one more, on node-c. */
const ENDPOINTS = ['10.244.1.71', '10.244.2.72'] as const;
const ADDED = '10.244.3.73';
/** Time limit for the removal of ipvs mode's state, in ms: its entries expire after two minutes. */
const REMOVAL = 400_000;

const PLACES: readonly NodePlace[] = [NODE_A, NODE_B, NODE_C];
const at = (node: NodePlace, name: string, ipv4: string): Pod => ({
  ...{ name: `${name}-${node.name}`, node, ipv4 },
  ipv6: `${node.podGateway.ipv6.slice(0, -1)}${ipv4.split('.')[3]}`,
});
const SERVERS = [...ENDPOINTS, ADDED].map((ipv4, i) => at(PLACES[i] as NodePlace, 'web', ipv4));
const SHELLS = PLACES.map((node) => at(node, 'shell', node.podGateway.ipv4.replace(/1$/, '100')));

const CANARY = DAEMON_SETS.canary.spec.template.spec;
const BASE = DAEMON_SETS.base.spec.template.spec;
const { spec: PLAN } = readDeployed<{ spec: PodSpec }>('plan/pod.yaml');
const CHECKS = commandsOfTable('Verify');

let cluster: ApiCluster;
let objects: string;
let kubeconfig: string;
let crowds: readonly Crowd[];
const nodes: ClusterNode[] = [];
const recorded: RecordedNode[] = [];
const seen = new Map<Crowd, number>();
let broken = false;

before(async () => {
  selectBackend('nft');
  const lab = closeAfter(openLab([...SERVERS, ...SHELLS], [NODE_C]));
  lab.join(API);
  const authority = makeAuthority('test');
  const tls = authority.server(API);
  cluster = closeAfter(await ApiCluster.start({ address: API, tls, tokens: new Set([TOKEN]) }));
  const [scenario] = scenarios('ipvs').filter(({ name }) => name === 'node-port');
  assert.ok(scenario);
  const ofNode = ({ name, ipv4, podNetworks }: NodePlace) => `apiVersion: v1
kind: Node
metadata: {name: ${name}, uid: ${name}}
spec: {podCIDRs: [${podNetworks}]}
status: {addresses: [{type: InternalIP, address: ${ipv4}}]}
---
`;
  objects = [NODE_B, NODE_C].map(ofNode).join('') + recordedObjects(scenario.folder);
  cluster.hold(objects);
  for (const [i, place] of PLACES.entries()) {
    const namespace = lab.namespace(place);
    const node = closeAfter(new ClusterNode(place.name, namespace));
    node.mount('account', { 'ca.crt': authority.cert, token: TOKEN });
    kubeconfig = kubeadmKubeconfig(
      cluster.server.url,
      `${node.folder}/account/ca.crt`,
      `${node.folder}/account/token`,
    );
    node.mount('kube-proxy', filesOf(node, 'ipvs'));
    nodes.push(node);
    // kube-proxy writes it, and kubelet marks the backend of iptables.
    ask(
      namespace,
      'sh',
      '-ec',
      'sysctl -q -w net.ipv4.ip_forward=1; iptables -t mangle -N KUBE-IPTABLES-HINT',
    );
    const state = new RecordedNode(scenario.folder, RECORDED, place, namespace, ENDPOINTS[i]);
    state.program();
    recorded.push(closeAfter(state));
  }
  await Promise.all(
    SERVERS.map(async (pod) => {
      const replicas = closeAfter(await Replicas.open(lab.namespace(pod)));
      await replicas.ask({ do: 'serve', address: pod.ipv4, port: 8080 });
    }),
  );
  const clients = [
    ...SHELLS.map((shell) => ({ place: shell, address: CLUSTER_IP, port: PORT })),
    ...PLACES.map(({ ipv4 }) => ({ place: CLIENT, address: ipv4, port: NODE_PORT })),
  ];
  crowds = await Promise.all(
    clients.map(async ({ place, address, port }) => {
      const crowd = closeAfter(await Crowd.open(lab.namespace(place)));
      await crowd.start({
        address,
        port,
        keepAlive: 1,
        short: 1,
        perConnection: 20,
        pause: 300,
        patience: 60_000,
      });
      return crowd;
    }),
  );
});

/** The files of kubeadm's ConfigMap on a node, with a mode. */
function filesOf({ folder }: ClusterNode, mode: string) {
  const configuration = kubeadmConfiguration(`${folder}/kube-proxy/kubeconfig.conf`);
  return {
    'config.conf': configuration.replace('mode: ""', `mode: ${mode}`),
    'kubeconfig.conf': kubeconfig.replaceAll(/\S+\/account\//g, `${folder}/account/`),
  };
}

/** A test after those before it; at its end, each crowd has had more responses since, and no request has failed so far. */
function step(name: string, run: () => Promise<void>): void {
  test(name, async (context) => {
    assert.ok(!broken, 'an earlier step failed');
    broken = true;
    await run();
    await answered(context);
    broken = false;
  });
}

async function answered(context: TestContext): Promise<void> {
  const counts: number[] = [];
  for (const crowd of crowds) {
    const from = (await crowd.report()).requests;
    for (const deadline = performance.now() + PATIENCE; ; await delay(100)) {
      const { requests, failures, answers } = await crowd.report();
      assert.deepEqual(failures, [], `${failures.length} of ${requests} requests failed`);
      if (requests >= from + 10 && ENDPOINTS.every((address) => answers[address])) {
        counts.push(requests - (seen.get(crowd) ?? 0));
        seen.set(crowd, requests);
        break;
      }
      assert.ok(performance.now() < deadline, `only ${requests} requests`);
    }
  }
  context.diagnostic(`requests of each client: ${counts.join(', ')}; 0 failed`);
}

/** The pod of a DaemonSet is ready after its first pass, which has this number of operations. */
async function started(node: ClusterNode, spec: PodSpec, operations?: number): Promise<LoggedProcess> {
  const pod = await node.start(spec);
  const synced = await pod.logged(/ INFO +synced /);
  assert.match(synced, / failures=0$/);
  if (operations !== undefined) assert.match(synced, new RegExp(` operations=${operations} `));
  assert.match(await onNode(node, "curl -s -w '%{http_code}' http://127.0.0.1:10256/readyz"), /200$/);
  return pod;
}

/** The output of commands of the page, which succeed. */
async function onNode(node: ClusterNode, commands: string, configMap = 'kube-proxy'): Promise<string> {
  const { status, stdout, stderr } = await node.shell(commands, configMap);
  assert.equal(status, 0, `${commands}\n${stdout}${stderr}`);
  return stdout;
}

/** The table under "Verify". `sameState`: nothing has changed since the files of step 3. */
async function verify(node: ClusterNode, mode: string, sameState = false, configMap = 'kube-proxy') {
  const expected: Readonly<Record<string, RegExp>> = {
    'its first pass': /synced .* failures=0$/,
    'no other instance': /^$/,
    'its health, for load balancers': /"healthy":true[\s\S]*\n200$/,
    'the mode': new RegExp(`^${mode}$`),
    ...(sameState && { 'virtual services': /^$/, sets: /^$/, rules: /^$/ }),
    ...(mode === 'ipvs' && { addresses: /state DOWN[\s\S]*10\.96\.0\.1\/32[\s\S]*10\.96\.20\.1\/32/ }),
    'the kernel has the desired state': /^nothing would change\n0$/,
    'no operation failed': /^$/,
  };
  for (const [check, wanted] of Object.entries(expected)) {
    const command = CHECKS.get(check);
    assert.ok(command, `no row ${check} in ${[...CHECKS.keys()]}`);
    // diff and grep end with 1 if they have nothing to print.
    const { stdout, stderr } = await node.shell(command, configMap);
    assert.match(stdout.trimEnd(), wanted, `${check}: ${stderr}`);
    assert.equal(stderr.replaceAll(/^.* WARN .*\n/gm, ''), '', check);
  }
}

/** kube-proxy's pod or that of the proxy ends, and the other one begins; the page's table holds. */
async function migrated(node: ClusterNode): Promise<void> {
  await onNode(node, commandsWith('The first node', 'ipvs.before'));
  await started(node, CANARY, 0);
  await verify(node, 'ipvs', true);
}

async function becomes(what: string, so: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE; !(await so()); await delay(100))
    assert.ok(performance.now() < deadline, what);
}

step('before: the checks of the page, and a plan of each node: nothing would change', async () => {
  const [first] = nodes as [ClusterNode];
  const checks = commandsOfTable('Before');
  assert.equal(await onNode(first, checks.get('the iptables backend') ?? ''), '1\n');
  assert.match(
    await onNode(first, checks.get('other users of IPVS') ?? ''),
    /TCP +192\.168\.50\.10:30080 rr/,
  );
  const printed =
    'kube-netlink-proxy --config=/var/lib/kube-proxy/config.conf --write-config-to=/dev/stdout | cat'; // A shell's standard output is a socket here.
  assert.match(await onNode(first, printed), /^mode: "?ipvs"?$/m);
  for (const node of nodes) {
    const { status, stdout, stderr } = await node.runPod(PLAN);
    assert.deepEqual([status, stdout], [0, 'nothing would change\n'], stderr);
  }
  assert.deepEqual(
    recorded.flatMap((state) => state.differences()),
    [],
  );
});

step('the first node: it adopts kube-proxy’s state without an operation', async () => {
  await migrated(nodes[0] as ClusterNode);
});

step('the other nodes', async () => {
  for (const node of nodes.slice(1)) await migrated(node);
});

step('a Deployment is scaled: each node has the endpoint, and then not', async () => {
  const command = commandIn('Verify', 'ipvsadm -Ln -t').replace('CLUSTER-IP:PORT', `${CLUSTER_IP}:${PORT}`);
  const weights = async (node: ClusterNode) =>
    [...(await onNode(node, command)).matchAll(/-> (\S+):8080 +Masq +(\d+)/g)].map(
      ([, address, weight]) => `${address} ${weight}`,
    );
  const served = ENDPOINTS.map((address) => `${address} 1`);
  const withEndpoint = (conditions: string) =>
    objects.replace('    nodeName: node-b\n', (found) => {
      return `${found}  - {addresses: [${ADDED}], conditions: ${conditions}, nodeName: node-c}\n`;
    });
  cluster.hold(withEndpoint('{ready: true}'));
  for (const node of nodes) {
    await becomes('the endpoint is added', async () => (await weights(node)).includes(`${ADDED} 1`));
  }
  cluster.hold(withEndpoint('{ready: false, serving: true, terminating: true}'));
  for (const node of nodes) {
    await becomes('it gets no new connections', async () => {
      const found = await weights(node);
      return found.filter((text) => text !== `${ADDED} 0`).join() === served.join();
    });
  }
  cluster.hold(objects);
});

step(
  'Leaving IPVS for good: an edit changes no node; each gets nftables mode when its pod is deleted',
  async () => {
    for (const node of nodes) node.update('kube-proxy', filesOf(node, 'nftables'));
    for (const node of nodes) {
      await becomes('status says that mode waits', async () =>
        /^config .*mode/m.test(await onNode(node, 'kube-netlink-proxy status')),
      );
      assert.match(
        await onNode(node, "kubectl -n kube-system logs POD | grep 'wait for the next start'"),
        /mode/,
      );
      assert.equal(await onNode(node, CHECKS.get('the mode') ?? ''), 'ipvs');
    }
    const plan = await (nodes[0] as ClusterNode).runPod(PLAN);
    assert.equal(plan.status, 1, plan.stderr);
    assert.match(plan.stdout, /no longer wanted, of ipvs mode/);
    const removals: Promise<string>[] = [];
    for (const node of nodes) {
      assert.equal(await node.delete(), 0);
      const pod = await started(node, CANARY);
      await pod.logged(/connections still use the items of another mode/);
      removals.push(pod.logged(/removed items of another mode/, REMOVAL));
    }
    await Promise.all(removals);
    for (const node of nodes) {
      const left = 'ipvsadm -Sn; ipset list -n; ip -o link | grep kube-ipvs0; true';
      assert.equal(await onNode(node, left), '');
      await verify(node, 'nftables');
    }
  },
);

step('a return to ipvs mode: the same with mode: ipvs', async () => {
  for (const node of nodes) node.update('kube-proxy', filesOf(node, 'ipvs'));
  for (const node of nodes) {
    assert.equal(await node.delete(), 0);
    const pod = await started(node, CANARY);
    await pod.logged(/removed items of another mode/);
    assert.equal(await onNode(node, 'nft list tables | grep kube-proxy; true'), '');
    await verify(node, 'ipvs');
  }
});

step('Back: each node has kube-proxy’s state, and kube-proxy starts on it', async () => {
  for (const [i, node] of nodes.entries()) {
    assert.equal(await node.delete(), 0);
    assert.deepEqual(recorded[i]?.differences(), []);
    recorded[i]?.programAgain();
    assert.deepEqual(recorded[i]?.differences(), []);
  }
});

step(
  'When all nodes run it: deploy/base with the settings of kube-proxy’s ConfigMap takes over from the canary',
  async () => {
    for (const node of nodes) await migrated(node);
    const taken = commandsWith('When all nodes run it', 'config kubeconfig');
    for (const node of nodes) {
      await onNode(node, `cd /tmp/\n${taken}`);
      const text = (name: string) => readFileSync(`${node.folder}/${name}`, 'utf8');
      const files = { 'config.conf': text('config.conf'), 'kubeconfig.conf': text('kubeconfig.conf') };
      assert.deepEqual(files, filesOf(node, 'ipvs'));
      node.mount('kube-netlink-proxy', files);
      assert.equal(await node.delete(), 0);
      await started(node, BASE, 0);
      await verify(node, 'ipvs', true, 'kube-netlink-proxy');
    }
    assert.deepEqual(
      recorded.flatMap((state) => state.differences()),
      [],
    );
  },
);

test('no request failed, from the first to the last', async (context) => {
  const reports = await Promise.all(crowds.map((crowd) => crowd.stop()));
  assert.deepEqual(
    reports.flatMap(({ failures }) => failures),
    [],
  );
  context.diagnostic(`${reports.reduce((sum, { requests }) => sum + requests, 0)} requests, 0 failed`);
});
