// A host without the programs of iptables has no chains of a former proxy, unless the kernel shows some.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { withAbsentPrograms } from '../../../../../src/command/modes/iptablesRules/absentPrograms.js';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import { FakeKernel } from '../../../../../src/kernel/testing/index.js';
import { machineWith } from '../../../../support/fakes/machine.js';

const NF_TABLES = { '/sys/module/nf_tables': '' };

/** The number of chains that are read, in a kernel whose programs are missing. */
async function read(
  files: Readonly<Record<string, string>>,
  chain?: string,
  code = 'ENOENT',
): Promise<number> {
  const { iptables, nftables } = new FakeKernel();
  iptables.readFault = (operation) => new NetlinkError({ code, operation: `iptables.${operation}` });
  if (chain !== undefined)
    await nftables.apply([
      { do: 'addTable', table: { family: 'ip', name: 'nat' } },
      { do: 'addChain', chain: { family: 'ip', table: 'nat', name: chain } },
    ]);
  const seen = withAbsentPrograms(iptables, async () => nftables, machineWith([], files));
  let count = 0;
  for await (const piece of seen.chains(4)) count += piece.length;
  return count;
}

it('has no chains', async () => {
  assert.equal(await read({}), 0);
  assert.equal(await read(NF_TABLES), 0);
  assert.equal(await read(NF_TABLES, 'PREROUTING'), 0);
  assert.equal(await read({ '/proc/net/ip_tables_names': '' }), 0);
});

it('is an error if the kernel may have chains of a proxy', async () => {
  await assert.rejects(read({ '/proc/net/ip_tables_names': 'nat\n' }), { code: 'ENOENT' });
  await assert.rejects(read(NF_TABLES, 'KUBE-SERVICES'), { code: 'ENOENT' });
});

it('other errors of the programs stay', async () => {
  await assert.rejects(read(NF_TABLES, undefined, 'ERR_PROCESS'), { code: 'ERR_PROCESS' });
});
