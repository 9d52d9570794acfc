// An agent without the right to write below /proc/sys, as in deploy/base: its init container has written the settings.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NetlinkError } from '../../src/kernel/errors.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { IPVS_DEFAULTS } from '../../src/proxy/modes/ipvs/plan/options.js';
import { sysctls } from '../../src/proxy/modes/ipvs/plan/planNode.js';
import { FakeIptablesNode, FakeNode } from '../support/oracle/testNode.js';

const SCENARIO = { configuration: {}, interfaces: [] } as const;

/** The settings that each mode programs, and an agent of it on a kernel. */
const MODES = {
  ipvs: {
    settings: sysctls({ ...IPVS_DEFAULTS, kernelRelease: '6.1.0' }),
    open: (kernel: FakeKernel) => new FakeNode(SCENARIO, kernel),
  },
  iptables: {
    settings: [['net/ipv4/conf/all/route_localnet', '1']] as [string, string][],
    open: (kernel: FakeKernel) => new FakeIptablesNode(SCENARIO, kernel),
  },
};

/** A kernel whose settings are read-only, and how often somebody tried to write one. */
function readOnly(settings: readonly (readonly [string, string])[]) {
  const kernel = new FakeKernel();
  for (const [name, value] of settings) kernel.sysctl.values.set(name, value);
  const tried: string[] = [];
  kernel.sysctl.fault = (operation, target) => {
    tried.push(String(target));
    return new NetlinkError({ code: 'EROFS', errno: 30, operation, target });
  };
  return { kernel, tried };
}

for (const [mode, { settings, open }] of Object.entries(MODES)) {
  it(`${mode} mode writes no setting that is right, and programs all else`, async () => {
    const { kernel, tried } = readOnly(settings);
    const { failures } = await open(kernel).sync();
    assert.deepEqual(failures, []);
    assert.deepEqual(tried, []);
  });

  for (const [name] of settings) {
    it(`${mode} mode reports ${name}, which another program has changed, as a failure of the node, and programs all else`, async () => {
      const { kernel, tried } = readOnly(settings);
      kernel.sysctl.values.set(name, '7');
      const { failures, unknown } = await open(kernel).sync();
      assert.deepEqual(
        failures.map(({ key, vital, error }) => [key, vital, error.code, error.target]),
        [[`sysctl ${name}`, true, 'EROFS', name]],
      );
      assert.equal(unknown, 1);
      assert.deepEqual(tried, [name]);
      const saved = await kernel.iptables.save(4);
      assert.ok(saved.has('nat/KUBE-SERVICES'), `${mode}: the rules are there`);
    });
  }
}
