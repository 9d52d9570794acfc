// The modules that are loaded ahead: those of all sets, and of the matches and targets of rules.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { kernelModules } from '../../../../../src/command/modes/ipvs/open.js';
import { IPVS_DEFAULTS } from '../../../../../src/proxy/modes/ipvs/index.js';
import { chains, jumps } from '../../../../../src/proxy/modes/ipvs/plan/rules.js';
import { modulesOf } from '../../../../support/tables/ruleModules.js';

/** Modules that are loaded on demand, because few rules need them. */
const ON_DEMAND = ['xt_physdev', 'xt_ipvs'];

it('the modules are those of the scheduler, the link, the sets and the rules', () => {
  const options = { ...IPVS_DEFAULTS, kernelRelease: '6.1.0', families: [4, 6] as const };
  const found = new Set<string>();
  for (const family of options.families) {
    const drop = { kind: 'nodeDrop', family, address: '10.0.0.1', protocol: 'tcp', port: 1 } as const;
    const facts = {
      ...{ has: () => true, nodeDrops: [drop], shortcuts: [], receivesTunnels: false },
      podNetwork: undefined,
    };
    const rules = [
      ...chains(family, facts, options).flatMap((chain) => chain.rules),
      ...jumps(family).map(({ text }) => text),
    ];
    for (const rule of rules) {
      for (const name of modulesOf(rule, family)) found.add(name);
    }
  }
  const sets = ['ipportip', 'ipport', 'ipportnet', 'ip'].map((fields) => `ip_set_hash_${fields}`);
  const expected = ['ip_vs_wrr', 'dummy', 'ip_set_bitmap_port', ...sets, ...found];
  assert.deepEqual([...kernelModules('wrr'), ...ON_DEMAND].sort(), expected.sort());
});
