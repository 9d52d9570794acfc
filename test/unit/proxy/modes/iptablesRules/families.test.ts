// The families that can be programmed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { findFamilies, usableFamilies } from '../../../../../src/command/modes/iptablesRules/families.js';
import { NetlinkError, ROLLED_BACK } from '../../../../../src/kernel/errors.js';
import type { IptablesOperation, SavedRules } from '../../../../../src/kernel/iptables/types.js';
import type { Family } from '../../../../../src/kernel/net/address.js';
import { machine, machineWith } from '../../../../support/fakes/machine.js';

const ALL_TABLES: SavedRules = new Map([
  ['filter/INPUT', []],
  ['nat/PREROUTING', []],
]);
const NO_TABLE: SavedRules = new Map();

const restored = (code: string, kernelMessage?: string) =>
  new NetlinkError({ code, operation: 'iptables.restore', kernelMessage });

/** Programs with these rules in both families, and these results of restores in IPv6. */
function setUp(saved: SavedRules, results: readonly (NetlinkError | undefined)[] = [undefined, undefined]) {
  const restores: [Family, readonly IptablesOperation[]][] = [];
  const warnings: [string, string][] = [];
  const iptables = {
    async *chains() {
      for (const [id, rules] of saved) {
        const [table = '', name = ''] = id.split('/');
        yield [{ table, name, rules }];
      }
    },
    restore: async (family: Family, operations: readonly IptablesOperation[]) => {
      restores.push([family, operations]);
      return family === 6 ? [...results] : operations.map(() => undefined);
    },
  };
  const log = { warn: ({ err }: { err: string }, text: string) => warnings.push([text, err]) };
  const find = async (mayChange: boolean, on = machineWith([])) => [
    ...(await usableFamilies(iptables, { log: log as never, mayChange }, on)).keys(),
  ];
  return { iptables, restores, warnings, find };
}

it('families with chains in tables nat and filter are not tested', async () => {
  const { restores, warnings, find } = setUp(ALL_TABLES);
  assert.deepEqual(await find(true), [4, 6]);
  assert.deepEqual([restores, warnings], [[], []]);
});

it('tables without a chain are tested by one restore for each family, which adds and deletes a chain', async () => {
  const { restores, find } = setUp(NO_TABLE);
  assert.deepEqual(await find(true), [4, 6]);
  const chain = (family: Family, table: 'nat' | 'filter') => ({
    do: 'deleteChain',
    chain: { family, table, name: 'KUBE-PROXY-PROBE' },
  });
  assert.deepEqual(
    restores,
    ([4, 6] as const).map((family) => [family, [chain(family, 'nat'), chain(family, 'filter')]]),
  );
  const filterOnly = setUp(new Map([['filter/INPUT', []]]));
  await filterOnly.find(true);
  assert.deepEqual(filterOnly.restores[0]?.[1], [chain(4, 'nat')]);
});

it('a family without a table is left out with one warning, which names the table and the module of the backend', async () => {
  const cases = [
    ['iptables-restore v1.8.9 (legacy): no table', 0, 'nat', 'ip6table_nat'],
    ['iptables-restore v1.8.9 (legacy): no table', 1, 'filter', 'ip6table_filter'],
    ['ip6tables-restore v1.8.9 (nf_tables): CHAIN_ADD failed', 0, 'nat', 'nft_chain_nat'],
    ['ip6tables-restore v1.8.9 (nf_tables): TABLE_ADD failed', 1, 'filter', 'nf_tables'],
  ] as const;
  for (const [message, place, table, module] of cases) {
    const results = [restored(ROLLED_BACK, message), restored(ROLLED_BACK, message)];
    results[place] = restored('ERR_PROCESS', message);
    const { warnings, find } = setUp(NO_TABLE, results);
    assert.deepEqual(await find(true, machineWith([module])), [4]);
    const hint = `load the kernel module ${module} (modprobe ${module})`;
    assert.deepEqual(warnings, [
      [
        'IPv6 is left out',
        `NetlinkError: ERR_PROCESS: iptables.findTable IPv6 table ${table}: ${message} (${hint})`,
      ],
    ]);
  }
});

it('a lock that another program holds leaves out no family', async () => {
  const { warnings, find } = setUp(
    NO_TABLE,
    new Array(2).fill(restored('ERR_UNKNOWN_OUTCOME', 'no acknowledgement after 10000 ms')),
  );
  assert.deepEqual([await find(true), warnings], [[4, 6], []]);
});

it('without changes, a table is missing if neither backend has a module for it', async () => {
  const legacy = ['iptable_nat', 'iptable_filter', 'ip6table_nat', 'ip6table_filter'];
  for (const modules of [legacy, ['nft_chain_nat', 'nf_tables']]) {
    const { restores, warnings, find } = setUp(NO_TABLE);
    assert.deepEqual([await find(false, machineWith(modules)), restores, warnings], [[4, 6], [], []]);
  }
  const { warnings, find } = setUp(NO_TABLE);
  assert.deepEqual(await find(false, machineWith([...legacy.slice(0, 2), 'ip6table_filter'])), [4]);
  assert.match(
    warnings[0]?.[1] ?? '',
    /ENOENT: iptables\.findTable IPv6 table nat \(the kernel 6\.12\.1 has neither module ip6table_nat nor nft_chain_nat\)$/,
  );
  // The folder of the modules cannot be read.
  assert.deepEqual(await setUp(NO_TABLE).find(false, machine({ '/proc/net/if_inet6': '' })), [4, 6]);
});

it('a kernel without IPv6 and programs that fail leave out the family', async () => {
  const { iptables } = setUp(ALL_TABLES);
  const { usable, unusable } = await findFamilies(iptables, undefined, machine({}));
  assert.deepEqual([...usable.keys()], [4]);
  assert.deepEqual(unusable, [{ family: 6, inKernel: false, reason: 'the kernel runs without IPv6' }]);
  const failing = {
    // biome-ignore lint/correctness/useYield: it fails before the first piece
    async *chains() {
      throw restored('ENOENT');
    },
  };
  const none = await findFamilies(failing, undefined, machineWith([]));
  assert.equal(none.usable.size, 0);
  assert.deepEqual(
    none.unusable.map(({ family, inKernel }) => [family, inKernel]),
    [
      [4, true],
      [6, true],
    ],
  );
});

it('the setting that disables IPv6 leaves the family out, with a warning that names it, but not of a clean-up', async () => {
  const disabled = (value: string) =>
    machineWith([], { '/proc/sys/net/ipv6/conf/all/disable_ipv6': `${value}\n` });
  const { iptables, warnings, restores, find } = setUp(NO_TABLE);
  for (const mayChange of [true, false]) {
    assert.ok(!(await find(mayChange, disabled('1'))).includes(6));
    const of6 = warnings.splice(0).filter(([text]) => text === 'IPv6 is left out');
    assert.deepEqual(of6, [['IPv6 is left out', 'IPv6 is disabled: net.ipv6.conf.all.disable_ipv6 = 1']]);
  }
  assert.deepEqual(
    restores.map(([family]) => family),
    [4],
  );
  const enabled = setUp(ALL_TABLES);
  assert.deepEqual([await enabled.find(true, disabled('0')), enabled.warnings], [[4, 6], []]);
  const { usable } = await findFamilies(iptables, undefined, disabled('1'));
  assert.deepEqual([...usable.keys()], [4, 6]);
});
