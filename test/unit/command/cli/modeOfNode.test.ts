// The mode of a command that reads the kernel of the node: that of the flags, otherwise that of the running proxy.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { modeOfNode, withModeOfNode } from '../../../../src/command/cli/modeOfNode.js';
import { readInputFlags } from '../../../../src/command/config/commandLine.js';
import { loadConfiguration } from '../../../../src/command/config/load.js';
import { MODES, programmedModes } from '../../../../src/command/modes/select.js';
import type { KernelSigns } from '../../../../src/command/modes/shared/definition.js';
import { chainsOf } from '../../../../src/command/modes/shared/signs.js';
import { plain, type Response, routes } from '../../../../src/command/servers/handler.js';
import { listen } from '../../../../src/command/servers/listen.js';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { FakeKernel } from '../../../../src/kernel/testing/index.js';
import { closeAfter } from '../../../support/closeAfter.js';
import { machineWith } from '../../../support/fakes/machine.js';
import { scenarios } from '../../../support/oracle/oracle.js';
import { FakeIptablesNode, FakeNftablesNode, FakeNode } from '../../../support/oracle/testNode.js';

/** No proxy has programmed the node. */
const UNPROGRAMMED = async () => [];

/** The mode for these flags on a node where a program gives this response to /proxyMode. */
async function mode(
  response: Response,
  flags: readonly string[] = [],
  modes: readonly string[] = [],
): Promise<string> {
  const handler = routes({ '/proxyMode': () => response });
  const { port } = closeAfter(await listen({ address: '127.0.0.1', port: 0 }, handler, () => {}));
  const configuration = { mode: 'ipvs', metricsBindAddress: `127.0.0.1:${port}` };
  return modeOfNode(readInputFlags(flags), configuration, async () => modes);
}

const IPTABLES = plain(200, 'iptables');

it('is that of the running proxy, if no flag selects one', async () => {
  assert.equal(await mode(IPTABLES), 'iptables');
  assert.equal(await mode(IPTABLES, ['--proxy-mode=']), 'iptables');
});

it('is that of the flags or of the configuration file', async () => {
  assert.equal(await mode(IPTABLES, ['--proxy-mode=ipvs']), 'ipvs');
  assert.equal(await mode(IPTABLES, ['--config=config.conf']), 'ipvs');
});

it('is that of the kernel, if no proxy answers', async () => {
  assert.equal(await mode(plain(404, 'iptables'), [], ['nftables']), 'nftables');
  assert.equal(await mode(plain(200, '<html>'), [], ['nftables']), 'nftables');
  const configuration = { mode: 'ipvs', metricsBindAddress: '127.0.0.1:1' };
  assert.equal(await modeOfNode(readInputFlags([]), configuration, async () => ['nftables']), 'nftables');
});

it('is unknown, if no proxy answers and the kernel has none or several: the error says so and names the flag', async () => {
  const nextStep = 'select the mode with --proxy-mode';
  const none = 'no proxy answers on this node, and no mode has programmed its kernel';
  await assert.rejects(mode(plain(404, '')), { message: none, nextStep });
  const several = 'no proxy answers on this node, and its kernel has the rules of ipvs and nftables mode';
  await assert.rejects(mode(plain(404, ''), [], ['ipvs', 'nftables']), { message: several, nextStep });
  assert.equal(await mode(IPTABLES, [], ['ipvs', 'nftables']), 'iptables');
});

describe('the modes that have programmed a kernel', () => {
  const NODES = { ipvs: FakeNode, iptables: FakeIptablesNode, nftables: FakeNftablesNode } as const;
  type Mode = keyof typeof NODES;

  /** The modes that are found after these programmed a kernel, one after the other. */
  async function found(...modes: readonly Mode[]): Promise<string[]> {
    const kernel = new FakeKernel();
    for (const mode of modes) {
      const scenario = scenarios(mode).find(({ name }) => name === 'cluster-ip') ?? assert.fail();
      const node = new NODES[mode](scenario, kernel);
      await node.load(scenario.steps.at(-1) as string);
      await node.sync();
    }
    return programmedModes(await signsOf(kernel));
  }

  async function signsOf(kernel: FakeKernel): Promise<KernelSigns> {
    return {
      chains: await chainsOf(kernel.iptables, [4, 6]),
      hasLink: async (name) => (await kernel.rtnetlink.getLink(name)) !== undefined,
      openNftables: async () => ({ listTables: () => kernel.nftables.listTables(), close: async () => {} }),
      machine: machineWith([], { '/sys/module/nf_tables': '' }),
    };
  }

  for (const mode of ['ipvs', 'iptables', 'nftables'] as const)
    it(`${mode} mode alone`, async () => assert.deepEqual(await found(mode), [mode]));

  it('two modes, and none', async () => {
    assert.deepEqual(await found('ipvs', 'iptables'), ['ipvs', 'iptables']);
    assert.deepEqual(await found('nftables', 'ipvs'), ['ipvs', 'nftables']);
    assert.deepEqual(await found(), []);
  });

  it("kubelet's chains are none, and a host without the programs of iptables has no chain", async () => {
    const kernel = new FakeKernel();
    const chain = (table: 'nat' | 'filter', name: string) =>
      ({ do: 'addChain', chain: { family: 4, table, name, rules: [] } }) as never;
    await kernel.iptables.restore(4, [
      chain('filter', 'KUBE-FIREWALL'),
      chain('nat', 'KUBE-MARK-MASQ'),
      chain('nat', 'KUBE-POSTROUTING'),
      chain('nat', 'KUBE-KUBELET-CANARY'),
    ]);
    assert.deepEqual(await programmedModes(await signsOf(kernel)), []);
    const failing = (code: string) => ({
      // biome-ignore lint/correctness/useYield: it fails before the first piece
      chains: async function* () {
        throw new NetlinkError({ code, operation: 'iptables.save' });
      },
    });
    assert.deepEqual([...(await chainsOf(failing('ENOENT'), [4, 6]))], []);
    await assert.rejects(chainsOf(failing('ERR_PROCESS'), [4, 6]), { code: 'ERR_PROCESS' });
  });
});

it('is that of the running proxy for plan and diff too', async () => {
  const planned = async (response: Response, flags: readonly string[] = []) => {
    const handler = routes({ '/proxyMode': () => response });
    const { port } = closeAfter(await listen({ address: '127.0.0.1', port: 0 }, handler, () => {}));
    const given = [`--metrics-bind-address=127.0.0.1:${port}`, `--metrics-port=${port}`, ...flags];
    return loadConfiguration(await withModeOfNode(readInputFlags(given), UNPROGRAMMED), MODES).configuration
      .mode;
  };
  const usual = loadConfiguration(readInputFlags([]), MODES).configuration.mode;
  for (const mode of ['iptables', 'ipvs', 'nftables']) assert.equal(await planned(plain(200, mode)), mode);
  assert.equal(await planned(IPTABLES, ['--proxy-mode=ipvs']), 'ipvs');
  assert.equal(await planned(plain(200, 'userspace')), usual);
  assert.equal(await planned(plain(404, '')), usual, 'a node that no mode has programmed');
});
