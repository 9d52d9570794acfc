// Three nodes with `--leave-unreachable-nodes` on one of them: another one is cut off, in three ways, while a pod opens connections to a
// Service.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { after, before, describe, it, type TestContext } from 'node:test';
import { openConntrack } from '../../../src/kernel/conntrack/index.js';
import { undoAtExit } from '../../laboratory/atExit.js';
import type { LogLine } from '../../laboratory/proxyProcess.js';
import { CLUSTER_IP, ClusterNetwork, type NodeNumber, PORT, run } from './clusterNetwork.js';

const LEFT = 'the node does not answer: its endpoints get no new connections';
const BACK = 'the node answers again: its endpoints get new connections';
/** Connections of a pod that have an answer. Weighted or random choice takes one of two endpoints in all of them once in 2^39 runs. */
const COUNT = 40;

/** Opens connections one after another, and prints each answer; the first error ends it. */
const CONNECT = `
import socket, sys
for _ in range(int(sys.argv[3])):
    try:
        client = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)
        client.send(b"?")
        print(client.recv(100).decode().split()[0], flush=True)
    except OSError as error:
        sys.exit(print(error))
`;

/** Begins connections, one each 20 ms, and waits for none. */
const BEGIN = `
import socket, sys, time
kept = []
for _ in range(int(sys.argv[3])):
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex((sys.argv[1], int(sys.argv[2])))
    kept.append(client)
    if len(kept) > 300: kept.pop(0).close()
    time.sleep(0.02)
`;
/** As many as begin in ten minutes: the traffic ends with the tests, and at the latest then. */
const TRAFFIC = 30_000;

/** Begins this number of connections from the pod on node-0 to the Service, 50 a second, and waits for none of them. */
export function beginConnections({ shell }: ClusterNetwork, count: number): ChildProcess {
  const python = ['python3', '-IS', '-c', BEGIN, CLUSTER_IP[4], `${PORT}`, `${count}`];
  const child = spawn('ip', ['netns', 'exec', shell, ...python], { stdio: 'ignore' });
  undoAtExit(() => child.kill());
  return child;
}

/** Tests a mode. @param flags of its agent */
export function testUnreachableNodes(...flags: readonly string[]): void {
  let all: ClusterNetwork;
  let traffic: ChildProcess | undefined;

  before(async () => {
    all = await ClusterNetwork.open();
    all.write({});
    all.writeNodes();
  });
  after(async () => {
    traffic?.kill();
    await all?.close();
  });

  /** The pods that answered, with the number of their answers. */
  const answers = () =>
    run(all.shell, 'python3', '-IS', '-c', CONNECT, CLUSTER_IP[4], `${PORT}`, `${COUNT}`).trim().split('\n');

  /** Waits for a decision on a node, after this number of lines of the log, and for the pass after it. */
  async function decided(message: string, node: NodeNumber, from: number): Promise<LogLine> {
    const agent = all.agent(0);
    const isIt = (line: LogLine) => line.msg === message && line['node'] === `node-${node}`;
    const line = await agent.logged((each) => isIt(each) && agent.log.indexOf(each) >= from, message);
    return agent.synced(agent.log.indexOf(line));
  }

  async function restart(): Promise<void> {
    await all.start([...flags, '--leave-unreachable-nodes', '--v=4'], [0]);
    await all.agent(0).logged(({ nodes }) => nodes === 2, 'that two nodes have answered');
  }

  async function leaves(t: TestContext, what: 'link' | 'packets' | 'route'): Promise<void> {
    const before = answers();
    assert.deepEqual(new Set(before), new Set(['web-0', 'web-1', 'web-2', 'web-3']));
    const from = all.agent(0).log.length;
    const start = Date.now();
    all.cut(2, what, true);
    const left = await decided(LEFT, 2, from);
    t.diagnostic(`left ${Number(left['ts']) - start} ms after the cut`);
    assert.deepEqual(new Set(answers()), new Set(['web-0', 'web-1']));
    const later = all.agent(0).log.length;
    const end = Date.now();
    all.cut(2, what, false);
    const back = await decided(BACK, 2, later);
    t.diagnostic(`back ${Number(back['ts']) - end} ms after its end`);
    assert.deepEqual(new Set(answers()), new Set(before));
  }

  describe('a node on the same link', () => {
    before(restart);
    it('is left when its link is down, and gets connections again', (t) => leaves(t, 'link'));
    it('is left when it is frozen, and gets connections again', (t) => leaves(t, 'packets'));
    it('is left with half of the endpoints at most: those of another one stay', async () => {
      const from = all.agent(0).log.length;
      for (const node of [1, 2] as const) all.cut(node, 'packets', true);
      await decided(LEFT, 1, from);
      await decided(LEFT, 2, from);
      assert.equal((await chosen()).size, 2);
      const later = all.agent(0).log.length;
      for (const node of [1, 2] as const) all.cut(node, 'packets', false);
      await decided(BACK, 1, later);
      await decided(BACK, 2, later);
      assert.deepEqual(new Set(answers()), new Set(['web-0', 'web-1', 'web-2', 'web-3']));
    });
  });

  describe('a node behind a gateway', () => {
    before(async () => {
      all.routeBetweenNodes();
      await restart();
      traffic = beginConnections(all, TRAFFIC);
    });
    it('is left when its path drops packets, and gets connections again', (t) => leaves(t, 'route'));
  });

  /** The endpoints to which connections go that none of them answers. */
  async function chosen(): Promise<Set<string>> {
    run(all.shell, 'python3', '-IS', '-c', BEGIN, CLUSTER_IP[4], `${PORT}`, `${COUNT}`);
    await using conntrack = await openConntrack({ netns: `/run/netns/${all.node(0)}` });
    const original = { destination: CLUSTER_IP[4], destinationPort: PORT };
    const flows = conntrack.list({ family: 4, protocol: 'tcp', original, notStatus: ['SEEN_REPLY'] });
    return new Set((await flows.toArray()).map(({ reply }) => reply.source));
  }
}
