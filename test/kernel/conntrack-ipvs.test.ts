// Stale flows of a real IPVS: which they are, and that their clients reach a serving endpoint once they are gone.
// Needs: ipvs, dummy device, nat
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, it } from 'node:test';
import { type Conntrack, type Flow, openConntrack } from '../../src/kernel/conntrack/index.js';
import { type Family, joinHostPort } from '../../src/kernel/net/address.js';
import { replyFlows, selectReplyFlows } from '../../src/proxy/conntrack/replyFlows.js';
import { selectFlows, staleFlows } from '../../src/proxy/conntrack/staleFlows.js';
import { type Endpoint, STATE } from '../../src/proxy/services/endpointList.js';
import type { ServicePort } from '../../src/proxy/services/types.js';
import { endpointLists } from '../support/clusters/endpoints.js';
import { TrackingNamespace } from '../support/namespaces/flows.js';

/**
 * Packets to endpoints vanish in a dummy device; their flows are tracked all the same. With expire_nodest_conn, as
 * kube-proxy sets it, IPVS (5.9) ends the flows of a real server itself when that is deleted: here they are to stay.
 */
const SET_UP = `
ip link add name pods type dummy
ip link set pods up
ip addr add 10.1.0.1/24 dev pods
ip addr add fd01::1/64 dev pods nodad
sysctl -qw net.ipv4.vs.conntrack=1 net.ipv4.vs.expire_nodest_conn=0
`;

const ADDRESS = {
  4: { client: '10.0.0.9', service: '10.96.0.11', node: '10.0.0.1', pods: ['10.1.0.2', '10.1.0.3'] },
  6: { client: 'fd00::9', service: 'fd00:96::b', node: 'fd00::1', pods: ['fd01::2', 'fd01::3'] },
} as const;

let namespace: TrackingNamespace;
let ct: Conntrack;
before(async () => {
  execFileSync('modprobe', ['-a', 'ip_vs', 'ip_vs_rr', 'dummy']);
  namespace = new TrackingNamespace('knp-stale');
  namespace.run('sh', '-ec', SET_UP);
  ct = await openConntrack({ netns: namespace.path });
});
after(async () => {
  ct.close();
  await namespace.delete();
});

function port(family: Family, pod: string): ServicePort {
  const endpoint: Endpoint = {
    address: pod,
    port: 5353,
    ready: true,
    serving: true,
    terminating: false,
    local: true,
    zoneHints: [],
    nodeHints: [],
  };
  const more = { localPolicy: false, sourceRanges: [] };
  return {
    family,
    portName: 'dns',
    protocol: 'udp',
    affinitySeconds: 0,
    frontends: [
      { kind: 'clusterIP', address: ADDRESS[family].service, port: 53, ...more },
      { kind: 'nodePort', address: '', port: 30053, ...more },
    ],
    ...endpointLists(family, [endpoint]),
  };
}

for (const family of [4, 6] as const) {
  const { client, service, node, pods } = ADDRESS[family];
  const virtual = [joinHostPort(service, 53), joinHostPort(node, 30053)];
  const ipvsadm = (verb: string, ...options: readonly string[]) => {
    for (const at of virtual) namespace.run('ipvsadm', verb, '-u', at, ...options);
  };
  /** One datagram to each of the two. */
  const send = (firstPort: number) =>
    namespace.send(...virtual.map((at, i) => `${joinHostPort(client, firstPort + i)} ${at}`));
  /** Acts as a sync does for this state of the port; returns the endpoints of the flows that it deleted. */
  const clean = async (changed: ServicePort) => {
    const lookup = { isFrontend: () => false, servesNodePorts: () => true };
    const stale = staleFlows(await ct.list(selectFlows([changed])).toArray(), [changed], lookup);
    assert.deepEqual(await ct.deleteFlows(stale), new Array(stale.length).fill(undefined));
    return sourcesOf(stale);
  };
  const sourcesOf = (flows: readonly Flow[]) =>
    flows.map(({ reply }) => joinHostPort(reply.source, reply.sourcePort)).sort();

  it(`flows that lead to no serving endpoint are found and deleted, the others stay, IPv${family}`, async () => {
    const [first, second] = pods.map((pod) => joinHostPort(pod, 5353)) as [string, string];
    // Before there is a virtual service: to the node itself.
    await send(4000);
    ipvsadm('-A', '-s', 'rr');
    ipvsadm('-a', '-r', first, '-m');
    assert.deepEqual(await clean(port(family, pods[0])), [...virtual].sort());

    // The same clients again.
    await send(4000);
    assert.deepEqual(await clean(port(family, pods[0])), []);
    assert.deepEqual(sourcesOf(await ct.list(selectFlows([port(family, pods[0])])).toArray()), [
      first,
      first,
    ]);

    // The endpoint is removed, and another is added.
    ipvsadm('-d', '-r', first);
    ipvsadm('-a', '-r', second, '-m');
    await send(5000);
    assert.deepEqual(await clean(port(family, pods[1])), [first, first]);
    assert.deepEqual(sourcesOf(await ct.list(selectFlows([port(family, pods[1])])).toArray()), [
      second,
      second,
    ]);
    assert.equal(namespace.witness().filter((line) => line.includes(`src=${client} `)).length, 2);
  });

  it(`a flow that began with a reply keeps the client from the endpoint until it is deleted, IPv${family}`, async () => {
    const pod = pods[1];
    const from = () =>
      namespace.witness().filter((line) => line.includes(`src=${client} dst=${service} sport=6000 `));
    const reply = ['-s', pod, '-d', client, '--sport', '5353', '--dport', '6000', '-t', '30'];
    namespace.conntrack('-I', '-p', 'udp', ...reply);
    await send(6000);
    assert.deepEqual(from(), []);
    const { endpoints } = port(family, pod);
    const serving = [endpoints.select(STATE.serving)];
    const found = replyFlows(await ct.list(selectReplyFlows(serving)).toArray(), serving);
    assert.deepEqual(
      found.map(({ original }) => [original.source, original.destinationPort]),
      [[pod, 6000]],
    );
    assert.deepEqual(await ct.deleteFlows(found), [undefined]);
    await send(6000);
    assert.equal(from().length, 1);
  });
}
