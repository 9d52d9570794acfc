// Real packets: clients in network namespaces dial virtual IPs of examples/ while the proxy runs and manifests change.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { realServersBecome } from '../../demo/kernelView.js';
import { type Lab, openLab } from '../../demo/lab.js';
import { ManifestFolder, withoutEndpoint } from '../../demo/manifestFolder.js';
import { CLIENT, DNS, NODE_A, type Place, SHELL, STRANGER, WEB, WEB_PORT } from '../../demo/places.js';
import { ProxyProcess } from '../../demo/proxyProcess.js';
import { type Outcome, Station } from '../../demo/station.js';
import { type Route, request } from '../../demo/traffic.js';
import { WEB_ADDRESSES, WEB_MANIFEST, webRoutes } from '../../demo/web.js';
import { type Ipvs, openIpvs } from '../../src/kernel/ipvs/index.js';
import { closeAfter } from '../support/closeAfter.js';
import { service } from '../support/manifests.js';

const EXTERNAL_IP = WEB_ADDRESSES.externalIP.address;
const CLUSTER_IP = WEB_ADDRESSES.clusterIP.address;
/** A TCP client whose first packet is not answered tries again after a second: less is an answer to the first. */
const AT_ONCE = 900;
/** Ms after which silence is taken for good. */
const SILENCE = 3000;
/** A port of the node itself, in no Service. */
const HOST_PORT = 9100;

let lab: Lab;
let manifests: ManifestFolder;
let proxy: ProxyProcess;
let ipvs: Ipvs;
const stations = new Map<Place, Station>();

const at = (place: Place) => stations.get(place) as Station;
const names = (places: readonly Place[]) => places.map(({ name }) => name);

before(async () => {
  lab = closeAfter(openLab([SHELL, ...WEB, ...DNS]));
  manifests = closeAfter(new ManifestFolder());
  manifests.write('nobody.yaml', service('nobody', '10.96.10.99', '  externalIPs: [203.0.113.99]'));
  const places = [CLIENT, NODE_A, SHELL, ...WEB, ...DNS];
  await Promise.all(
    places.map(async (place) => {
      stations.set(place, closeAfter(await Station.open(lab.namespace(place))));
    }),
  );
  for (const pod of WEB) await at(pod).serve(pod.name, { tcp: [WEB_PORT] });
  for (const pod of DNS) await at(pod).serve(pod.name, { tcp: [53], udp: [53] });
  await at(NODE_A).serve('the node itself', { tcp: [HOST_PORT] });
  proxy = closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path));
  await proxy.programmed();
  ipvs = closeAfter(await openIpvs({ netns: lab.netns(NODE_A) }));
});

/** Sends requests over each route; every one must be answered, and all servers must have their share. */
async function allAnswer(routes: readonly Route[], expected: readonly string[]): Promise<void> {
  for (const route of routes) {
    const { failures } = await request(route, 3 * expected.length, expected);
    assert.deepEqual(failures, []);
  }
}

const diallers = () => ({ client: at(CLIENT), node: at(NODE_A), shell: at(SHELL) });

test('ClusterIP, NodePort and external IP spread requests over all endpoints', async () => {
  await allAnswer(webRoutes(diallers()), names(WEB));
});

test('a load-balancer IP, and both families of a dual-stack Service, do so too', async () => {
  const two = names(WEB.filter(({ name }) => name !== 'web-1'));
  const routes = [
    { name: 'load-balancer IP, from outside', from: at(CLIENT), address: '203.0.113.20', port: 80 },
    { name: 'IPv4 ClusterIP of the dual-stack Service', from: at(SHELL), address: '10.96.10.40', port: 80 },
    {
      name: 'IPv6 ClusterIP of the dual-stack Service',
      from: at(SHELL),
      address: 'fd00:10:96::40',
      port: 80,
    },
  ];
  await allAnswer(routes, two);
});

