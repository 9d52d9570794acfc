// The table of the Maglev scheduler in the kernel: equal in two namespaces that saw endpoints in different orders, and without places of real
// servers that are draining.
// Needs: ipvs
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AddressId } from '../../src/kernel/ipvs/types.js';
import { AddressPorts } from '../../src/kernel/net/addressPorts.js';
import type { VirtualServiceItem } from '../../src/proxy/modes/ipvs/plan/items.js';
import { closeAfter } from '../support/closeAfter.js';
import { FollowingService } from '../support/failover/followingService.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';

const WEB: AddressId = { address: '10.96.0.1', port: 80, protocol: 'tcp' };

/** Connects from many ports, without a server: IPVS has an entry for each connection with a real server. */
const CONNECT = `
import socket, sys
for port in range(*map(int, sys.argv[1:])):
    with socket.socket() as client:
        client.setblocking(False)
        client.bind(("10.0.1.1", port))
        client.connect_ex(("10.96.0.1", 80))
`;

/** IPVS of a namespace in which all addresses are local. */
class Node {
  readonly #namespace: Namespace;
  readonly #service: FollowingService;

  private constructor(namespace: Namespace, service: FollowingService) {
    this.#namespace = namespace;
    this.#service = service;
  }

  static async open(): Promise<Node> {
    const namespace = makeNamespace();
    const networks = ['10.0.0.254/24', '10.0.1.1/32', '10.96.0.1/32'];
    for (const network of networks) namespace.run('ip', 'address', 'add', network, 'dev', 'lo');
    const service = await FollowingService.open(namespace.path);
    closeAfter({
      close() {
        service.close();
        namespace.remove();
      },
    });
    return new Node(namespace, service);
  }

  /** The virtual service gets these real servers; those that may drain do. */
  async change(
    numbers: readonly number[],
    more: Pick<VirtualServiceItem, 'inOrder' | 'drainable'> = {},
  ): Promise<void> {
    await this.#service.become({
      ...{ kind: 'virtualService', realServers: listOf(numbers), ...more },
      service: { ...WEB, scheduler: 'mh', schedulerFlags: ['mh-port'], onePacket: false },
    });
  }

  update(number: number, weight: number): Promise<void> {
    const realServer = { address: `10.0.0.${number}`, port: 80, weight, forwarding: 'masquerade' } as const;
    return this.#service.ipvs.updateRealServer(WEB, realServer);
  }

  /** The real server of each new connection, by the port of the client. */
  async choices(firstPort: number, count: number): Promise<Map<number, string>> {
    const ports = [`${firstPort}`, `${firstPort + count}`];
    this.#namespace.run('python3', '-IS', '-c', CONNECT, ...ports);
    const all = await this.#service.ipvs.connections().toArray();
    const own = all.filter(({ client: { port } }) => port >= firstPort && port < firstPort + count);
    return new Map(own.map(({ client, destination }) => [client.port, destination.address]));
  }

  /** Number of connections that the kernel counts for a real server. */
  async connections(number: number): Promise<number> {
    const state = await this.#service.ipvs.get(WEB);
    const server = state?.realServers.find(({ address }) => address === `10.0.0.${number}`);
    assert.ok(server);
    return server.activeConnections + server.inactiveConnections;
  }
}

function listOf(numbers: readonly number[]): AddressPorts {
  const list = AddressPorts.ofTexts(
    4,
    numbers.map((number) => `10.0.0.${number}:80`),
  );
  assert.ok(list);
  return list;
}

/** Changes in whose course two nodes get the same real servers, in different orders. */
const HISTORIES = [
  [[9], [9, 2], [5, 9, 2], [5, 9, 2, 11], [3, 5, 9, 2, 11], [2, 3, 5, 7, 11]],
  [
    [11, 7, 8],
    [3, 7, 11],
    [2, 3, 11],
    [2, 3, 5, 11],
    [2, 3, 5, 7, 11],
  ],
];
const COUNT = 400;

/** Number of clients for which two nodes choose different real servers. */
async function differences(first: Node, second: Node, port: number): Promise<number> {
  const [mine, theirs] = [await first.choices(port, COUNT), await second.choices(port, COUNT)];
  assert.deepEqual([mine.size, theirs.size], [COUNT, COUNT]);
  return [...mine].filter(([client, server]) => theirs.get(client) !== server).length;
}

describe('the table of mh', () => {
  test('is equal on nodes that saw endpoints in different orders', async () => {
    for (const more of [{}, { inOrder: true } as const]) {
      const nodes = await Promise.all(
        HISTORIES.map(async (history) => {
          const node = await Node.open();
          for (const numbers of history) await node.change(numbers, more);
          return node;
        }),
      );
      const [first, second] = nodes as [Node, Node];
      const found = await differences(first, second, 20_000);
      if ('inOrder' in more) assert.equal(found, 0);
      else assert.ok(found > 0, 'the order of additions makes no difference in this kernel');
    }
  });

  test('has no places of a real server that is draining, which keeps its connections', async () => {
    const node = await Node.open();
    await node.change([1, 2, 3, 4, 5]);
    const found = await node.choices(20_000, COUNT);
    const own = [...found.values()].filter((address) => address === '10.0.0.3').length;
    assert.ok(own > 0);
    await node.update(3, 0);
    assert.ok(
      (await node.choices(21_000, COUNT)).size < COUNT,
      'an update takes the places away in this kernel',
    );
    await node.update(3, 1);
    await node.change([1, 2, 4, 5], { drainable: listOf([3]) });
    const others = await node.choices(22_000, COUNT);
    assert.equal(others.size, COUNT);
    assert.ok(![...others.values()].includes('10.0.0.3'));
    assert.equal(await node.connections(3), own);
  });
});
