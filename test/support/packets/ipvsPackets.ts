// The packet tests of ipvs mode.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import type { IpvsOptions } from '../../../src/proxy/modes/ipvs/plan/options.js';
import { CLIENT, NODE_A, SHELL } from '../../laboratory/places.js';
import { request } from '../../laboratory/traffic.js';
import { dialledAt, HEALTH_CHECK_NODE_PORT, HERE, THERE } from './packetLab.js';
import { IPVS, IPVS_TABLES } from './packetModes.js';
import { refusedAtOnce, runCommand, testPackets, VIRTUAL } from './packetTests.js';
import { each, HOST_PORT, type PacketWorld, targets } from './packetWorld.js';

/** The packet tests of ipvs mode with these rules. */
export function testIpvsPackets(rules: IpvsOptions['rules']): void {
  testPackets(rules === 'iptables' ? IPVS : IPVS_TABLES, testOwn);
}

function testOwn(opened: () => PacketWorld): void {
  describe('rejected immediately at virtual IPs', { concurrency: 2 }, () => {
    const clients = ['pod here', 'node', 'outside'] as const;
    for (const kind of VIRTUAL) {
      test(`a port of the node, at the ${kind}`, async () => {
        const all = clients.flatMap((client) => targets(client, 'open', kind));
        await refusedAtOnce(all.map((target) => ({ ...target, port: HOST_PORT })));
      });
      test(`an unused port, at the ${kind}`, async () => {
        const all = clients.flatMap((client) => targets(client, 'open', kind));
        await refusedAtOnce(all.map((target) => ({ ...target, port: HOST_PORT + 1 })));
      });
    }
  });

  test('the health check node port is open at every virtual IP, and the proxy responds', async () => {
    for (const kind of VIRTUAL) {
      const all = targets('outside', 'open', kind).filter(({ protocol }) => protocol === 'tcp');
      const answers = await each(all, (target) => opened().dial({ ...target, port: HEALTH_CHECK_NODE_PORT }));
      for (const answer of Object.values(answers)) {
        const { service, localEndpoints } = answer as object as Readonly<Record<string, unknown>>;
        const want = { service: { namespace: 'packets', name: 'local' }, localEndpoints: 1 };
        assert.deepEqual({ service, localEndpoints }, want, `${kind}: ${JSON.stringify(answer)}`);
      }
    }
  });

  test('the load balancer and the dual-stack Service of examples/ reach all of their endpoints', async () => {
    const [outside, shell] = [opened().host(CLIENT), opened().host(SHELL)];
    for (const route of [
      { name: 'load-balancer IP, from outside', from: outside, address: '203.0.113.20', port: 80 },
      { name: 'IPv4 ClusterIP, from a pod', from: shell, address: '10.96.10.40', port: 80 },
      { name: 'IPv6 ClusterIP, from a pod', from: shell, address: 'fd00:10:96::40', port: 80 },
    ]) {
      const { failures } = await request(route, 4, [HERE.name, THERE.name]);
      assert.deepEqual(failures, []);
    }
  });

  test('a host port of another program, as of the CNI plugin portmap, takes no packets to virtual IPs', async () => {
    const all = VIRTUAL.flatMap((kind) => targets('outside', 'open', kind)).filter(
      ({ family, protocol }) => family === 4 && protocol === 'tcp',
    );
    assert.equal(all.length, VIRTUAL.length);
    const rules = all.map(({ port }) =>
      `-p tcp --dport ${port} -m addrtype --dst-type LOCAL -j DNAT --to-destination ${HERE.ipv4}:9`.split(
        ' ',
      ),
    );
    const change = (verb: '-A' | '-D') => {
      const node = ['netns', 'exec', opened().lab.namespace(NODE_A)];
      for (const rule of rules)
        execFileSync('ip', [...node, 'iptables', '-t', 'nat', verb, 'PREROUTING', ...rule]);
    };
    change('-A');
    try {
      for (const target of all) {
        const outcome = await opened().dial(target);
        assert.ok('by' in outcome, `${target.address}:${target.port}: ${JSON.stringify(outcome)}`);
      }
    } finally {
      change('-D');
    }
  });

  describe('the command explain', () => {
    const run = (args: readonly string[]) => runCommand(opened(), args);

    test('prints JSON, with the Service and the reason why it has no real server', () => {
      const { address, port } = dialledAt('inner', 'ClusterIP', 6);
      const flags = [
        '-o',
        'json',
        '--from=pod',
        '--manifests',
        opened().manifests.path,
        '--hostname-override',
        NODE_A.name,
      ];
      const { stdout, status } = run(['explain', `[${address}]:${port}/udp`, ...flags]);
      const { verdict, causes, service, client } = JSON.parse(stdout);
      assert.deepEqual(
        [status, verdict, causes[0].code, client.place],
        [1, 'refused', 'NoRealServer', 'pod'],
      );
      assert.deepEqual([service.service, service.portName], ['packets/inner', 'udp']);
      assert.match(service.reason, /^internalTrafficPolicy of Service packets\/inner is Local, /);
    });

    test('fails with status 2 for an invalid argument', () => {
      const { stdout, stderr, status } = run(['explain', '10.96.0.1']);
      assert.deepEqual([status, stdout], [2, '']);
      assert.match(stderr, /Error: .*IP:PORT/);
    });
  });
}
