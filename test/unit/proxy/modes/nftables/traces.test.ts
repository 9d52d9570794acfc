// Finds the table of nftables mode, without loading a kernel module.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { hasTable } from '../../../../../src/command/modes/nftablesRules/traces.js';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import type { Table } from '../../../../../src/kernel/nftables/types.js';
import { machineWith } from '../../../../support/fakes/machine.js';

const loaded = machineWith([], { '/sys/module/nf_tables': '' });

/** nftables with these tables, which counts how often it is opened and closed. */
function kernel(tables: readonly (readonly [Table['family'], string])[], error?: NetlinkError) {
  const calls: string[] = [];
  const list = async function* () {
    if (error) throw error;
    for (const [family, name] of tables) yield { family, name, flags: [], handle: 1n, use: 0 };
  };
  const open = async () => {
    calls.push('open');
    return {
      listTables: () => Object.assign(list(), { toArray: async () => [] }),
      close: async () => void calls.push('close'),
    };
  };
  return { calls, open };
}

it('a table of kube-proxy in the family ip or ip6 is a trace', async () => {
  for (const family of ['ip', 'ip6'] as const) {
    const { open, calls } = kernel([
      ['inet', 'filter'],
      [family, 'kube-proxy'],
    ]);
    assert.equal(await hasTable('kube-proxy', open, loaded), true);
    assert.deepEqual(calls, ['open', 'close']);
  }
});

it('other tables are none', async () => {
  const { open, calls } = kernel([
    ['inet', 'kube-proxy'],
    ['ip', 'filter'],
  ]);
  assert.equal(await hasTable('kube-proxy', open, loaded), false);
  assert.deepEqual(calls, ['open', 'close']);
});

it('a kernel that has not loaded nf_tables is not asked', async () => {
  const { open, calls } = kernel([['ip', 'kube-proxy']]);
  assert.equal(await hasTable('kube-proxy', open, machineWith(['nf_tables'])), false);
  assert.equal(await hasTable('kube-proxy', open, machineWith([])), false);
  assert.deepEqual(calls, []);
});

it('a kernel without nf_tables has no trace; another error is reported, and the client is closed', async () => {
  const failing = (code: string) => kernel([], new NetlinkError({ code, operation: 'nftables.listTables' }));
  assert.equal(await hasTable('kube-proxy', failing('EINVAL').open, loaded), false);
  const { open, calls } = failing('EPERM');
  await assert.rejects(hasTable('kube-proxy', open, loaded), { code: 'EPERM' });
  assert.deepEqual(calls, ['open', 'close']);
});
