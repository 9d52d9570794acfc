// Services with `forwarding: tunnel` on three nodes with the real command: a node is taken away from open connections, clients inside and
// outside, packets that do not belong into a tunnel, a restart, and the end of the setting. With both kinds of rules.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { IpvsOptions } from '../../../src/proxy/modes/ipvs/plan/options.js';
import { PATIENCE } from '../../laboratory/patience.js';
import {
  CLIENT,
  CLUSTER_IP,
  ClusterNetwork,
  ENDPOINT_PORT,
  gatewayAddress,
  ip,
  PORT,
  podAddress,
  run,
  VIP,
} from './clusterNetwork.js';
import { ManyConnections, total } from './manyConnections.js';

const NODES = [0, 1, 2] as const;
const COUNT = 1000;
/** Connections while the setting changes. */
const FEW = 200;
const TUNNEL = { scheduler: 'mh', forwarding: 'tunnel' };
/** For connections of which many get no answer, and of which all get one, on a slow machine too. In s. */
const [SHORT, LONG] = [10, PATIENCE / 1000];
/** For a connection that gets no answer, in s. */
const NONE = 5;

/** The tests with these rules. */
export function testTunnels(rules: IpvsOptions['rules']): void {
  const FLAGS = ['--cures=node-failover', '--service-settings=scheduler,forwarding', `--ipvs-rules=${rules}`];
  let all: ClusterNetwork;

  before(async () => {
    all = await ClusterNetwork.open();
    all.write(TUNNEL);
    await all.start(FLAGS);
  });
  after(() => all?.close());

  /** Opens connections over three nodes, and takes away the one without endpoints: the share that goes on, and the answers before. */
  async function lose(family: 4 | 6, patience: number) {
    const connections = new ManyConnections(all.client);
    try {
      const { answers, failed } = await connections.open(VIP[family], PORT, COUNT);
      assert.deepEqual([total(answers), failed], [COUNT, {}]);
      all.setNode0(false);
      const later = await connections.ask(patience);
      return { share: total(later.answers) / COUNT, answers, later };
    } finally {
      await connections.close();
      all.setNode0(true);
    }
  }

  /** The answers to requests from a namespace, each over a connection of its own; `failed: …` for none within the time, in s. */
  function answersTo(
    namespace: string,
    patience: number,
    ...frontends: readonly (readonly [address: string, port: number])[]
  ) {
    const code = `
import socket, sys
for address, port in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        client = socket.create_connection((address, int(port)), ${patience})
        client.send(b"?")
        print(client.recv(100).decode().strip())
    except OSError as error:
        print(f"failed: {error}")
`;
    const words = frontends.flatMap(([address, port]) => [address, `${port}`]);
    return run(namespace, 'python3', '-IS', '-c', code, ...words)
      .split('\n')
      .slice(0, frontends.length);
  }

  /** Gives the Service other annotations, and waits until all nodes have them. */
  async function change(annotations: Readonly<Record<string, string>>): Promise<void> {
    const lines = NODES.map((node) => all.agent(node).log.length);
    all.write(annotations);
    for (const node of NODES) await all.agent(node).synced(lines[node] as number);
  }

  /** The connections of some that go on over a change of the annotations. */
  async function goOnOver(
    family: 4 | 6,
    annotations: Readonly<Record<string, string>>,
    patience: number,
  ): Promise<number> {
    const connections = new ManyConnections(all.client);
    try {
      const { answers } = await connections.open(VIP[family], PORT, FEW);
      assert.equal(total(answers), FEW);
      await change(annotations);
      return total((await connections.ask(patience)).answers);
    } finally {
      await connections.close();
    }
  }

  /** The lines of the node's rules and routes that are those of tunnels. */
  function traces(node: 0 | 1 | 2): string[] {
    const shell = `for f in 4 6; do ip -$f rule; ip -$f route show table 4747 2>&-; done; ip -br link show up; ip address show dev gre0`;
    const text = run(all.node(node), 'sh', '-c', shell);
    return text.split('\n').filter((line) => /4747|4746|^local|gre0.*UP|127\.47/.test(line));
  }

  describe('forwarding: tunnel', () => {
    for (const family of [4, 6] as const) {
      test(`IPv${family}: connections go on when a node is taken away, and endpoints see the client`, async (t) => {
        const { share, answers, later } = await lose(family, LONG);
        t.diagnostic(JSON.stringify({ answers, later }));
        assert.deepEqual(
          Object.keys(answers).sort(),
          [0, 1, 2, 3].map((number) => `web-${number} ${CLIENT[family]}`),
        );
        assert.ok(share >= 0.99, `${share}`);
      });

      test(`IPv${family}: pods and nodes reach endpoints on other nodes, by all addresses`, () => {
        const frontends = [VIP[family], CLUSTER_IP[family]].flatMap((address) =>
          Array.from({ length: 4 }, () => [address, PORT] as const),
        );
        for (const namespace of [all.node(0), all.node(1)]) {
          for (const answer of answersTo(namespace, LONG, ...frontends))
            assert.match(answer, /^web-\d /, namespace);
        }
        const pod = podAddress({ node: 0, number: 100 }, family);
        for (const answer of answersTo(all.shell, LONG, ...frontends))
          assert.ok(/^web-\d /.test(answer) && answer.endsWith(` ${pod}`), answer);
      });

      test(`IPv${family}: what leaves a tunnel reaches only ports of Services`, () => {
        const pod = podAddress({ node: 1, number: 11 }, family);
        const other = podAddress({ node: 1, number: 12 }, family);
        const gateway = family === 4 ? '192.168.60.2' : 'fd60::2';
        const full = family === 4 ? 32 : 128;
        const kind = family === 4 ? 'gre' : 'ip6gre';
        const route = (address: string, way: string) =>
          ip(all.client, [`route replace ${address}/${full} ${way}`]);
        ip(all.client, [
          `link add knp-gre type ${kind} local ${CLIENT[family]} remote ${pod}`,
          'link set knp-gre up',
        ]);
        try {
          const node = gatewayAddress(1, family);
          const refused = [
            [other, ENDPOINT_PORT],
            [node, 30080],
          ] as const;
          const served = [VIP[family], PORT] as const;
          for (const address of [pod, other, node]) route(address, `via ${gateway}`);
          const plain = answersTo(all.client, LONG, ...refused, served);
          assert.ok(
            plain.every((answer) => answer.startsWith('web-')),
            JSON.stringify(plain),
          );
          for (const address of [other, node, VIP[family]])
            route(address, `dev knp-gre src ${CLIENT[family]}`);
          const [toPod, toNode] = answersTo(all.client, NONE, ...refused);
          const [toService] = answersTo(all.client, LONG, served);
          assert.match(toPod ?? '', /^failed: /);
          assert.match(toNode ?? '', /^failed: /);
          assert.match(toService ?? '', /^web-\d /);
        } finally {
          ip(all.client, ['link delete knp-gre']);
          all.setNode0(true);
        }
      });
    }

    for (const family of [4, 6] as const)
      test(`IPv${family}: open connections go on when it is set, and those through tunnels break when it is unset`, async () => {
        await change({ scheduler: 'mh' });
        assert.equal(await goOnOver(family, TUNNEL, LONG), FEW);
        const rest = await goOnOver(family, { scheduler: 'mh' }, SHORT);
        // The first node of the others has the endpoint too.
        assert.ok(rest > 0 && rest < FEW, `${rest} of ${FEW}`);
        await change(TUNNEL);
      });

    test('a restart makes no operation, and the end of the setting leaves nothing of tunnels', async () => {
      assert.equal(traces(0).length, 0, 'a node without endpoints receives no tunnels');
      assert.ok(traces(1).length >= 12, traces(1).join('\n'));
      await all.start(FLAGS);
      for (const node of NODES) assert.equal((await all.agent(node).programmed()).operations, 0);
      await change({ scheduler: 'mh' });
      for (const node of NODES) assert.deepEqual(traces(node), []);
      assert.match(answersTo(all.client, LONG, [VIP[4], PORT])[0] ?? '', /^web-\d /);
    });

    test('as in kube-proxy, with rr and NAT: connections of the node break, and endpoints see a node', async (t) => {
      all.write({});
      await all.start([]);
      const { share, answers, later } = await lose(4, SHORT);
      t.diagnostic(JSON.stringify({ answers, later }));
      assert.ok(share < 0.8, `${share}`);
      assert.ok(!Object.keys(answers).some((answer) => answer.endsWith(CLIENT[4])));
    });

    test('--cleanup removes the devices, rules and routes', async () => {
      all.write(TUNNEL);
      await all.start(FLAGS);
      assert.ok(traces(1).length >= 12);
      await all.cleanUp(1);
      assert.deepEqual(traces(1), []);
    });
  });
}
