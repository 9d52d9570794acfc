// The agent with each mode, on a fake kernel and an API server in this process: the changes that end it, and others.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { FollowedConfiguration } from '../../../../src/command/agent/followConfiguration.js';
import { recheck } from '../../../../src/command/cli/recheck.js';
import { type KernelCommand, readFlags } from '../../../../src/command/config/commandLine.js';
import { loadConfiguration } from '../../../../src/command/config/load.js';
import {
  CONFIGURATION_UPDATED,
  hashOf,
  readConfigurationFile,
} from '../../../../src/command/config/reload.js';
import { MODES } from '../../../../src/command/modes/select.js';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import type { FakeKernel } from '../../../../src/kernel/testing/index.js';
import { PATIENCE } from '../../../laboratory/patience.js';
import { until } from '../../../support/apiServer/cluster.js';
import { node, service, slice } from '../../../support/apiServer/objects.js';
import { SERVICES } from '../../../support/apiServer/scene.js';
import type { ApiServer } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';
import { AUDIT, startAgent, startServer } from '../../../support/fakes/startedAgent.js';
import type { TestKernel } from '../../../support/fakes/testKernel.js';
import { TEST_MODES } from '../../../support/fakes/testModes.js';
import { freePort } from '../../../support/freePort.js';

const GOOD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: ipvs\n';

/** A configuration file that the agent follows as if started by the command. */
function configurationFile(...flags: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'knp-agent-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  const path = join(folder, 'config.conf');
  writeFileSync(path, GOOD);
  const command = readFlags(['--config', path, ...flags]) as KernelCommand;
  const file = readConfigurationFile(path);
  const read = () => recheck({ command, former: file, mode: { probe: async () => {} }, node: undefined });
  const { exitOnConfigChange: exitsOnChange } = command;
  const { configuration } = loadConfiguration(command, MODES);
  const configFile: FollowedConfiguration = {
    file,
    configuration,
    read,
    exitsOnChange,
    times: { still: 50, again: 100 },
  };
  return { path, configFile };
}

const changeAddress = ({ store }: ApiServer) =>
  store.set(node('node-a', { podCIDRs: ['10.244.1.0/24'], address: '192.168.50.99' }));
const deleteNode = ({ store }: ApiServer) => store.delete(node('node-a'));

/** Changes after which kube-proxy 1.37 ends. */
const NODE_CHANGES: Readonly<Record<string, (server: ApiServer) => unknown>> = {
  'the addresses of its node change': changeAddress,
  'its Node is deleted': deleteNode,
};

const programmed = (kernel: TestKernel) => kernel.leadsTo('10.96.0.1:80', '10.244.1.7:8080');

for (const [mode, newKernel] of Object.entries(TEST_MODES))
  describe(`in ${mode} mode`, () => tests(newKernel));

