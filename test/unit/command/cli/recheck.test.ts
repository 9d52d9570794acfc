// The changed configuration file of a running agent is validated as at a start.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { recheck } from '../../../../src/command/cli/recheck.js';
import { type KernelCommand, readFlags } from '../../../../src/command/config/commandLine.js';
import type { Configuration } from '../../../../src/command/config/configuration.js';
import { readConfigurationFile } from '../../../../src/command/config/reload.js';
import { schedulerOf } from '../../../../src/command/modes/ipvs/fromConfiguration.js';
import { FakeKernel } from '../../../../src/kernel/testing/index.js';
import { probeScheduler } from '../../../../src/proxy/modes/ipvs/index.js';
import { closeAfter } from '../../../support/closeAfter.js';

const GOOD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: ipvs\n';

/** Reads a file that had valid contents and now has these, on a node with only IPv4. */
async function recheckWith(text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'knp-recheck-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  const path = join(folder, 'config.conf');
  writeFileSync(path, GOOD);
  const former = readConfigurationFile(path);
  writeFileSync(path, text);
  const command = readFlags(['--config', path, '--master', 'http://127.0.0.1:1']) as KernelCommand;
  const nodeIPs = { 4: '192.0.2.1', 6: '::1' };
  const node = { families: [4], primaryFamily: 4, nodeIPs, podCIDRs: [] } as const;
  const probe = (changed: Configuration) => probeScheduler(new FakeKernel(), schedulerOf(changed));
  const found = await recheck({ command, former, mode: { probe }, node });
  return found.text;
}

describe('a configuration file that is read again', () => {
  it('returns its text if a start would succeed', async () => {
    const text = `${GOOD}clusterCIDR: 10.244.0.0/16\n`;
    assert.equal(await recheckWith(text), text);
  });

  it('returns its former text without validation, because a start succeeded with it', async () => {
    assert.equal(await recheckWith(GOOD), GOOD);
  });

  for (const [what, text, says] of [
    ['that is not YAML', `${GOOD}ipvs: {`, /^failed complete: failed to decode: yaml: /],
    ['with a value out of range', `${GOOD}oomScoreAdj: 4000\n`, /^failed validate: .*OOMScoreAdj/],
    [
      'of another family than the node',
      `${GOOD}clusterCIDR: "fd00::/48"\n`,
      /clusterCIDRs contains only IPv6/,
    ],
    [
      'with a kubeconfig that does not exist',
      `${GOOD}clientConnection: {kubeconfig: /x/y}\n`,
      /kubeconfig \/x\/y: ENOENT/,
    ],
    ['with a scheduler that the kernel lacks', `${GOOD}ipvs: {scheduler: teapot}\n`, /ENOENT.*teapot/],
  ] as const) {
    it(`${what} is rejected`, async () => {
      await assert.rejects(recheckWith(text), { message: says });
    });
  }
});
