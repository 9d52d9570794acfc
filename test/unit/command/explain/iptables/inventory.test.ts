// The frontends that are read back from kube-proxy's own recorded rules are those of the objects.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProgrammedFrontend } from '../../../../../src/command/explain/inventory.js';
import { frontendsIn } from '../../../../../src/command/explain/iptables/inventory.js';
import { readCounted } from '../../../../../src/kernel/iptables/counted.js';
import { joinHostPort } from '../../../../../src/kernel/net/address.js';
import type { Frontend, ServicePort } from '../../../../../src/proxy/services/types.js';
import { sample } from '../../../../support/extent.js';
import { recordedPorts, recordedRules } from '../../../../support/oracle/iptablesNode.js';
import { scenarios } from '../../../../support/oracle/oracle.js';

/** The rules as iptables-save -c prints them, with these counters. */
async function counted(text: string, packets = 0, bytes = 0) {
  return readCounted([Buffer.from(text.replace(/^-A /gm, `[${packets}:${bytes}] -A `))]);
}

const keyOf = ({ address = '', port, protocol }: Pick<ProgrammedFrontend, 'address' | 'port' | 'protocol'>) =>
  `${address} ${port}/${protocol}`;

/** The endpoints that hosts outside the cluster, or the clients of a cluster IP, reach. */
function endpointsOf({ clusterEndpoints, localEndpoints }: ServicePort, { localPolicy }: Frontend): string[] {
  const list = localPolicy ? localEndpoints : clusterEndpoints;
  return [...list].sort();
}

for (const scenario of sample(scenarios('iptables'), 5)) {
  it(`${scenario.name}: all frontends, with names, kinds, chains and endpoints`, async () => {
    for (const step of scenario.steps) {
      const ports = await recordedPorts(step);
      for (const family of [4, 6] as const) {
        const found = new Map<string, ProgrammedFrontend>();
        for (const frontend of frontendsIn(family, await counted(recordedRules(step, family)))) {
          found.set(keyOf(frontend), frontend);
        }
        for (const port of ports.filter((each) => each.family === family)) {
          for (const frontend of port.frontends) {
            const { kind, address } = frontend;
            const key = keyOf({ address, port: frontend.port, protocol: port.protocol });
            const listed = found.get(key);
            const story = `${step}: ${key}: ${JSON.stringify(listed)}`;
            assert.ok(listed, story);
            found.delete(key);
            assert.equal(listed.persistence, listed.endpoints.length > 0 ? port.affinitySeconds : 0, story);
            const want = endpointsOf(port, frontend);
            const endpoints = listed.endpoints.map((each) => joinHostPort(each.address, each.port)).sort();
            assert.deepEqual(endpoints, want, story);
            for (const { share } of listed.endpoints)
              assert.ok(Math.abs(share - 1 / want.length) < 1e-6, story);
            if (want.length === 0) assert.match(listed.refused ?? '', /^(REJECT|DROP)$/, story);
            if (listed.service === undefined) continue;
            assert.equal(listed.portName ?? '', port.portName, story);
            // The rules that refuse packets are the same for external and load-balancer IPs.
            const isUnknown = listed.chain === undefined && /^(externalIP|loadBalancerIP)$/.test(kind);
            assert.equal(listed.kind, isUnknown ? undefined : kind, story);
          }
        }
        assert.deepEqual([...found.keys()], [], `${step}: frontends that no Service has`);
      }
    }
  });
}

describe('counters', () => {
  const RULES = `*nat
:KUBE-SERVICES - [0:0]
[7:420] -A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -m comment --comment "demo/web:http cluster IP" -m tcp --dport 80 -j KUBE-SVC-A
[2:120] -A KUBE-NODEPORTS -d 127.0.0.0/8 -p tcp -m comment --comment "demo/web:http" -m tcp --dport 30080 -m nfacct --nfacct-name  localhost -j KUBE-EXT-A
[3:180] -A KUBE-NODEPORTS -p tcp -m comment --comment "demo/web:http" -m tcp --dport 30080 -j KUBE-EXT-A
[5:300] -A KUBE-EXT-A -m comment --comment "masquerade traffic for demo/web:http external destinations" -j KUBE-MARK-MASQ
[5:300] -A KUBE-EXT-A -j KUBE-SVC-A
[4:240] -A KUBE-SVC-A -m recent --rcheck --seconds 60 --reap --name KUBE-SEP-A --mask 255.255.255.255 --rsource -j KUBE-SEP-A
[1:60] -A KUBE-SVC-A -m statistic --mode random --probability 0.50000000000 -j KUBE-SEP-A
[2:120] -A KUBE-SVC-A -j KUBE-SEP-B
[5:300] -A KUBE-SEP-A -p tcp -m tcp -j DNAT --to-destination 10.244.1.1:8080
[2:120] -A KUBE-SEP-B -p tcp -m tcp -j DNAT --to-destination 10.244.1.2:8080
COMMIT
*filter
[9:540] -A KUBE-SERVICES -d 10.96.0.2/32 -p tcp -m comment --comment "demo/empty has no endpoints" -m tcp --dport 80 -j REJECT
COMMIT
`;

  it('of all rules of a frontend, and of all rules that select an endpoint', async () => {
    const [web, nodePort, empty, ...others] = frontendsIn(4, await readCounted([Buffer.from(RULES)]));
    assert.deepEqual(others, []);
    const endpoints = [
      {
        address: '10.244.1.1',
        port: 8080,
        chain: 'KUBE-SEP-A',
        share: 0.5,
        counters: { connections: 5, bytes: 300 },
      },
      {
        address: '10.244.1.2',
        port: 8080,
        chain: 'KUBE-SEP-B',
        share: 0.5,
        counters: { connections: 2, bytes: 120 },
      },
    ];
    const common = {
      family: 4,
      protocol: 'tcp',
      service: 'demo/web',
      portName: 'http',
      persistence: 60,
      endpoints,
    };
    assert.deepEqual(web, {
      ...common,
      ...{ address: '10.96.0.1', port: 80, kind: 'clusterIP', chain: 'KUBE-SVC-A' },
      counters: { connections: 7, bytes: 420 },
    });
    assert.deepEqual(nodePort, {
      ...common,
      ...{ port: 30080, kind: 'nodePort', chain: 'KUBE-EXT-A' },
      counters: { connections: 5, bytes: 300 },
    });
    assert.deepEqual(
      [empty?.service, empty?.refused, empty?.counters?.connections],
      ['demo/empty', 'REJECT', 9],
    );
  });
});
