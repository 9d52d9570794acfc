// After any failures, changes by others, and changes between two slices of an audit, the final state equals the state
// planned from nothing, without a full pass.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import type { Fault } from '../../../../src/kernel/testing/index.js';
import {
  comparable,
  RANDOM_HOST,
  RandomCluster,
  randomFrom,
} from '../../../support/clusters/randomCluster.js';
import { WHOLE } from '../../../support/extent.js';
import { FakeNode } from '../../../support/oracle/testNode.js';

const SEEDS = WHOLE ? 60 : 8;
const STEPS = 25;

/** Deletes some virtual services and addresses, and the entries of a set, as another program may do. */
async function tamper({ kernel }: FakeNode, random: () => number): Promise<void> {
  const { ipvs, ipset, rtnetlink } = kernel;
  for (const service of await ipvs.listServices()) {
    if ('address' in service && random() < 0.2) await ipvs.apply([{ do: 'deleteService', service }]);
  }
  for (const { link, address, prefix } of await rtnetlink.listAddresses()) {
    const mine = link === 'kube-ipvs0' && random() < 0.2;
    if (mine) await rtnetlink.apply([{ do: 'deleteAddress', address: { link, address, prefix } }]);
  }
  const name = random() < 0.5 ? 'KUBE-CLUSTER-IP' : 'KUBE-EXTERNAL-IP';
  await ipset.apply([{ do: 'flush', name }]);
}

/** Makes changes fail, and less often reads. */
function breakKernel({ kernel }: FakeNode, random: () => number, changes: number, reads: number): void {
  const failing =
    (probability: number): Fault =>
    (operation, target) =>
      random() < probability ? new NetlinkError({ code: 'ENOMEM', errno: 12, operation, target }) : undefined;
  for (const part of [kernel.ipvs, kernel.ipset, kernel.rtnetlink, kernel.iptables]) {
    part.fault = failing(changes);
    part.readFault = failing(reads);
  }
}

/** Runs a whole audit. */
async function audit({ reconciler }: FakeNode): Promise<void> {
  reconciler.startAudit();
  while (reconciler.auditing) await reconciler.auditSlice();
}

it(`${SEEDS} random clusters on a kernel that fails, ${STEPS} steps each`, async () => {
  let failures = 0;
  let slices = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = randomFrom(seed);
    const cluster = new RandomCluster(seed);
    const node = new FakeNode(RANDOM_HOST);
    await node.sync();
    for (let step = 0; step < STEPS; step++) {
      breakKernel(node, random, 0, 0);
      if (random() < 0.1) await tamper(node, random);
      breakKernel(node, random, random() < 0.5 ? 0.15 : 0, 0.02);
      if (random() < 0.5) cluster.change();
      node.set(cluster.objects);
      if (random() < 0.3) node.retryFailed();
      if (random() < 0.2) node.reconciler.startAudit();
      const slice = node.reconciler.auditing && random() < 0.7;
      if (slice) slices++;
      // A pass that cannot read the kernel is repeated.
      const pass = slice ? node.reconciler.auditSlice() : node.sync();
      failures += (await pass.catch(() => undefined))?.failures.length ?? 0;
    }
    breakKernel(node, random, 0, 0);
    for (let tries = 0; tries < 3; tries++) {
      node.retryFailed();
      await node.sync();
    }
    // An audit that is already running may have read the kernel before the changes by others.
    for (let audits = 0; audits < 2; audits++) await audit(node);
    const fresh = new FakeNode(RANDOM_HOST);
    fresh.set(cluster.objects);
    await fresh.sync();
    assert.deepEqual(comparable(node.output()), comparable(fresh.output()), `seed ${seed}`);
  }
  assert.ok(
    failures > SEEDS * 3 && slices > SEEDS,
    `only ${failures} failures and ${slices} slices of audits`,
  );
});
