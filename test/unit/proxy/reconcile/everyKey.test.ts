// A full pass compares every key once, in pieces, without a list of all keys.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Item } from '../../../../src/proxy/modes/ipvs/index.js';
import type { Desired } from '../../../../src/proxy/modes/mode.js';
import { PIECE } from '../../../../src/proxy/reconcile/planner.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { FakeNode } from '../../../support/oracle/testNode.js';

/** Text of Services with a slice each; neighbours share an external IP. */
const services = (count: number) =>
  Array.from({ length: count }, (_, n) => {
    const spec = `  externalIPs: [192.0.2.${n >> 1}]`;
    const text = service(`web-${n}`, `10.96.${n >> 8}.${n & 255}`, spec);
    // Another port, otherwise only the older Service has the external IP.
    return (
      text.replace('{port: 80}', `{port: ${80 + (n & 1)}}`) + slice(`web-${n}`, `10.0.${n >> 8}.${n & 255}`)
    );
  }).join('');

for (const count of [10, PIECE + 44]) {
  it(`with ${count} Services, the desired keys and those that are not desired`, async () => {
    const node = new FakeNode(HOST);
    await node.loadText(services(count));
    assert.deepEqual((await node.sync()).failures, []);
    const unwanted = {
      do: 'add',
      set: { name: 'KUBE-CLUSTER-IP', type: 'hash:ip,port', family: 4 },
    } as const;
    const entry = { address: '10.96.9.9', protocol: 'tcp', port: 80 } as const;
    assert.deepEqual(await node.kernel.ipset.apply([{ ...unwanted, entry }]), [undefined]);

    const looked: string[] = [];
    let desired: Desired<Item> | undefined;
    const { compare } = node.mode;
    node.mode.compare = (...maps) => {
      [desired] = maps;
      const comparison = compare(...maps);
      return {
        ...comparison,
        look(key) {
          looked.push(key);
          return comparison.look(key);
        },
      };
    };
    node.reconciler.requestFullSync();
    const { full, operations } = await node.sync();
    assert.deepEqual([full, operations], [true, 1]);
    assert.equal(new Set(looked).size, looked.length, 'each once');
    const unwantedKeys = looked.filter((key) => desired?.get(key) === undefined);
    assert.deepEqual(unwantedKeys, ['timeouts', 'entry KUBE-CLUSTER-IP 10.96.9.9,tcp:80']);
    const all = new Set(looked);
    assert.deepEqual(
      [...(desired?.keys() ?? [])].filter((key) => !all.has(key)),
      [],
    );
  });
}
