// Waiting for what the control plane writes on the Node.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type NodeWait,
  reportMissingNode,
  waitForNodeAddresses,
  waitForPodCIDRs,
} from '../../../../src/command/agent/api.js';
import { ApiSource, type ApiTrouble } from '../../../../src/proxy/api/apiSource.js';
import { ApiClient } from '../../../../src/proxy/api/client.js';
import { connectToApi } from '../../../../src/proxy/api/connection.js';
import { QUICK, until } from '../../../support/apiServer/cluster.js';
import { node } from '../../../support/apiServer/objects.js';
import { ApiServer } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';

async function setUp() {
  const server = closeAfter(await new ApiServer().start());
  const client = closeAfter(new ApiClient(await connectToApi({ master: server.url }), { userAgent: 'test' }));
  const troubles: string[] = [];
  const open = (): NodeWait => {
    const trouble = ({ resource, error }: ApiTrouble) => troubles.push(`${resource}: ${error.message}`);
    const source = new ApiSource({ client, nodeName: 'node-a', trouble, times: QUICK });
    closeAfter({ close: () => source.stop() });
    return { source, nodeName: 'node-a' };
  };
  const watching = () => until('it watches', () => server.watching('/api/v1/nodes') === 1);
  return { server, parts: open(), open, troubles, watching };
}

describe('the addresses of the node', () => {
  it('are present, or added later', async () => {
    const { server, parts, watching } = await setUp();
    const waiting = waitForNodeAddresses(parts);
    await watching();
    server.store.set(node('node-b'));
    server.store.set(node('node-a', { address: '' }));
    await wait(30);
    server.store.set(node('node-a', { address: '192.168.50.10' }));
    assert.deepEqual((await waiting)?.addresses, ['192.168.50.10']);
    assert.deepEqual((await waitForNodeAddresses(parts))?.addresses, ['192.168.50.10']);
    assert.equal(server.requests.length, 2, 'one list and one watch');
  });

  it('are waited for without a limit until the Nodes have been read, and no longer than it then', async () => {
    const { server, open, troubles } = await setUp();
    server.store.set(node('node-a'));
    await server.close();
    const away = open();
    let ended = false;
    const waiting = waitForNodeAddresses({ ...away, limit: 0 }).finally(() => {
      ended = true;
    });
    await until('it has asked several times', () => troubles.length >= 3);
    assert.match(troubles.join('\n'), /^nodes: ECONNREFUSED/m);
    assert.ok(!ended, 'a server that does not answer says nothing about the Node');
    await server.start();
    assert.equal((await waiting)?.name, 'node-a');
    server.store.set(node('node-a', { address: '' }));
    assert.equal((await waitForNodeAddresses({ ...open(), limit: 10 }))?.name, 'node-a');
    assert.equal(await waitForNodeAddresses({ ...open(), signal: AbortSignal.abort() }), undefined);
  });

  it('of a Node that does not exist are reported at once and again, until it does', async () => {
    const { server, parts, open } = await setUp();
    server.store.set(node('node-b'));
    let missing = 0;
    const note = () => {
      missing++;
    };
    assert.equal(await waitForNodeAddresses({ ...parts, missing: note, limit: 10 }), undefined);
    assert.equal(missing, 1);
    const end = new AbortController();
    const reports = reportMissingNode({ ...parts, missing: note }, end.signal, 10);
    await until('it is reported again', () => missing >= 4);
    server.store.set(node('node-a', { address: '' }));
    await reports;
    const stopped = reportMissingNode({ ...open(), missing: note }, end.signal, 10);
    end.abort();
    await stopped;
  });
});

describe('the pod networks of the node', () => {
  it('are waited for, on a node that stays', async () => {
    const { server, parts, watching } = await setUp();
    server.store.set(node('node-a'));
    const waiting = waitForPodCIDRs(parts);
    await watching();
    const ready = node('node-a', { podCIDRs: ['10.244.1.0/24'] });
    const going = { ...ready.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    server.store.set({ ...ready, metadata: going });
    await wait(30);
    server.store.set(ready);
    const found = await waiting;
    assert.deepEqual([found?.podCIDRs, found?.deleting], [['10.244.1.0/24'], false]);
  });

  it('are not waited for after a stop', async () => {
    const { server, parts, watching } = await setUp();
    server.store.set(node('node-a'));
    const end = new AbortController();
    const waiting = waitForPodCIDRs({ ...parts, signal: end.signal });
    await watching();
    end.abort();
    assert.equal(await waiting, undefined);
  });

  it("end the proxy with kube-proxy's words when they do not come", async () => {
    const { server, parts, open } = await setUp();
    await assert.rejects(waitForPodCIDRs({ ...parts, limit: 10 }), {
      message: 'timeout waiting for node "node-a" to exist',
    });
    server.store.set(node('node-a'));
    await assert.rejects(waitForPodCIDRs({ ...open(), limit: 10 }), {
      message: 'timeout waiting for PodCIDR allocation on node "node-a"',
    });
  });
});
