// The modules that are loaded ahead: those of the rules of all recorded clusters.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { KERNEL_MODULES } from '../../../../../src/command/modes/iptables/open.js';
import { recordedRules } from '../../../../support/oracle/iptablesNode.js';
import { scenarios } from '../../../../support/oracle/oracle.js';
import { modulesOf } from '../../../../support/tables/ruleModules.js';

/** Modules that are loaded on demand, because few rules need them. */
const ON_DEMAND = ['xt_recent', 'xt_sctp'];

it('the modules are those of the rules that kube-proxy wrote', () => {
  // The recordings were made on a kernel without nfacct.
  const found = new Set(['xt_nfacct']);
  for (const { folder } of scenarios('iptables')) {
    const steps = ['', ...readdirSync(folder)].map((name) => join(folder, name));
    for (const step of steps.filter((path) => existsSync(join(path, 'iptables.txt')))) {
      for (const family of [4, 6] as const) {
        const rules = recordedRules(step, family)
          .split('\n')
          .filter((line) => line.startsWith('-A '));
        for (const rule of rules) for (const name of modulesOf(rule, family)) found.add(name);
      }
    }
  }
  assert.deepEqual([...KERNEL_MODULES, ...ON_DEMAND].sort(), [...found].sort());
});