function tests(newKernel: () => TestKernel): void {
  describe('the agent exits with 1, and the kernel keeps its state, if', () => {
    it('the podCIDRs of its node change and rules depend on them', async () => {
      const server = await startServer('10.244.1.0/24');
      const agent = await startAgent(server, { kernel: newKernel(), detectLocalMode: 'NodeCIDR' });
      await until('it has programmed the kernel', () => programmed(agent.kernel) && agent.passes() > 0);
      const before = agent.kernel.state();
      server.store.set(node('node-a', { podCIDRs: ['10.244.1.0/24'], zone: 'elsewhere' }));
      await until('it has read the node', () => agent.passes() > 1);
      assert.equal(agent.ended(), undefined);
      server.store.set(node('node-a', { podCIDRs: ['10.244.9.0/24'] }));
      assert.equal(await agent.status, 1);
      assert.equal(agent.kernel.state(), before);
      assert.match(agent.lines.join(''), /"before":\["10\.244\.1\.0\/24"\],"now":\["10\.244\.9\.0\/24"\]/);
    });

    it('the podCIDRs changed before it began to follow its node', async () => {
      const agent = await startAgent(await startServer('10.244.9.0/24'), {
        kernel: newKernel(),
        detectLocalMode: 'NodeCIDR',
      });
      assert.equal(await agent.status, 1);
    });

    for (const [what, change] of Object.entries(NODE_CHANGES)) {
      it(`${what}, and kube-proxy 1.37 is mirrored`, async () => {
        const server = await startServer('10.244.1.0/24');
        const agent = await startAgent(server, { kernel: newKernel(), mirroredVersion: '1.37' });
        await until('it has programmed the kernel', () => programmed(agent.kernel) && agent.passes() > 0);
        assert.equal(agent.ended(), undefined);
        change(server);
        assert.equal(await agent.status, 1);
        assert.ok(programmed(agent.kernel));
        assert.equal(agent.logged('stopping; the kernel keeps its state').length, 1);
      });
    }

    it('its configuration file changes, with --exit-on-config-change', async () => {
      const { path, configFile } = configurationFile('--exit-on-config-change');
      const agent = await startAgent(await startServer('10.244.1.0/24'), { kernel: newKernel(), configFile });
      await until('it has programmed the kernel', () => programmed(agent.kernel) && agent.passes() > 0);
      const before = agent.kernel.state();
      assert.equal(agent.ended(), undefined);
      appendFileSync(path, '# more\n');
      assert.equal(await agent.status, 1);
      assert.equal(agent.kernel.state(), before);
      assert.ok(agent.lines.some((line) => line.includes(CONFIGURATION_UPDATED)));
    });

    it('its damaged configuration file is repaired with other contents, but not before', async () => {
      const { path, configFile } = configurationFile('--exit-on-config-change');
      const server = await startServer('10.244.1.0/24');
      const agent = await startAgent(server, { kernel: newKernel(), configFile });
      await until('it has programmed the kernel', () => programmed(agent.kernel) && agent.passes() > 0);
      writeFileSync(path, `${GOOD}ipvs: {scheduler: [`);
      await until(
        'it has logged the fault',
        () => agent.logged('KubeProxyConfiguration: contents').length > 0,
      );
      server.store.set(service('c', '10.96.0.3'));
      await until('it follows', () => agent.kernel.serves('10.96.0.3:80'));
      assert.equal(agent.ended(), undefined);
      writeFileSync(path, `${GOOD}ipvs: {scheduler: rr}\n`);
      assert.equal(await agent.status, 1);
      assert.ok(agent.kernel.serves('10.96.0.3:80'));
    });
  });

  it('the agent logs a warning if another one runs in its network namespace', async () => {
    const server = await startServer('10.244.1.0/24');
    const agents = [
      await startAgent(server, { kernel: newKernel() }),
      await startAgent(server, { kernel: newKernel() }),
    ];
    const warned = () => agents.some(({ logged }) => logged('another kube-netlink-proxy runs').length > 0);
    await until('one has warned', warned);
    for (const agent of agents) agent.stop();
    assert.deepEqual(await Promise.all(agents.map(({ status }) => status)), [0, 0]);
  });

  describe('the agent continues, and exits with 0 on a stop signal, after', () => {
    it('a change of its podCIDRs on which no rule depends', async () => {
      const server = await startServer('10.244.1.0/24');
      const agent = await startAgent(server, { kernel: newKernel() });
      await until('it has programmed the kernel', () => programmed(agent.kernel));
      server.store.set(node('node-a', { podCIDRs: ['10.244.9.0/24'] }));
      server.store.set(service('c', '10.96.0.3'));
      await until('it follows', () => agent.kernel.serves('10.96.0.3:80'));
      agent.stop();
      assert.equal(await agent.status, 0);
      assert.ok(programmed(agent.kernel));
    });

    for (const [what, change, line] of [
      ['a change of its addresses', changeAddress, 'NodeIPs changed for the node'],
      ['the end of its Node', deleteNode, 'Node is being deleted'],
    ] as const) {
      it(`${what}, which it logs, as kube-proxy 1.36`, async () => {
        const server = await startServer('10.244.1.0/24');
        const agent = await startAgent(server, { kernel: newKernel() });
        await until('it has programmed the kernel', () => programmed(agent.kernel));
        change(server);
        await until('it has logged the change', () => agent.logged(line).length > 0);
        server.store.set(service('c', '10.96.0.3'));
        await until('it follows', () => agent.kernel.serves('10.96.0.3:80'));
        agent.stop();
        assert.equal(await agent.status, 0);
      });
    }

    it('unreadable updates, which remove nothing, while others are programmed', async () => {
      const server = await startServer('10.244.1.0/24');
      const agent = await startAgent(server, { kernel: newKernel() });
      await until('it has programmed the kernel', () => programmed(agent.kernel) && agent.passes() > 0);
      const before = agent.kernel.state();
      server.store.set({ ...service('a', '10.96.0.1'), spec: { type: 'Teapot' } });
      server.store.set({ ...slice('a', []), endpoints: [{ addresses: ['nowhere'] }] });
      server.store.set({ ...service('b', ''), spec: { clusterIP: '10.96.0.2', ports: [{ port: 'http' }] } });
      server.store.set(service('c', '10.96.0.3'));
      const reports = () => agent.logged('last readable value stays in use').length;
      await until('it follows', () => agent.kernel.serves('10.96.0.3:80'));
      // Services and slices are two watches: either may be first.
      await until('it has reported all of them', () => reports() >= 3);
      const after = agent.kernel.state().split('\n');
      assert.deepEqual(
        before.split('\n').filter((line) => !after.includes(line)),
        [],
      );
      assert.equal(reports(), 3);
      agent.stop();
      assert.equal(await agent.status, 0);
    });

    it('a change of its configuration file: what moves traffic waits, and is reported', async () => {
      const { path, configFile } = configurationFile();
      const agent = await startAgent(await startServer('10.244.1.0/24'), { kernel: newKernel(), configFile });
      await until('it has programmed the kernel', () => programmed(agent.kernel) && agent.passes() > 0);
      const before = agent.kernel.state();
      const other = `${GOOD.replace('ipvs', 'nftables')}detectLocalMode: NodeCIDR\nnodePortAddresses: [primary]\n`;
      writeFileSync(path, other);
      await until('it has logged the fields', () => agent.logged('wait for the next start').length > 0);
      const passes = agent.passes();
      await until('passes were made meanwhile', () => agent.passes() > passes + 3);
      const [line = '', ...more] = agent.logged('wait for the next start');
      assert.deepEqual(more, []);
      const { level, waiting, inForce, found } = JSON.parse(line);
      assert.equal(level, 40);
      assert.deepEqual(waiting.toSorted(), ['detectLocalMode', 'mode', 'nodePortAddresses']);
      assert.deepEqual([inForce, found], [hashOf(GOOD), hashOf(other)]);
      const metric = async () =>
        (await agent.metrics.text())
          .split('\n')
          .filter((text) => text.startsWith('kube_netlink_proxy_config_'));
      assert.deepEqual(await metric(), [
        `kube_netlink_proxy_config_info{in_force="${inForce}",found="${found}"} 1`,
        'kube_netlink_proxy_config_waiting_fields 3',
      ]);
      writeFileSync(path, GOOD);
      await until('it has logged the return', () => agent.logged('all of it is in force').length > 0);
      assert.deepEqual(await metric(), [
        `kube_netlink_proxy_config_info{in_force="${inForce}",found="${inForce}"} 1`,
        'kube_netlink_proxy_config_waiting_fields 0',
      ]);
      assert.deepEqual([agent.ended(), agent.kernel.state()], [undefined, before]);
      agent.stop();
      assert.equal(await agent.status, 0);
    });

    it('a damaged configuration file, which it reports until the former contents are restored', async () => {
      const { path, configFile } = configurationFile();
      const agent = await startAgent(await startServer('10.244.1.0/24'), { kernel: newKernel(), configFile });
      await until('it has programmed the kernel', () => programmed(agent.kernel) && agent.passes() > 0);
      const gauge =
        'kube_netlink_proxy_left_out_objects{kind="KubeProxyConfiguration",reason="LastReadableKept"}';
      const gaugeIs = async (value: number) => (await agent.metrics.text()).includes(`${gauge} ${value}\n`);
      writeFileSync(path, GOOD.replace('mode: ipvs', 'mode: teapot'));
      await until('it has logged the fault', () => agent.logged('KubeProxyConfiguration').length > 0);
      const passes = agent.passes();
      await until('passes were made meanwhile', () => agent.passes() > passes + 3);
      const [line, ...more] = agent.logged('KubeProxyConfiguration');
      assert.deepEqual(more, []);
      assert.ok(
        line?.includes('"level":50') && line.includes(path) && line.includes('failed validate: '),
        line,
      );
      assert.ok(await gaugeIs(1));
      writeFileSync(path, GOOD);
      await until('the fault is solved', () => agent.logged('problem solved').length > 0);
      assert.ok(await gaugeIs(0));
      agent.stop();
      assert.equal(await agent.status, 0);
    });

    it('an outage of the API server, during which nothing is removed', async () => {
      const server = await startServer('10.244.1.0/24');
      const agent = await startAgent(server, { kernel: newKernel() });
      await until('it has programmed the kernel', () => programmed(agent.kernel) && agent.passes() > 0);
      await until('it watches', () => server.watching(SERVICES) === 1);
      const before = agent.kernel.state();
      await server.close();
      server.store.delete(service('a', ''));
      server.store.delete(slice('a', []));
      server.store.compact();
      const [passes, troubles] = [agent.passes(), agent.troubles()];
      // Audits, as in every syncPeriod.
      await until('passes were made meanwhile', () => agent.passes() >= passes + 5);
      await until('the server was looked for', () => agent.troubles() >= troubles + 6);
      assert.equal(agent.kernel.state(), before);
      await server.start();
      await until('the deleted Service is removed', () => !agent.kernel.state().includes('10.96.0.1'));
      assert.ok(agent.kernel.serves('10.96.0.2:80'));
      agent.stop();
      assert.equal(await agent.status, 0);
    });

    it('a start without the API server: the earlier state of the kernel stays', async () => {
      const server = await startServer('10.244.1.0/24');
      const first = await startAgent(server, { kernel: newKernel() });
      await until('it has programmed the kernel', () => programmed(first.kernel) && first.passes() > 0);
      first.stop();
      await first.status;
      const before = first.kernel.state();
      await server.close();
      const agent = await startAgent(server, { kernel: first.kernel });
      await until('the server was looked for', () => agent.troubles() >= 9);
      assert.equal(agent.passes(), 0);
      assert.equal(agent.kernel.state(), before);
      await server.start();
      await until('a pass has ended', () => agent.passes() > 0);
      assert.equal(agent.kernel.state(), before);
      agent.stop();
      assert.equal(await agent.status, 0);
    });
  });
}

