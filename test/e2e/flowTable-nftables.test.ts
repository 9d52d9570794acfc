// nftables mode with a flow table: rollout, drain, fail-fast, source ranges and changes of the mode, while flows are in it.
// Needs: conntrack, nftables, bridge filter, flow table, time
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openLab } from '../laboratory/lab.js';
import { LabHost } from '../laboratory/labHost.js';
import { ManifestFolder } from '../laboratory/manifestFolder.js';
import { PATIENCE } from '../laboratory/patience.js';
import { CLIENT, NODE_A, STRANGER, WEB, WEB_PORT } from '../laboratory/places.js';
import { ProxyProcess, runOnce } from '../laboratory/proxyProcess.js';
import { SteadyClient } from '../laboratory/steadyClient.js';
import { closeAfter } from '../support/closeAfter.js';
import { service, slice } from '../support/clusters/manifests.js';
import { testDrainTimeout } from '../support/disruptions/drainTests.js';
import { testFailFast } from '../support/disruptions/failFastTests.js';
import { FLOW_TABLE_FLAG, flowsComeIntoTable } from '../support/disruptions/flowTables.js';
import { nftablesRollout } from '../support/disruptions/rolloutModes.js';
import { testRollout } from '../support/disruptions/rolloutTests.js';
import { SwitchLab } from '../support/disruptions/switchLab.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';
import { ask } from '../support/namespaces/witnesses.js';

selectBackend('nft');

const FLAGS = ['--proxy-mode=nftables', '--iptables-min-sync-period=0s', FLOW_TABLE_FLAG];

