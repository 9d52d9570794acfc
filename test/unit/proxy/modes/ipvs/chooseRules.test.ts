// What --ipvs-rules=auto finds on a host: rules of nf_tables only where iptables or ipset cannot be had.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { chooseRules } from '../../../../../src/command/modes/ipvs/chooseRules.js';
import { rulesOf } from '../../../../../src/command/modes/ipvs/fromConfiguration.js';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import type { IpsetCapabilities } from '../../../../../src/kernel/ipset/types.js';
import type { Machine } from '../../../../../src/kernel/shared/hints.js';
import { machineWith } from '../../../../support/fakes/machine.js';

const LOADED = machineWith([], { '/sys/module/ip_set': '' });
const NO_PROGRAM = { family: 4, inKernel: true, reason: 'ENOENT: iptables-save' } as const;

/** A host with these parts; `ipset` may be the error of its opening. */
function host({
  iptables = true,
  ipset = { types: [] },
}: {
  readonly iptables?: boolean;
  readonly ipset?: IpsetCapabilities | NetlinkError;
}) {
  const calls: string[] = [];
  return {
    calls,
    findFamilies: async () => ({
      usable: new Map(iptables ? [[4, new Set<string>()] as const] : []),
      unusable: iptables ? [] : [NO_PROGRAM],
    }),
    openIpset: async () => {
      calls.push('open');
      if (ipset instanceof NetlinkError) throw ipset;
      return { capabilities: async () => ipset, close: async () => void calls.push('close') };
    },
  };
}

async function chosen(
  parts: ReturnType<typeof host>,
  { machine = LOADED, load = true }: { readonly machine?: Machine; readonly load?: boolean } = {},
) {
  const lines: object[] = [];
  const log = { info: (line: object) => void lines.push(line) };
  const rules = await chooseRules('auto', { load, log: log as never }, parts, machine);
  assert.deepEqual(
    lines.map((line) => (line as { rules?: string }).rules),
    [rules],
  );
  return [rules, (lines[0] as { reason?: string }).reason] as const;
}

it('iptables where both can be had', async () => {
  const parts = host({});
  assert.deepEqual(await chosen(parts), ['iptables', undefined]);
  assert.deepEqual(parts.calls, ['open', 'close']);
});

it('nftables without the programs of iptables', async () => {
  const [rules, reason] = await chosen(host({ iptables: false }));
  assert.deepEqual([rules, reason], ['nftables', 'IPv4: ENOENT: iptables-save']);
});

it('nftables without libipset, or without the module', async () => {
  const [rules, reason] = await chosen(host({ ipset: { types: [], hint: 'install libipset' } }));
  assert.deepEqual([rules, reason], ['nftables', 'install libipset']);
  const refused = new NetlinkError({ code: 'ENOENT', operation: 'ipset.open' });
  assert.equal((await chosen(host({ ipset: refused })))[0], 'nftables');
  const parts = host({});
  const [without, why] = await chosen(parts, { machine: machineWith([], {}) });
  assert.equal(without, 'nftables');
  assert.match(why ?? '', /ip_set/);
  assert.deepEqual(parts.calls, []);
});

it('a command that loads no module does not open ipset', async () => {
  const parts = host({});
  assert.equal((await chosen(parts, { load: false }))[0], 'iptables');
  assert.deepEqual(parts.calls, []);
});

it('a choice by name asks for nothing', async () => {
  const log = { info: () => assert.fail() };
  const parts = { findFamilies: () => assert.fail(), openIpset: () => assert.fail() };
  for (const name of ['iptables', 'nftables'] as const)
    assert.equal(await chooseRules(rulesOf(name), { load: true, log }, parts, LOADED), name);
});

it('the flag has one of three values', () => {
  assert.deepEqual([rulesOf(undefined), rulesOf('auto')], ['iptables', 'auto']);
  assert.throws(() => rulesOf('nft'), /--ipvs-rules must be of iptables, nftables, auto; found nft/);
});
