// What Services promise while they and their endpoints change, in every mode: the endpoints of each address after each step, as the
// kernel has them. docs/upstream-tests.md has the tests of Kubernetes that demand the same of a cluster.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinHostPort } from '../../../../src/kernel/net/address.js';
import { HOST } from '../../../support/clusters/manifests.js';
import { type AnyNode, FAKE_NODES, frontendsOf } from '../../../support/oracle/fakeNodes.js';
import { FakeNode } from '../../../support/oracle/testNode.js';

/** Objects, and what each address leads to: endpoints, with `, affinity` if a client keeps its endpoint. Other addresses lead nowhere. */
type Step = readonly [objects: string, reached: Readonly<Record<string, string>>];

const HTTP = '{name: http, port: 80, targetPort: 8080}';

/** Service `web` in YAML, one line for each field of its spec. */
const web = (spec: string, labels = '') => `
apiVersion: v1
kind: Service
metadata: {namespace: demo, name: web, labels: {${labels}}}
spec: {${spec}}
---`;

/** A Service with a cluster IP and these ports. */
const clusterIP = (ports = HTTP, more = '') =>
  web(`type: ClusterIP, clusterIP: 10.96.0.1, ports: [${ports}]${more === '' ? '' : `, ${more}`}`);

const nodePort = (ports = '{name: http, port: 80, nodePort: 30080}', more = '') =>
  web(`type: NodePort, clusterIP: 10.96.0.1, ports: [${ports}]${more === '' ? '' : `, ${more}`}`);

const EXTERNAL_NAME = web('type: ExternalName, externalName: example.com');

