// Every option of every type on a kernel that has all types.
// Needs: ipset, ipset types
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openIpset } from '../../src/kernel/ipset/index.js';
import { ipsetOptions } from '../support/tables/ipsetOptions.js';
import { SYNTAX } from '../support/tables/ipsetTable.js';

it('the kernel has every type', async () => {
  const ipset = await openIpset();
  const names = (await ipset.types()).map(({ name }) => name);
  assert.deepEqual(names.sort(), Object.keys(SYNTAX).sort());
  await ipset.close();
});

ipsetOptions();
