// Memory during audits of many Services, which read the output of a program: neither this output nor its rules are in memory as a
// whole, and later audits need no more than the first one.
// Needs: time
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { openIptables } from '../../../../../src/kernel/iptables/index.js';
import { FakeKernel } from '../../../../../src/kernel/testing/index.js';
import type { KubernetesObject } from '../../../../../src/proxy/objects/types.js';
import { collectGarbage } from '../../../../support/measures/garbage.js';
import { FakeIptablesNode } from '../../../../support/oracle/testNode.js';

const SERVICES = 3000;
const AUDITS = 4;
/** Slices between two measurements. */
const STRIDE = 30;
/** Maximum growth during an audit, and from the first audit to the last one, as a share of the length of the output. */
const DURING = 1.3;
const LATER = 0.2;

const HOST = {
  configuration: { clusterCIDR: '10.244.0.0/16' },
  interfaces: [{ link: 'eth0', address: '192.168.10.5', prefix: 24 }],
};

const folder = mkdtempSync(join(tmpdir(), 'knp-audit-'));
const PATH = process.env['PATH'];
process.env['PATH'] = `${folder}:${PATH}`;
after(() => {
  process.env['PATH'] = PATH;
  rmSync(folder, { recursive: true });
});

/** A Service and its slice with two endpoints. */
function objectsOf(n: number): KubernetesObject[] {
  const metadata = { namespace: 'demo', name: `service-${n}` };
  const address = (i: number) => `10.244.${n >> 7}.${(2 * n + i) & 255}`;
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { clusterIP: `10.96.${n >> 8}.${n & 255}`, ports: [{ name: 'http', port: 80 }] },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': metadata.name } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      endpoints: [{ addresses: [address(0)] }, { addresses: [address(1)] }],
    },
  ] as unknown as KubernetesObject[];
}

/** The fake kernel of a programmed node, whose rules are from now on the output of programs. */
async function programmed(): Promise<{ node: FakeIptablesNode; length: number }> {
  const kernel = new FakeKernel();
  const node = new FakeIptablesNode(HOST, kernel);
  const objects = Array.from({ length: SERVICES }, (_, n) => objectsOf(n)).flat();
  await node.loadText(objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  assert.deepEqual((await node.sync()).failures, []);
  let length = 0;
  for (const [family, name] of [[4, 'iptables-save'] as const, [6, 'ip6tables-save'] as const]) {
    const output = kernel.iptables.dump(family);
    length += output.length;
    writeFileSync(join(folder, `${name}.output`), output);
    writeFileSync(join(folder, name), `#!/bin/sh\nexec cat ${folder}/${name}.output\n`, { mode: 0o755 });
    kernel.iptables.load(family, '');
  }
  const real = openIptables();
  after(() => real.close());
  kernel.iptables.chains = (family) => real.chains(family) as ReturnType<typeof kernel.iptables.chains>;
  return { node, length };
}

async function inUse(): Promise<number> {
  await collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

it(`${AUDITS} audits of ${SERVICES} Services`, async (t) => {
  const { node, length } = await programmed();
  const before = await inUse();
  const after: number[] = [];
  let most = 0;
  for (let audit = 0; audit < AUDITS; audit++) {
    node.reconciler.startAudit();
    for (let slice = 1; node.reconciler.auditing; slice++) {
      const summary = await node.reconciler.auditSlice();
      assert.ok((summary?.operations ?? 0) === 0, 'the output has all items');
      if (slice % STRIDE === 0) most = Math.max(most, (await inUse()) - before);
    }
    after.push(await inUse());
  }
  t.diagnostic(`output ${length}, most ${most}, after audits ${after.map((bytes) => bytes - before)}`);
  assert.ok(most > 0 && most < DURING * length, `${most} bytes more during an audit, of ${length}`);
  const grown = (after.at(-1) ?? 0) - (after[0] ?? 0);
  assert.ok(grown < LATER * length, `${grown} bytes more after ${AUDITS} audits, of ${length}`);
});
