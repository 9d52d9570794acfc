// Kernel modules looked for in a folder like those of a host.
// Needs: namespace
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { HOST, type Machine, stateOfModule } from '../../src/kernel/shared/hints.js';
import { tool } from '../support/namespaces/tools.js';

const root = mkdtempSync(join(tmpdir(), 'knp-modules-'));
after(() => rmSync(root, { recursive: true }));

/** This machine, with the files of the folder. */
const machine: Machine = {
  ...HOST,
  exists: (path) => HOST.exists(join(root, path)),
  read: (path) => HOST.read(join(root, path)),
};

it('without the folder of the modules, only a loaded module is known', () => {
  mkdirSync(join(root, 'sys/module/ip_vs_rr'), { recursive: true });
  assert.equal(stateOfModule('ip_vs_rr', machine), 'loaded');
  assert.equal(stateOfModule('ip_vs_lc', machine), 'unknown');
});

it('with it, modules that can be loaded or are built in are there, and others are missing', () => {
  const modules = join(root, 'lib/modules', release());
  mkdirSync(modules, { recursive: true });
  writeFileSync(join(modules, 'ip_vs_lc.ko'), '');
  writeFileSync(join(modules, 'modules.dep'), 'ip_vs_lc.ko:\n');
  writeFileSync(join(modules, 'modules.order'), '');
  writeFileSync(join(modules, 'modules.builtin'), 'kernel/net/netfilter/ipvs/ip_vs_wrr.ko\n');
  writeFileSync(join(modules, 'modules.builtin.modinfo'), '');
  tool('depmod', '--basedir', root, release());
  const found = ['ip_vs_rr', 'ip_vs_lc', 'ip_vs_wrr', 'ip_vs_roundrobin'].map((name) =>
    stateOfModule(name, machine),
  );
  assert.deepEqual(found, ['loaded', 'loadable', 'built in', 'missing']);
});
