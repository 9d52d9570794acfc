// An endpoint change on a real kernel makes the same number of system calls with many Services as with 100.
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { BigCluster } from '../../scale/bigCluster.js';
import { AgentProcess } from './agentProcess.js';
import { CallTrace } from './callTrace.js';

/** Traced changes: an endpoint is removed, and added again. */
const CHANGES = 2;
/** Wait for the host's addresses, in ms; longer than the 200 ms for which the proxy collects their changes. */
const QUIET = 1000;

/** The system calls of each change. */
async function callsOf(test: TestContext, services: number): Promise<Record<string, number>[]> {
  const cluster = await BigCluster.start(services, services);
  test.after(() => cluster.close());
  const agent = new AgentProcess([
    ...['--master', cluster.url, '--proxy-mode', 'ipvs', '--hostname-override', 'node-0'],
    ...['--ipvs-sync-period', '1h'],
  ]);
  test.after(() => agent.close());
  const synced = () => agent.log.filter((line) => /"msg":"synced"/.test(line));
  const pass = async (count: number) => {
    for (const deadline = Date.now() + 180_000; synced().length < count; await wait(20)) {
      assert.ok(Date.now() < deadline && agent.status === undefined, agent.log.slice(-5).join('\n'));
    }
    await wait(QUIET);
    assert.equal(synced().length, count, 'there are no other passes');
  };
  await pass(1);
  // The first Service has an endpoint on this node, which has a set entry.
  for (let change = 0; change < 2; change++) {
    cluster.change();
    await pass(2 + change);
  }
  const calls: Record<string, number>[] = [];
  for (let change = 0; change < CHANGES; change++) {
    const trace = await CallTrace.attach(agent.pid);
    cluster.change();
    await pass(4 + change);
    calls.push(await trace.end());
  }
  await agent.close();
  return calls;
}

/** Tests that an endpoint change costs with so many Services what it costs with 100. */
export function testSystemCalls(services: number): void {
  it(`an endpoint change makes the same system calls with 100 Services and with ${services}`, async (test) => {
    const few = await callsOf(test, 100);
    const many = await callsOf(test, services);
    test.diagnostic(`removed ${JSON.stringify(many[0])}, added again ${JSON.stringify(many[1])}`);
    assert.deepEqual(many, few);
    for (const calls of many) assert.deepEqual(calls, { sendmsg: 1, recvmsg: 1 }, 'one batch');
  });
}