describe('/healthz of a new agent is never 200', () => {
  /** Name → breaks it, and what /livez is once the agent has tried for longer than a change may wait. */
  const rows: Record<
    string,
    readonly [breakIt: (server: ApiServer, kernel: TestKernel) => Promise<void> | void, livez: number]
  > = {
    'its token is refused': [() => {}, 200],
    'its URL has no server': [(server) => server.close(), 200],
    'a module of the kernel is missing, so that the interface cannot be added': [
      (_, kernel) => {
        const { rtnetlink } = kernel.open(AUDIT).kernel as unknown as FakeKernel;
        rtnetlink.fault = (operation) => new NetlinkError({ code: 'EOPNOTSUPP', operation });
      },
      503,
    ],
  };
  for (const [name, [breakIt, livez]] of Object.entries(rows))
    it(`if ${name}; /livez is ${livez} in the end`, async () => {
      const server = await startServer(
        '10.244.1.0/24',
        name.includes('token') ? { tokens: new Set(['another']) } : {},
      );
      const kernel = (TEST_MODES['ipvs'] as () => TestKernel)();
      await breakIt(server, kernel);
      const port = await freePort();
      const agent = await startAgent(server, { kernel, healthzBindAddress: `127.0.0.1:${port}` });
      const status = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
      await until('it listens', () => agent.logged('"starting"').length > 0);
      assert.equal(await status('/healthz'), 503);
      await until('it has tried', () => agent.troubles() >= 3 || agent.passes() >= 2);
      await wait(3 * AUDIT); // A change may wait for twice the period.
      assert.deepEqual([await status('/healthz'), await status('/livez')], [503, livez]);
      agent.stop();
      assert.equal(await agent.status, 0);
    });

  it('but becomes 200 without a fault', async () => {
    const port = await freePort();
    const kernel = (TEST_MODES['ipvs'] as () => TestKernel)();
    const settings = { kernel, healthzBindAddress: `127.0.0.1:${port}` };
    const agent = await startAgent(await startServer('10.244.1.0/24'), settings);
    await until('a pass has ended', () => agent.passes() > 0);
    assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200);
    assert.ok(programmed(agent.kernel));
    agent.stop();
    assert.equal(await agent.status, 0);
  });
});