/** A slice of Service `web`: endpoints in YAML without braces, each an address or an address and fields. */
const slice = (endpoints: readonly string[], ports = '{name: http, port: 8080}', name = 'web-1') => `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {namespace: demo, name: ${name}, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [${ports}]
endpoints: [${endpoints.map((one) => `{addresses: [${one.replace(',', '],')}${one.includes(',') ? '' : ']'}}`).join(', ')}]
---`;

const HERE = 'nodeName: node-a';
const THERE = 'nodeName: node-b';
const TERMINATING = 'conditions: {ready: false, serving: true, terminating: true}';
const UNREADY = 'conditions: {ready: false, serving: false}';

const TWO = slice(['10.0.0.1', '10.0.0.2']);
const BOTH = '10.0.0.1:8080 10.0.0.2:8080';
const AT = '10.96.0.1:80/tcp';
const NODE_PORT = 'node:30080/tcp';
const LOCAL = 'externalTrafficPolicy: Local, internalTrafficPolicy: Local';

/** Node node-a in zone a. */
const NODE = `
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {topology.kubernetes.io/zone: a}}
---`;
const inZone = (address: string, zone: string, node = 'node-b') =>
  `${address}, nodeName: ${node}, zone: ${zone}, hints: {forZones: [{name: ${zone}}]}`;
const onNode = (address: string, node: string) =>
  `${address}, nodeName: ${node}, zone: a, hints: {forZones: [{name: a}], forNodes: [{name: ${node}}]}`;

const STORIES: Readonly<Record<string, readonly Step[]>> = {
  'a Service goes up and down, and is created again with another address': [
    [clusterIP() + TWO, { [AT]: BOTH }],
    [TWO, {}],
    [web(`clusterIP: 10.96.0.9, ports: [${HTTP}]`) + TWO, { '10.96.0.9:80/tcp': BOTH }],
  ],
  'the type changes between ClusterIP, NodePort and ExternalName': [
    [clusterIP() + TWO, { [AT]: BOTH }],
    [EXTERNAL_NAME + TWO, {}],
    [nodePort() + TWO, { [AT]: BOTH, [NODE_PORT]: BOTH }],
    [EXTERNAL_NAME + TWO, {}],
    [clusterIP() + TWO, { [AT]: BOTH }],
  ],
  'a load balancer gets and loses its IP, its node port and its port': [
    [
      web(
        `type: LoadBalancer, clusterIP: 10.96.0.1, allocateLoadBalancerNodePorts: false, ports: [${HTTP}]`,
      ) + TWO,
      { [AT]: BOTH },
    ],
    [
      `${web(`type: LoadBalancer, clusterIP: 10.96.0.1, ports: [{name: http, port: 80, nodePort: 30080}]`).replace(/\n---$/, '\nstatus: {loadBalancer: {ingress: [{ip: 203.0.113.1}]}}\n---')}${TWO}`,
      { [AT]: BOTH, [NODE_PORT]: BOTH, '203.0.113.1:80/tcp': BOTH },
    ],
    [
      `${web(`type: LoadBalancer, clusterIP: 10.96.0.1, ports: [{name: http, port: 81, nodePort: 30081}]`).replace(/\n---$/, '\nstatus: {loadBalancer: {ingress: [{ip: 203.0.113.1}]}}\n---')}${TWO}`,
      { '10.96.0.1:81/tcp': BOTH, 'node:30081/tcp': BOTH, '203.0.113.1:81/tcp': BOTH },
    ],
    [clusterIP() + TWO, { [AT]: BOTH }],
  ],
  'ports are added and deleted': [
    [
      clusterIP(`${HTTP}, {name: admin, port: 81}`) +
        slice(['10.0.0.1'], '{name: http, port: 8080}, {name: admin, port: 8081}'),
      {
        [AT]: '10.0.0.1:8080',
        '10.96.0.1:81/tcp': '10.0.0.1:8081',
      },
    ],
    [
      clusterIP('{name: admin, port: 81}') + slice(['10.0.0.1'], '{name: admin, port: 8081}'),
      {
        '10.96.0.1:81/tcp': '10.0.0.1:8081',
      },
    ],
  ],
  'one port number serves TCP and UDP, also as a node port': [
    [clusterIP(HTTP) + TWO, { [AT]: BOTH }],
    [
      nodePort(
        '{name: http, port: 80, nodePort: 30080}, {name: quic, port: 80, nodePort: 30080, protocol: UDP}',
      ) + slice(['10.0.0.1'], '{name: http, port: 8080}, {name: quic, port: 8443, protocol: UDP}'),
      {
        [AT]: '10.0.0.1:8080',
        '10.96.0.1:80/udp': '10.0.0.1:8443',
        [NODE_PORT]: '10.0.0.1:8080',
        'node:30080/udp': '10.0.0.1:8443',
      },
    ],
  ],
  'the labels headless and service-proxy-name take a Service away, and give it back': [
    [clusterIP() + TWO, { [AT]: BOTH }],
    // The controller copies the labels of a Service to its slices.
    [clusterIP() + TWO.replace('labels: {', 'labels: {service.kubernetes.io/headless: "", '), {}],
    [clusterIP() + TWO, { [AT]: BOTH }],
    [
      clusterIP().replace('labels: {}', 'labels: {service.kubernetes.io/service-proxy-name: other}') + TWO,
      {},
    ],
    [clusterIP() + TWO, { [AT]: BOTH }],
  ],
  'a Service without endpoints leads nowhere, also when its pods are evicted or not ready': [
    [clusterIP(), {}],
    [clusterIP() + slice([]), {}],
    [clusterIP() + TWO, { [AT]: BOTH }],
    [clusterIP() + slice([`10.0.0.1, ${UNREADY}`]), {}],
  ],
  'unready and terminating endpoints are used if their slice says ready: publishNotReadyAddresses': [
    [
      clusterIP() +
        slice([
          `10.0.0.1, ${UNREADY}`,
          '10.0.0.2, conditions: {ready: false, serving: false, terminating: true}',
        ]),
      {},
    ],
    [
      clusterIP() +
        slice([
          '10.0.0.1, conditions: {ready: true, serving: false}',
          '10.0.0.2, conditions: {ready: true, serving: false, terminating: true}',
        ]),
      { [AT]: BOTH },
    ],
  ],
  'terminating endpoints are used while none is ready, with policies Cluster': [
    [
      nodePort() + slice([`10.0.0.1, ${HERE}`, `10.0.0.2, ${TERMINATING}, ${THERE}`]),
      { [AT]: '10.0.0.1:8080', [NODE_PORT]: '10.0.0.1:8080' },
    ],
    [
      nodePort() + slice([`10.0.0.1, ${TERMINATING}, ${HERE}`, `10.0.0.2, ${TERMINATING}, ${THERE}`]),
      { [AT]: BOTH, [NODE_PORT]: BOTH },
    ],
  ],
  'terminating endpoints of this node are used while none here is ready, with policies Local': [
    [
      nodePort(undefined, LOCAL) + slice([`10.0.0.1, ${HERE}`, `10.0.0.2, ${THERE}`]),
      { [AT]: '10.0.0.1:8080', [NODE_PORT]: '10.0.0.1:8080' },
    ],
    [
      nodePort(undefined, LOCAL) + slice([`10.0.0.1, ${TERMINATING}, ${HERE}`, `10.0.0.2, ${THERE}`]),
      { [AT]: '10.0.0.1:8080', [NODE_PORT]: '10.0.0.1:8080' },
    ],
  ],
  'the traffic policies change between Cluster and Local': [
    [nodePort() + slice([`10.0.0.1, ${HERE}`, `10.0.0.2, ${THERE}`]), { [AT]: BOTH, [NODE_PORT]: BOTH }],
    [
      nodePort(undefined, LOCAL) + slice([`10.0.0.1, ${HERE}`, `10.0.0.2, ${THERE}`]),
      { [AT]: '10.0.0.1:8080', [NODE_PORT]: '10.0.0.1:8080' },
    ],
    [nodePort() + slice([`10.0.0.1, ${HERE}`, `10.0.0.2, ${THERE}`]), { [AT]: BOTH, [NODE_PORT]: BOTH }],
  ],
  'a named target port is another number in another slice; slices may share a pod': [
    [
      clusterIP(`${HTTP}, {name: admin, port: 81}`) +
        slice(['10.0.0.1'], '{name: http, port: 8080}') +
        slice(['10.0.0.2'], '{name: http, port: 9090}', 'web-2') +
        slice(['10.0.0.1'], '{name: admin, port: 8081}', 'web-3'),
      { [AT]: '10.0.0.1:8080 10.0.0.2:9090', '10.96.0.1:81/tcp': '10.0.0.1:8081' },
    ],
    [
      clusterIP(`${HTTP}, {name: admin, port: 81}`) +
        slice(['10.0.0.2'], '{name: http, port: 9090}', 'web-2'),
      { [AT]: '10.0.0.2:9090' },
    ],
  ],
  'an endpoint in the network of the node is used as any other': [
    [
      clusterIP() + slice([`192.168.50.10, ${HERE}`, `192.168.50.11, ${THERE}`]),
      { [AT]: '192.168.50.10:8080 192.168.50.11:8080' },
    ],
  ],
  'affinity ClientIP is set and unset': [
    [nodePort() + TWO, { [AT]: BOTH, [NODE_PORT]: BOTH }],
    [
      nodePort(undefined, 'sessionAffinity: ClientIP') + TWO,
      { [AT]: `${BOTH}, affinity`, [NODE_PORT]: `${BOTH}, affinity` },
    ],
    [nodePort() + TWO, { [AT]: BOTH, [NODE_PORT]: BOTH }],
  ],
  'traffic distribution by zone: endpoints of the zone, and all when it has none': [
    [
      NODE + clusterIP() + slice([inZone('10.0.0.1', 'a'), inZone('10.0.0.2', 'b')]),
      { [AT]: '10.0.0.1:8080' },
    ],
    [
      NODE + clusterIP() + slice([inZone('10.0.0.2', 'b'), inZone('10.0.0.3', 'c')]),
      { [AT]: '10.0.0.2:8080 10.0.0.3:8080' },
    ],
  ],
  'traffic distribution by node: endpoints of the node, and those of the zone when it has none': [
    [
      NODE + clusterIP() + slice([onNode('10.0.0.1', 'node-a'), onNode('10.0.0.2', 'node-b')]),
      { [AT]: '10.0.0.1:8080' },
    ],
    [
      NODE + clusterIP() + slice([onNode('10.0.0.2', 'node-b'), inZone('10.0.0.3', 'b', 'node-c')]),
      { [AT]: '10.0.0.2:8080' },
    ],
  ],
  'a port of SCTP is served beside others': [
    [
      clusterIP(`${HTTP}, {name: sctp, port: 5060, protocol: SCTP}`) +
        slice(['10.0.0.1'], '{name: http, port: 8080}, {name: sctp, port: 5060, protocol: SCTP}'),
      { [AT]: '10.0.0.1:8080', '10.96.0.1:5060/sctp': '10.0.0.1:5060' },
    ],
  ],
  'a Service of two families has the endpoints of each': [
    [
      web(
        `clusterIP: 10.96.0.1, clusterIPs: [10.96.0.1, "fd00:10:96::1"], ipFamilies: [IPv4, IPv6], ports: [${HTTP}]`,
      ) +
        slice(['10.0.0.1']) +
        slice(['"fd00::1"'], undefined, 'web-6').replace('IPv4', 'IPv6'),
      { [AT]: '10.0.0.1:8080', '[fd00:10:96::1]:80/tcp': '[fd00::1]:8080' },
    ],
  ],
};

/** The addresses with endpoints, as a {@link Step} has them. */
async function reached(node: AnyNode): Promise<Record<string, string>> {
  const found = node instanceof FakeNode ? ofIpvs(node) : ofRules(node);
  return Object.fromEntries(
    (await found).flatMap(({ address, port, protocol, endpoints, affinity }) => {
      if (endpoints.length === 0) return [];
      const texts = endpoints.map((each) => joinHostPort(each.address, each.port)).sort();
      const at = address === undefined ? `node:${port}` : joinHostPort(address, port);
      return [[`${at}/${protocol}`, `${texts.join(' ')}${affinity ? ', affinity' : ''}`]];
    }),
  );
}

const OWN = ['127.0.0.1', ...HOST.interfaces.map(({ address }) => address)];

async function ofIpvs({ kernel }: FakeNode) {
  return (await kernel.ipvs.list()).flatMap((service) => {
    if ('firewallMark' in service) return [];
    const { address, port, protocol, persistence, realServers } = service;
    return {
      address: OWN.includes(address) ? undefined : address,
      ...{ port, protocol, affinity: persistence !== undefined },
      // Weight 0: connections that were open drain.
      endpoints: realServers.filter(({ weight }) => weight > 0),
    };
  });
}

async function ofRules(node: Exclude<AnyNode, FakeNode>) {
  const frontends = await frontendsOf(node);
  return frontends.map(({ persistence, ...one }) => ({ ...one, affinity: persistence > 0 }));
}

/** Changes after which the next packet of a UDP client must be sent to the endpoint `10.0.0.2:5353`, from what its flow leads to. */
const UDP_CHANGES: Readonly<
  Record<string, readonly [before: readonly string[], flow: readonly [string, number]]>
> = {
  'the pod of a UDP client is replaced': [['10.0.0.1'], ['10.0.0.1', 5353]],
  'the target port of a UDP client changes': [['10.0.0.2'], ['10.0.0.2', 5300]],
  'the first endpoint of a UDP client becomes ready': [[`10.0.0.2, ${UNREADY}`], ['', 53]],
};

/** After {@link UDP_CHANGES}: the flows to the cluster IP and to the node port that are left. */
async function flowsAfter(node: AnyNode, [before, [endpoint, endpointPort]]: (typeof UDP_CHANGES)[string]) {
  const service = nodePort('{name: dns, port: 53, nodePort: 30053, protocol: UDP}');
  const dns = (endpoints: readonly string[], port = 5353) =>
    service + slice(endpoints, `{name: dns, port: ${port}, protocol: UDP}`);
  await node.loadText(dns(before, endpointPort === 53 ? 5353 : endpointPort));
  assert.deepEqual((await node.sync()).failures, []);
  const client = { address: '10.244.9.9', port: 40_000 };
  const { conntrack } = node.kernel;
  const at: [string, number][] = [['10.96.0.1', 53]];
  // Without endpoints, a flow to the node port may be that of a program on the node.
  if (endpoint !== '') at.push(['192.168.50.10', 30_053]);
  for (const [destination, destinationPort] of at) {
    conntrack.track({
      protocol: 'udp',
      original: { source: client.address, sourcePort: client.port, destination, destinationPort },
      reply: {
        ...{ source: endpoint || destination, sourcePort: endpointPort },
        ...{ destination: client.address, destinationPort: client.port },
      },
    });
  }
  await node.loadText(dns(['10.0.0.2']));
  assert.deepEqual((await node.sync()).failures, []);
  return conntrack.list().toArray();
}

for (const [mode, make] of Object.entries(FAKE_NODES)) {
  describe(mode, () => {
    for (const [change, flow] of Object.entries(UDP_CHANGES)) {
      it(`${change}: its flow is deleted`, async () => {
        assert.deepEqual(await flowsAfter(make(HOST), flow), []);
      });
    }
    for (const [promise, steps] of Object.entries(STORIES)) {
      it(promise, async () => {
        const node = make(HOST);
        for (const [i, [objects, expected]] of steps.entries()) {
          await node.loadText(objects);
          assert.deepEqual(node.problems, []);
          assert.deepEqual((await node.sync()).failures, []);
          assert.deepEqual(await reached(node), expected, `step ${i}`);
          assert.equal((await node.sync()).operations, 0);
        }
      });
    }
  });
}
