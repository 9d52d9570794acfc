// Modules and releases of kernels → capabilities.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { capabilitiesOf } from '../../../../src/kernel/ipvs/capabilities.js';

const INFO = { version: '1.2.1', connectionTableSize: 4096 };

test('modules that are loaded, built in, and loadable', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'ipvs-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const name of ['ip_vs', 'ip_vs_rr', 'ip_vs_ftp', 'xt_ipvs']) {
    mkdirSync(join(root, 'sys/module', name), { recursive: true });
  }
  const folder = join(root, 'lib/modules/6.1.0-13-amd64');
  mkdirSync(folder, { recursive: true });
  const path = 'kernel/net/netfilter/ipvs';
  writeFileSync(
    join(folder, 'modules.dep'),
    `${path}/ip_vs.ko.xz:\n${path}/ip_vs_rr.ko.xz: ${path}/ip_vs.ko.xz\n${path}/ip-vs-new.ko.zst: ${path}/ip_vs_sh.ko\n` +
      `${path}/ip_vs_pe_sip.ko: ${path}/ip_vs.ko\n${path}/ip_vs_ftp.ko:\n`,
  );
  writeFileSync(join(folder, 'modules.builtin'), `${path}/ip_vs_wlc.ko\n`);
  assert.deepEqual(await capabilitiesOf(INFO, root, '6.1.0-13-amd64'), {
    ...INFO,
    schedulers: { loaded: ['rr', 'wlc'], loadable: ['new'] },
    persistenceEngines: { loaded: [], loadable: ['sip'] },
    modulesKnown: true,
    encapsulations: ['ipip', 'gue', 'gre'],
    counters64: true,
    daemonAttributes: true,
  });
});

test('a host without the folder of modules, and old kernels', async () => {
  const bare = await capabilitiesOf(INFO, '/nowhere', '5.2.0');
  assert.deepEqual(
    [bare.modulesKnown, bare.schedulers, bare.encapsulations],
    [false, { loaded: [], loadable: [] }, ['ipip', 'gue']],
  );
  const old = await capabilitiesOf(INFO, '/nowhere', '4.2.8-1');
  assert.deepEqual([old.counters64, old.daemonAttributes, old.encapsulations], [true, false, ['ipip']]);
  assert.equal((await capabilitiesOf(INFO, '/nowhere', '3.10.0')).counters64, false);
});