describe('long connections and UDP flows', () => {
  const EXTERNAL_IP = '203.0.113.80';
  const CLUSTER_IP = '10.96.0.80';
  const far = WEB[2] as (typeof WEB)[number];
  const lab = closeAfter(openLab([far]));
  const node = lab.namespace(NODE_A);
  const manifests = closeAfter(new ManifestFolder(''));
  let client: SteadyClient;
  let proxy: ProxyProcess;

  /** Packets of translated flows at the hook of the rules. */
  const seenByRules = () =>
    Number(/packets (\d+)/.exec(ask(node, 'nft', 'list', 'table', 'ip', 'seen'))?.[1]);
  /** Packets of the connection of the client in both directions, as conntrack counts them. */
  const counted = () => {
    const listed = ask(node, 'conntrack', '-L', '-p', 'tcp', '-d', EXTERNAL_IP);
    const packets = [...listed.matchAll(/packets=(\d+)/g)].map(([, number]) => Number(number));
    return packets.reduce((sum, each) => sum + each, 0);
  };
  const writeService = (...ranges: readonly string[]) =>
    manifests.write(
      'service.yaml',
      service(
        'web',
        CLUSTER_IP,
        `  type: LoadBalancer\n  loadBalancerSourceRanges: [${ranges}]\nstatus:\n  loadBalancer:\n    ingress: [{ip: ${EXTERNAL_IP}}]`,
      ),
    );
  const programmed = async (write: () => void) => {
    const lines = proxy.log.length;
    write();
    await proxy.synced(lines);
  };

  before(async () => {
    ask(node, 'nft', 'add table ip seen; add chain ip seen f { type filter hook forward priority 0; }');
    ask(node, 'nft', 'add rule ip seen f ct status dnat counter');
    ask(node, 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1', 'net.netfilter.nf_conntrack_acct=1');
    writeService('192.168.0.0/16', `${STRANGER}/32`);
    manifests.write('slice.yaml', slice('web', far.ipv4));
    const host = closeAfter(await LabHost.open(lab.namespace(far)));
    await host.serve(far.name, { tcp: [WEB_PORT], udp: [] });
    client = closeAfter(await SteadyClient.open(lab.namespace(CLIENT)));
    proxy = closeAfter(new ProxyProcess(node, manifests.path, FLAGS));
    await proxy.programmed();
    await client.connect({ name: 'long', protocol: 'tcp', address: EXTERNAL_IP, port: 80, every: 5 });
    await flowsComeIntoTable(lab, [`dst=${EXTERNAL_IP}`]);
  });

  test('the rules do not see their packets, and conntrack counts them', async () => {
    const [seen, before] = [seenByRules(), counted()];
    for (const deadline = performance.now() + PATIENCE; counted() - before < 400; await delay(50))
      assert.ok(performance.now() < deadline, `${counted() - before} packets were counted`);
    const rest = seenByRules() - seen;
    assert.ok(rest <= 4, `the rules saw ${rest} of ${counted() - before} packets`);
  });

  test('source ranges that exclude the client refuse new connections, and end none, as without the table', async () => {
    await programmed(() => writeService(`${STRANGER}/32`));
    const attempt = ask(
      lab.namespace(CLIENT),
      ...['sh', '-c', `timeout 2 bash -c '</dev/tcp/${EXTERNAL_IP}/80' || echo refused`],
    );
    assert.equal(attempt, 'refused\n');
    const { answers, error } = (await client.report())['long'] ?? {};
    const last = answers?.[far.name]?.last ?? 0;
    for (const deadline = performance.now() + PATIENCE; ; await delay(50)) {
      const now = (await client.report())['long']?.answers[far.name]?.last ?? 0;
      if (now > last + 500) break;
      assert.ok(performance.now() < deadline, `no answer since the change; ${error}`);
    }
    await programmed(() => writeService('192.168.0.0/16', `${STRANGER}/32`));
  });

  test('a link that comes is in the table, and one that goes is not', async () => {
    const links = () => ask(node, 'nft', 'list', 'flowtables', 'ip');
    await programmed(() => ask(node, 'ip', 'link', 'add', 'more0', 'type', 'veth', 'peer', 'name', 'more1'));
    assert.match(links(), /more0/);
    await programmed(() => ask(node, 'ip', 'link', 'delete', 'more0'));
    assert.doesNotMatch(links(), /more[01]/);
    assert.match(links(), /eth0/);
    assert.deepEqual(
      proxy.log.filter(({ failures }) => Number(failures) > 0),
      [],
    );
  });

  test('what another program deletes is restored; a restart has no operations', async () => {
    for (const family of ['ip', 'ip6']) {
      await programmed(() =>
        ask(
          node,
          'nft',
          `flush chain ${family} kube-proxy flow-table-forward; delete flowtable ${family} kube-proxy services`,
        ),
      );
      assert.match(ask(node, 'nft', 'list', 'table', family, 'kube-proxy'), /flow add @services/);
      assert.match(ask(node, 'nft', 'list', 'flowtables', family), /eth0/);
    }
    const { stdout, stderr } = await runOnce(node, manifests.path, FLAGS);
    assert.match(stdout, /^1 service: 0 kernel operations /, stderr);
  });
});

describe('fail-fast', () => {
  const words = [4, 6].flatMap((family) => [
    [`dst=${family === 4 ? '10.96.40.3' : 'fd00:10:96:40::3'}`, 'tcp'],
    [`dst=${family === 4 ? '10.96.40.8' : 'fd00:10:96:40::8'}`, 'udp'],
    [`dst=${family === 4 ? NODE_A.ipv4 : NODE_A.ipv6}`, 'dport=30080'],
  ]);
  testFailFast({ flags: FLAGS, resetsRemoved: false, whenOpen: (lab) => flowsComeIntoTable(lab, ...words) });
});

describe('draining', () => {
  const words = ['10.96.41', 'fd00:10:96:41:'].flatMap((network) =>
    [1, 2, 3, 4].map((host) => [`dst=${network}${network.includes(':') ? ':' : '.'}${host} `]),
  );
  testDrainTimeout(FLAGS, (lab) => flowsComeIntoTable(lab, ...words));
});

describe('a rollout', () => {
  const { flags, ...mode } = nftablesRollout('scalable');
  testRollout({
    ...mode,
    flags: [...flags, FLOW_TABLE_FLAG],
    whenOpen: (lab) => flowsComeIntoTable(lab, ['dst=10.96.0.80'], ['dst=203.0.113.80']),
  });
});

describe('changes of mode and layout', () => {
  let lab: SwitchLab;
  before(async () => {
    lab = await SwitchLab.open('nftables', '10s');
  });
  const flowTables = () =>
    ask(lab.node, 'nft', 'list', 'flowtables').match(/flowtable services/g)?.length ?? 0;
  const offloaded = () => flowsComeIntoTable({ namespace: () => lab.node }, ['dst=203.0.113.80']);

  for (const [mode, ...flags] of [
    ['nftables', FLOW_TABLE_FLAG],
    ['iptables'],
    ['nftables', FLOW_TABLE_FLAG, '--nftables-layout=scalable'],
    ['nftables', FLOW_TABLE_FLAG],
    ['nftables'],
  ] as const)
    test(`to ${mode} ${flags.join(' ')}: no request fails, and no flow table is left that is not wanted`, async () => {
      await lab.whileAsking(async () => {
        await lab.change(mode, ...flags);
        if (flags.length > 0) await offloaded();
      });
      const wanted = flags.length > 0 ? 2 : 0;
      for (const deadline = performance.now() + PATIENCE; flowTables() !== wanted; await delay(200))
        assert.ok(performance.now() < deadline, `${flowTables()} flow tables`);
    });
});
