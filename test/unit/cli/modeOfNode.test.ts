// The mode of a command that reads the kernel of the node: that of the flags, otherwise that of the running proxy.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { modeOfNode, withModeOfNode } from '../../../src/cli/modeOfNode.js';
import { readInputFlags } from '../../../src/config/commandLine.js';
import { loadConfiguration } from '../../../src/config/load.js';
import { MODES } from '../../../src/modes/select/select.js';
import { plain, type Response, routes } from '../../../src/servers/handler.js';
import { listen } from '../../../src/servers/listen.js';
import { closeAfter } from '../../support/closeAfter.js';

/** The mode for these flags on a node where a program gives this response to /proxyMode. */
async function mode(response: Response, flags: readonly string[] = []): Promise<string> {
  const handler = routes({ '/proxyMode': () => response });
  const { port } = closeAfter(await listen({ address: '127.0.0.1', port: 0 }, handler, () => {}));
  const configuration = { mode: 'ipvs', metricsBindAddress: `127.0.0.1:${port}` };
  return modeOfNode(readInputFlags(flags), configuration);
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

it('is the default, if no proxy answers', async () => {
  assert.equal(await mode(plain(404, 'iptables')), 'ipvs');
  assert.equal(await mode(plain(200, '<html>')), 'ipvs');
  const configuration = { mode: 'ipvs', metricsBindAddress: '127.0.0.1:1' };
  assert.equal(await modeOfNode(readInputFlags([]), configuration), 'ipvs');
});

it('is that of the running proxy for plan and diff too', async () => {
  const planned = async (response: Response, flags: readonly string[] = []) => {
    const handler = routes({ '/proxyMode': () => response });
    const { port } = closeAfter(await listen({ address: '127.0.0.1', port: 0 }, handler, () => {}));
    const given = [`--metrics-bind-address=127.0.0.1:${port}`, `--metrics-port=${port}`, ...flags];
    return loadConfiguration(await withModeOfNode(readInputFlags(given)), MODES).configuration.mode;
  };
  const usual = loadConfiguration(readInputFlags([]), MODES).configuration.mode;
  for (const mode of ['iptables', 'ipvs', 'nftables']) assert.equal(await planned(plain(200, mode)), mode);
  assert.equal(await planned(IPTABLES, ['--proxy-mode=ipvs']), 'ipvs');
  assert.equal(await planned(plain(200, 'userspace')), usual);
});
