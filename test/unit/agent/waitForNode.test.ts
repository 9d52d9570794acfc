// Waiting for what the control plane writes on the Node.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type NodeWait, waitForNodeAddresses, waitForPodCIDRs } from '../../../src/agent/waitForNode.js';
import { ApiSource, type ApiTrouble } from '../../../src/api/apiSource.js';
import { ApiClient } from '../../../src/api/client.js';
import { connectToApi } from '../../../src/api/connection.js';
import { QUICK, until } from '../../support/apiServer/cluster.js';
import { node } from '../../support/apiServer/objects.js';
import { ApiServer } from '../../support/apiServer/server.js';
import { closeAfter } from '../../support/closeAfter.js';

async function setUp() {
  const server = closeAfter(await new ApiServer().start());
  const client = closeAfter(new ApiClient(await connectToApi({ master: server.url }), { userAgent: 'test' }));
  const troubles: string[] = [];
  const open = (): NodeWait => {
    const trouble = ({ resource, error }: ApiTrouble) => troubles.push(`${resource}: ${error.message}`);
    const source = new ApiSource({ client, nodeName: 'node-a', trouble, times: QUICK });
    closeAfter({ close: () => source.stop() });
    return { source };
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

  it('are not waited for longer than that', async () => {
    const { server, parts, open, troubles } = await setUp();
    assert.equal(await waitForNodeAddresses({ ...parts, limit: 100 }), undefined);
    server.store.set(node('node-a', { address: '' }));
    assert.equal((await waitForNodeAddresses({ ...parts, limit: 1_000 }))?.name, 'node-a');
    await server.close();
    assert.equal(await waitForNodeAddresses({ ...open(), limit: 100 }), undefined);
    // The first source reports the end of its watch, before or after.
    assert.match(troubles.join('\n'), /^nodes: ECONNREFUSED/m);
    const stopped = AbortSignal.abort();
    assert.equal(await waitForNodeAddresses({ ...open(), signal: stopped }), undefined);
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
    const { server, parts } = await setUp();
    server.store.set(node('node-a'));
    await assert.rejects(waitForPodCIDRs({ ...parts, limit: 100 }), {
      message:
        'timeout waiting for PodCIDR allocation to configure detect-local-mode NodeCIDR: timed out waiting for the condition',
    });
  });
});