test('traffic follows an edited manifest: an endpoint goes, and comes back', async () => {
  const before = manifests.read(WEB_MANIFEST);
  const [gone, ...rest] = [...WEB].reverse();
  assert.ok(gone);
  for (const [text, pods] of [
    [withoutEndpoint(before, gone.ipv4), rest],
    [before, WEB],
  ] as const) {
    manifests.write(WEB_MANIFEST, text);
    const expected = pods.map(({ ipv4 }) => `${ipv4}:${WEB_PORT}`);
    for (const id of Object.values(WEB_ADDRESSES)) await realServersBecome(ipvs, id, expected);
    await allAnswer(webRoutes(diallers()), names(pods));
  }
});

test('a Service of one address, port number and two protocols answers in both', async () => {
  const route = { name: 'DNS', from: at(SHELL), address: '10.96.0.10', port: 53 };
  await allAnswer(
    [{ ...route, protocol: 'udp' }, route, { ...route, from: at(NODE_A), protocol: 'udp' }],
    names(DNS),
  );
});

test('pods see a pod as it is, and the outside as the node', async () => {
  const { counts: _, sources: inside } = await request(webRoutes(diallers())[0] as Route, 3, names(WEB));
  assert.deepEqual([...inside], [SHELL.ipv4]);
  const outside = await request(
    { name: 'external IP', from: at(CLIENT), address: EXTERNAL_IP, port: 80 },
    3,
    names(WEB),
  );
  assert.deepEqual([...outside.sources].sort(), [NODE_A.podGateway.ipv4, NODE_A.ipv4].sort());
});

test('a pod that dials its own Service is answered, by itself too', async () => {
  const pod = WEB[0] as Place;
  const route = {
    name: 'a Service, dialled by its own endpoint',
    from: at(pod),
    address: CLUSTER_IP,
    port: 80,
  };
  await allAnswer([route], names(WEB));
});

test('with affinity, a client stays with one server', async () => {
  const answers = new Set<string>();
  for (let i = 0; i < 6; i++) answers.add(answered(await at(SHELL).dial('10.96.10.30', 80)));
  assert.equal(answers.size, 1, [...answers].join(', '));
});

test('a Service without endpoints is refused at once', async () => {
  for (const [place, address] of [
    [SHELL, '10.96.10.99'],
    [NODE_A, '10.96.10.99'],
    [CLIENT, '203.0.113.99'],
  ] as const) {
    await refusedAtOnce(at(place), address, 80);
  }
});

test('a port of the node is not reachable through a virtual IP', async () => {
  assert.equal(answered(await at(CLIENT).dial(NODE_A.ipv4, HOST_PORT)), 'the node itself');
  assert.equal(answered(await at(SHELL).dial(NODE_A.podGateway.ipv4, HOST_PORT)), 'the node itself');
  await refusedAtOnce(at(CLIENT), EXTERNAL_IP, HOST_PORT);
  await refusedAtOnce(at(SHELL), CLUSTER_IP, HOST_PORT);
});

test('source ranges let in whom they name, and drop the packets of others', async () => {
  const stranger = { from: STRANGER, patience: SILENCE };
  assert.ok(names(WEB).includes(answered(await at(CLIENT).dial('203.0.113.20', 80))));
  // The stranger can reach the node, and is kept from this address alone.
  assert.ok(names(WEB).includes(answered(await at(CLIENT).dial(EXTERNAL_IP, 80, stranger))));
  assert.equal(refusal(await at(CLIENT).dial('203.0.113.20', 80, stranger)), 'no answer');
});

/** By whom. */
function answered(outcome: Outcome): string {
  assert.ok('by' in outcome, `not answered: ${JSON.stringify(outcome)}`);
  return outcome.by;
}

function refusal(outcome: Outcome): string {
  assert.ok('error' in outcome, `answered: ${JSON.stringify(outcome)}`);
  return outcome.error;
}

/** Three times at most: on a busy machine, one alone may take long for reasons of its own. */
async function refusedAtOnce(from: Station, address: string, port: number): Promise<void> {
  let quickest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3 && quickest > AT_ONCE; i++) {
    const outcome = await from.dial(address, port);
    assert.equal(refusal(outcome), 'ECONNREFUSED', `${address}:${port}`);
    quickest = Math.min(quickest, outcome.milliseconds);
  }
  assert.ok(quickest <= AT_ONCE, `${address}:${port} took ${quickest} ms to refuse`);
}