for (const mode of ['ipvs', 'iptables', 'nftables'])
  it(`in ${mode} mode, load balancers learn that the cluster autoscaler removes the node, on selected loopback addresses too`, async () => {
    const server = await startServer('10.244.1.0/24');
    const [healthz, checked] = [await freePort(), await freePort()];
    const balanced = service('a', '10.96.0.1');
    const own = node('node-a', { podCIDRs: ['10.244.1.0/24'] });
    const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: checked };
    server.store.set({ ...balanced, spec: { ...(balanced['spec'] as object), ...spec } });
    const agent = await startAgent(server, {
      kernel: (TEST_MODES[mode] as () => TestKernel)(),
      healthzBindAddress: `127.0.0.1:${healthz}`,
      host: {
        nodePortAddresses: { 4: [], 6: [] },
        unrestricted: new Set([6]),
        addresses: new Set(),
        loopback: ['127.0.0.1'],
      },
    });
    const status = (port: number, path = '') =>
      fetch(`http://127.0.0.1:${port}${path}`).then(
        (response) => response.status,
        () => 'closed',
      );
    const answers = async () => [
      await status(healthz, '/healthz'),
      await status(healthz, '/livez'),
      await status(checked),
    ];
    const become = async (...expected: (number | string)[]) => {
      const deadline = Date.now() + PATIENCE;
      for (let found = ''; found !== expected.join(); found = (await answers()).join())
        assert.ok(Date.now() < deadline, `${found}, not ${expected.join()}`);
    };
    const { metadata } = own;
    const taints = [{ key: 'ToBeDeletedByClusterAutoscaler', value: '1767600000', effect: 'NoSchedule' }];
    await become(200, 200, 200);
    server.store.set({ ...own, spec: { ...(own['spec'] as object), taints, unschedulable: true } });
    await become(503, 200, 200);
    server.store.set(own);
    await become(200, 200, 200);
    server.store.set({ ...own, metadata: { ...metadata, deletionTimestamp: '2026-01-05T09:00:00Z' } });
    await become(503, 200, 200);
    server.store.set(own);
    server.store.delete(balanced);
    await become(200, 200, 'closed');
    agent.stop();
    assert.equal(await agent.status, 0);
  });

