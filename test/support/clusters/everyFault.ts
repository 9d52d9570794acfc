// Every operation of a recorded cluster fails once: no other change is lost, and the retry repairs it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../src/kernel/errors.js';
import type { Fault } from '../../../src/kernel/testing/index.js';
import type { KubernetesObject } from '../../../src/proxy/objects/types.js';
import { readManifest } from '../../../src/proxy/source/manifestFile.js';
import { recordedObjects, type Scenario } from '../oracle/oracle.js';
import { FakeNode } from '../oracle/testNode.js';

type Objects = ReadonlyMap<string, KubernetesObject>;

async function objectsOf(step: string): Promise<Objects> {
  return (await readManifest('objects.yaml', recordedObjects(step))).objects;
}

type MakeNode = (scenario: Scenario) => FakeNode;

/** A node that has applied all but the last of these steps, without a fault. */
async function nodeAt(make: MakeNode, scenario: Scenario, steps: readonly Objects[]): Promise<FakeNode> {
  const node = make(scenario);
  for (const objects of steps.slice(0, -1)) {
    node.set(objects);
    await node.sync();
  }
  node.set(steps.at(-1) as Objects);
  return node;
}

/** `operation target` of every operation in the node's next pass, which succeeds. */
async function operationsOf(node: FakeNode): Promise<string[]> {
  const names: string[] = [];
  node.kernel.fault = (operation, target) => {
    names.push(`${operation} ${target}`);
    return undefined;
  };
  assert.deepEqual((await node.sync()).failures, []);
  return names;
}

/**
 * Makes operations with these names fail once: removes each name from the set. Those of nf_tables fail each time: a transaction is sent
 * again to find the culprit.
 */
function failing(names: Set<string>): Fault {
  const inTables = new Set([...names].filter((name) => name.startsWith('nftables.')));
  return (operation, target) =>
    names.delete(`${operation} ${target}`) || inTables.has(`${operation} ${target}`)
      ? new NetlinkError({ code: 'ENOMEM', errno: 12, operation, target })
      : undefined;
}

/** Lines of `ipvsadm -S` of all virtual services except those of failed operations. */
function otherServers(node: FakeNode, failed: readonly string[]): string[] {
  const flags: Record<string, string> = { tcp: '-t', udp: '-u', sctp: '--sctp-service' };
  const names = failed.map((name) => {
    const [, protocol = '', address] = name.split(' ');
    return ` ${flags[protocol]} ${address} `;
  });
  const lines: string[] = node.kernel.ipvs.dump().split('\n');
  return lines.filter((line) => !names.some((name) => line.includes(name)));
}

/** Output of the tools, as sorted lines: the order of entries and real servers is not significant. */
function state(node: FakeNode): string[] {
  return Object.entries<string>({ ...node.output() }).flatMap(([name, text]) =>
    text.split('\n').map((line) => `${name}: ${line}`),
  );
}

/** Lines that only one of both has. */
function differing(a: readonly string[], b: readonly string[]): string[] {
  const [inA, inB] = [new Set(a), new Set(b)];
  return [...a.filter((line) => !inB.has(line)), ...b.filter((line) => !inA.has(line))];
}

async function tryEveryFault(
  make: MakeNode,
  scenario: Scenario,
  steps: readonly Objects[],
  mostRuns: number,
): Promise<number> {
  const sound = await nodeAt(make, scenario, steps);
  const names = [...new Set(await operationsOf(sound))];
  const expected = state(sound);
  const runs = Math.min(names.length, mostRuns);
  const groups = Array.from({ length: runs }, (_, run) => names.filter((_, i) => i % runs === run));
  for (const group of groups) {
    const untried = new Set(group);
    const node = await nodeAt(make, scenario, steps);
    node.kernel.fault = failing(untried);
    const { failures } = await node.sync();
    const what = `step ${steps.length}: ${failures.map(({ error }) => error.message).join(', ')}`;
    assert.ok(failures.length > 0, group.join());
    // An operation that only follows another one of the group has its own run.
    if (untried.size > 0) groups.push([...untried]);
    const [others, expectedOthers] = [otherServers(node, group), otherServers(sound, group)];
    assert.deepEqual(differing(others, expectedOthers), [], `${what}: other services`);
    node.kernel.fault = () => undefined;
    node.reconciler.requestFullSync();
    assert.deepEqual((await node.sync()).failures, [], what);
    assert.deepEqual(differing(state(node), expected), [], what);
  }
  return names.length;
}

/**
 * Registers a test for each recording.
 *
 * @param mostRuns in a pass with more operations than this, several distant ones fail in one run
 * @param make default: with rules of iptables
 */
export function failEveryOperation(
  recordings: readonly Scenario[],
  mostRuns: number,
  make: MakeNode = (scenario) => new FakeNode(scenario),
): void {
  describe('every operation fails once', () => {
    for (const scenario of recordings) {
      it(scenario.name, async () => {
        const steps = await Promise.all(scenario.steps.map(objectsOf));
        let tried = 0;
        for (let last = 1; last <= steps.length; last++) {
          tried += await tryEveryFault(make, scenario, steps.slice(0, last), mostRuns);
        }
        assert.ok(tried > 50, `only ${tried} operations were made to fail`);
      });
    }
  });
}
