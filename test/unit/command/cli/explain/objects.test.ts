// The Service of the address that explain is asked about, from the running agent and from the API server.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { AnswerLimit } from '../../../../../src/command/cli/answerLimit.js';
import { type FoundFrontend, findFrontend } from '../../../../../src/command/cli/explain/objects.js';
import { readInputFlags } from '../../../../../src/command/config/commandLine.js';
import { loadConfiguration } from '../../../../../src/command/config/load.js';
import type { Dialled } from '../../../../../src/command/explain/explanation.js';
import { MODES } from '../../../../../src/command/modes/select.js';
import { json, plain, type Response, routes } from '../../../../../src/command/servers/handler.js';
import { listen } from '../../../../../src/command/servers/listen.js';
import { closeAfter } from '../../../../support/closeAfter.js';
import { ROOT } from '../../../../support/paths.js';

const WEB = { service: 'demo/web', portName: 'http', family: 4, protocol: 'tcp' } as const;
const FRONTENDS = [
  { ...WEB, kind: 'clusterIP', address: '10.96.0.80', port: 80 },
  { ...WEB, kind: 'nodePort', address: '', port: 30_080 },
  { ...WEB, service: 'demo/lb', portName: '', kind: 'loadBalancerIP', address: '203.0.113.20', port: 80 },
];

/** The result of a search with these flags, on a node where a program gives this response to /services. */
async function find(dialled: Dialled, response: Response, flags: readonly string[] = []) {
  const handler = routes({ '/services': () => response });
  const { port } = closeAfter(await listen({ address: '127.0.0.1', port: 0 }, handler, () => {}));
  const command = readInputFlags([
    `--metrics-bind-address=127.0.0.1:${port}`,
    `--metrics-port=${port}`,
    ...flags,
  ]);
  return findFrontend(command, loadConfiguration(command, MODES), dialled, new AnswerLimit(0.3));
}

const at = (address: string, port: number, protocol: 'tcp' | 'udp' = 'tcp') => ({ address, port, protocol });

describe('without a flag that names objects', () => {
  const found = (service: string, portName: string, isClusterIP: boolean): FoundFrontend => ({
    service: { service, portName },
    isClusterIP,
  });
  const agent = json(200, JSON.stringify({ frontends: FRONTENDS }));

  it('the name of the Service is that of the running agent', async () => {
    assert.deepEqual(await find(at('10.96.0.80', 80), agent), found('demo/web', 'http', true));
    assert.deepEqual(await find(at('203.0.113.20', 80), agent), found('demo/lb', '', false));
    assert.deepEqual(await find(at('192.168.50.10', 30_080), agent), found('demo/web', 'http', false));
  });

  it('no Service has another port, protocol or family', async () => {
    assert.equal(await find(at('10.96.0.80', 81), agent), undefined);
    assert.equal(await find(at('10.96.0.80', 80, 'udp'), agent), undefined);
    assert.equal(await find(at('fd00::10', 30_080), agent), undefined);
  });

  it('there is no name if no agent answers, or another program does', async () => {
    assert.equal(await find(at('10.96.0.80', 80), plain(404, 'not found')), undefined);
    assert.equal(await find(at('10.96.0.80', 80), plain(200, '<html>')), undefined);
  });
});

it('an API server that does not answer is an error within the limit, with the next step', async () => {
  // The agent's answer is not used: the flag names other objects.
  const agent = json(200, JSON.stringify({ frontends: FRONTENDS }));
  await assert.rejects(find(at('10.96.0.80', 80), agent, ['--master=http://127.0.0.1:1']), {
    message: /^the API server did not send its objects within 0\.3 s; the last error: ECONNREFUSED: /,
    nextStep: /^check --kubeconfig, .* --manifests$/,
  });
});

it('an address that no Service may have is named with the Services that ask for it, and the reason', async () => {
  const objects = join(ROOT, 'test/oracle/recordings/external-ips/objects.yaml');
  const flags = [`--manifests=${objects}`, '--hostname-override=node-a'];
  const refused = (...more: string[]) =>
    find(at('192.0.2.44', 80), plain(404, ''), [...flags, ...more]).then((found) => found?.refused);
  const because = (rule: string) =>
    ['ext', 'ext-shared'].map(
      (name) => `Service demo/${name}: spec.externalIPs: ${rule}, found "192.0.2.44"`,
    );
  assert.deepEqual(
    await refused('--feature-gates=AllowServiceExternalIPs=false'),
    because('is not served: the feature gate AllowServiceExternalIPs is off'),
  );
  assert.deepEqual(
    await refused('--service-external-ip-range=192.0.2.45/32'),
    because('must be in a range of --service-external-ip-range for namespace demo'),
  );
  assert.equal(await refused('--service-external-ip-range=192.0.2.44/32'), undefined);
});
