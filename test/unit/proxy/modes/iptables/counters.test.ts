// Whether the kernel can count packets, and the counters that rules need.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  countingObstacle,
  createCounters,
  readCounters,
} from '../../../../../src/command/modes/iptables/open.js';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import { machine, machineWith } from '../../../../support/fakes/machine.js';

const failed = (code: string) => new NetlinkError({ code, operation: 'nfacct.get' });

/** nfacct with these counters: packets by name. */
function fake(counters: Record<string, bigint> = {}, fault?: NetlinkError) {
  return {
    counters,
    async get(name: string) {
      if (fault) throw fault;
      const packets = counters[name];
      return packets === undefined ? undefined : { name, packets, bytes: 0n };
    },
    async add(name: string) {
      if (!fault) counters[name] ??= 0n;
      return fault;
    },
  };
}

it('a kernel with nfacct and its match can count packets, whether the counters exist or not', async () => {
  const there = machineWith(['xt_nfacct']);
  assert.equal(await countingObstacle(fake(), there), undefined);
  assert.equal(await countingObstacle(fake({ localhost_nps_accepted_pkts: 1n }), there), undefined);
  assert.equal(await countingObstacle(fake(), machine({})), undefined);
});

it('a kernel without nfacct or its match cannot, and the reason is named', async () => {
  assert.match(
    (await countingObstacle(fake({}, failed('EINVAL')))) ?? '',
    /^NetlinkError: EINVAL: nfacct\.get/,
  );
  assert.match((await countingObstacle(fake(), machineWith([]))) ?? '', /xt_nfacct/);
});

it('missing counters are created, and those that exist keep their numbers', async () => {
  const nfacct = fake({ localhost_nps_accepted_pkts: 7n });
  await createCounters(nfacct);
  assert.deepEqual(nfacct.counters, { ct_state_invalid_dropped_pkts: 0n, localhost_nps_accepted_pkts: 7n });
  await assert.rejects(createCounters(fake({}, failed('ENOMEM'))), { code: 'ENOMEM' });
});

it('the numbers are those of the counters that exist', async () => {
  const packets = await readCounters(fake({ localhost_nps_accepted_pkts: 7n }));
  assert.deepEqual([...packets], [['localhost_nps_accepted_pkts', 7]]);
});
