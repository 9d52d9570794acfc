// The node's own plan while the plans of Services follow.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeKernel } from '../../../../src/kernel/testing/index.js';
import { createIpvsMode, IPVS_DEFAULTS, type Item } from '../../../../src/modes/ipvs/index.js';
import type { Outlook } from '../../../../src/modes/mode.js';
import { DesiredState } from '../../../../src/reconcile/desiredState.js';
import { nodeFacts } from '../../../../src/services/nodeFacts.js';

const mode = createIpvsMode(new FakeKernel(), { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' });

/** The node's items if no Service is planned. */
function planned(outlook: Outlook): Item[] {
  const nothing = new DesiredState<Item>((item) => mode.groupOf(item));
  return [...mode.planNode(nothing, nodeFacts('node-a'), outlook).values()];
}

function rules(outlook: Outlook): string[] {
  return planned(outlook).flatMap((item) => (item.kind === 'chain' ? item.rules : []));
}

function hashSize(name: string, outlook: Outlook): number | undefined {
  const item = planned(outlook).find((item) => item.kind === 'set' && item.set.name === name);
  return item?.kind === 'set' ? item.set.hashSize : undefined;
}

const FOLLOW = { complete: false, services: 10_000 };
const COMPLETE = { complete: true, services: 10_000 };

describe('while the plans of Services follow', () => {
  it('the rules match all sets, in the order of the complete ones', () => {
    const [all, exact] = [rules(FOLLOW), rules(COMPLETE)];
    for (const set of ['KUBE-CLUSTER-IP', 'KUBE-LOAD-BALANCER-FW', 'KUBE-NODE-PORT-TCP', 'KUBE-LOOP-BACK']) {
      const matches = new RegExp(`--match-set ${set} .* -j (KUBE|RETURN|MASQUERADE)`);
      assert.ok(
        all.some((rule) => matches.test(rule) && !exact.includes(rule)),
        set,
      );
    }
    assert.deepEqual(
      all.filter((rule) => exact.includes(rule)),
      exact,
    );
  });

  it('sets with an entry for each Service have the size for all, and a maximum that no later plan changes', () => {
    assert.equal(hashSize('KUBE-CLUSTER-IP', FOLLOW), 16_384);
    assert.equal(hashSize('KUBE-LOOP-BACK', FOLLOW), 1024);
    assert.equal(hashSize('KUBE-CLUSTER-IP', { complete: false, services: 1_000_000 }), 65_536);
    assert.equal(hashSize('KUBE-CLUSTER-IP', COMPLETE), 1024);
  });

  it('only nodeDrops and full sets wait for the complete plan', () => {
    const affected = (group: string, now: number) => mode.affectsNode(group, now - 1, now, FOLLOW);
    assert.equal(affected('KUBE-CLUSTER-IP', 1), false);
    assert.equal(affected('KUBE-CLUSTER-IP', 65_536), false);
    assert.equal(affected('KUBE-CLUSTER-IP', 65_537), true);
    assert.equal(affected('nodeDrop 4', 1), true);
    assert.equal(mode.affectsNode('KUBE-CLUSTER-IP', 0, 1, COMPLETE), true);
  });
});