it('an agent of another mode programs nothing until the first one ends', async () => {
  const server = await startServer('10.244.1.0/24');
  const [one, two] = ['ipvs', 'iptables'].map((mode) => (TEST_MODES[mode] as () => TestKernel)());
  assert.ok(one && two);
  const first = await startAgent(server, { kernel: one });
  await until('it has programmed the kernel', () => programmed(one) && first.passes() > 0);
  const before = two.state();
  const second = await startAgent(server, { kernel: two });
  await until('the second one has warned', () => second.logged('another kube-netlink-proxy').length > 0);
  assert.match(second.logged('"starting"').join(), /"mode":"iptables"/);
  assert.deepEqual([second.passes(), two.state()], [0, before]);
  first.stop();
  assert.equal(await first.status, 0);
  await until('the second one has programmed the kernel', () => programmed(two));
  second.stop();
  assert.equal(await second.status, 0);
});

it('base chains of other programs in the tables of nftables mode are named, and stay', async () => {
  const kernel = (TEST_MODES['nftables'] as () => TestKernel)();
  const { nftables } = kernel.open(AUDIT).kernel as unknown as FakeKernel;
  const agent = await startAgent(await startServer('10.244.1.0/24'), { kernel });
  await until('it has programmed the kernel', () => programmed(kernel) && agent.passes() > 0);
  const foreign = { family: 'ip', table: 'kube-proxy', name: 'theirs' } as const;
  await nftables.addChain({ ...foreign, name: 'without-packets' });
  await nftables.addChain({
    ...foreign,
    base: { type: 'filter', hook: 'input', priority: 0, policy: 'drop' },
  });
  const named = () => agent.logged('other programs have base chains').map((line) => JSON.parse(line).chains);
  await until('it is named', () => named().length > 0);
  assert.deepEqual(named(), [['table ip kube-proxy, chain theirs (hook input, priority 0, policy drop)']]);
  assert.match(kernel.state(), /chain theirs \{/);
  await nftables.deleteChain(foreign);
  await until('none is there any more', () => agent.logged('no other program has base chains').length > 0);
  agent.stop();
  assert.equal(await agent.status, 0);
});
