import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { helpText, type KernelCommand, readFlags, UsageError } from '../../../src/config/flags.js';
import { loadConfiguration } from '../../../src/config/load.js';

function load(...args: string[]) {
  const command = readFlags(['--manifests', 'm', '--hostname-override', 'Node-A', ...args]);
  assert.equal(command.do, 'run');
  return loadConfiguration(command as KernelCommand);
}

describe('the command line', () => {
  it('has defaults', () => {
    const { configuration, nodeName } = load();
    assert.equal(nodeName, 'node-a');
    assert.deepEqual(configuration, {
      hostnameOverride: '',
      clusterCIDR: {},
      detectLocalMode: 'ClusterCIDR',
      detectLocal: { bridgeInterface: '', interfaceNamePrefix: '' },
      nodePortAddresses: [],
      bindAddress: '0.0.0.0',
      iptables: { masqueradeAll: false, masqueradeBit: 14 },
      ipvs: {
        scheduler: 'rr',
        strictARP: false,
        excludeCIDRs: [],
        tcpTimeout: 0,
        tcpFinTimeout: 0,
        udpTimeout: 0,
        syncPeriod: 30_000,
      },
    });
  });

  it("sets what kube-proxy's flags of these names set", () => {
    const { configuration } = load(
      '--cluster-cidr=10.244.1.1/16,fd00:10:244::/48',
      '--masquerade-all',
      '--iptables-masquerade-bit=9',
      '--ipvs-scheduler=lc',
      '--ipvs-strict-arp',
      '--ipvs-tcp-timeout=15m0s',
      '--ipvs-sync-period=1m',
      '--nodeport-addresses=192.168.50.0/24,10.0.0.0/8',
    );
    assert.deepEqual(configuration.clusterCIDR, { 4: '10.244.0.0/16', 6: 'fd00:10:244::/48' });
    assert.deepEqual(configuration.iptables, { masqueradeAll: true, masqueradeBit: 9 });
    const { scheduler, strictARP, tcpTimeout, syncPeriod } = configuration.ipvs;
    assert.deepEqual([scheduler, strictARP, tcpTimeout, syncPeriod], ['lc', true, 900, 60_000]);
    assert.deepEqual(configuration.nodePortAddresses, ['192.168.50.0/24', '10.0.0.0/8']);
  });

  it("takes the node's own address, and node ports on it alone", () => {
    const { configuration } = load('--bind-address=2001:DB8::5', '--nodeport-addresses=primary');
    assert.equal(configuration.bindAddress, '2001:db8::5');
    assert.equal(configuration.nodePortAddresses, 'primary');
  });

  const refused: [args: string[], message: RegExp][] = [
    [['--cluster-cidr=10.0.0.0'], /clusterCIDR: must be one network .*found "10\.0\.0\.0"/],
    [['--cluster-cidr=10.0.0.0/8,10.0.0.0/9'], /clusterCIDR: must be one network/],
    [['--iptables-masquerade-bit=32'], /iptables\.masqueradeBit: must be an integer from 0 to 31, found 32/],
    [['--iptables-masquerade-bit=x'], /iptables\.masqueradeBit: must be an integer from 0 to 31, found "x"/],
    [['--bind-address=zz'], /bindAddress: must be an IPv4 or IPv6 address, found "zz"/],
    [['--nodeport-addresses=primary,10.0.0.0/8'], /nodePortAddresses: must not hold both/],
    [['--ipvs-scheduler=../../etc'], /ipvs\.scheduler: must be the name/],
    [['--detect-local-mode=Magic'], /detectLocalMode: must be ClusterCIDR/],
    [['--detect-local-mode=BridgeInterface'], /detectLocal\.bridgeInterface: must not be empty/],
    [['--ipvs-udp-timeout=soon'], /ipvs\.udpTimeout: must be a duration of 0 or more.*found "soon"/],
    [['--drain-timeout=-1s'], /--drain-timeout must be a duration/],
    [['--v=11'], /--v must be an integer from 0 to 10/],
    [['--frobnicate'], /unknown flag '--frobnicate'/],
    [['--once=maybe'], /--once/],
    [['stop'], /there is no command stop/],
    [['run', 'what'], /run takes no arguments, found what/],
    [['--hostname-override= '], /--hostname-override must not be empty/],
  ];
  for (const [args, message] of refused) {
    it(`refuses ${args.join(' ')}`, () => {
      assert.throws(
        () => load(...args),
        (error) => error instanceof UsageError && message.test(error.message),
      );
    });
  }

  it('needs manifests, but to clean up', () => {
    assert.throws(() => readFlags([]), /--manifests must name/);
    assert.throws(() => readFlags(['plan']), /--manifests must name/);
    assert.equal(readFlags(['--cleanup']).do, 'cleanup');
    assert.equal(readFlags(['plan', '--manifests', 'm']).do, 'plan');
  });

  it('prints help and the version before it looks at anything else', () => {
    assert.deepEqual(readFlags(['-h']), { do: 'help' });
    assert.deepEqual(readFlags(['--version', '--manifests', 'x']), { do: 'version' });
    for (const flag of ['--manifests', '--once', '--hostname-override', '--cluster-cidr', '--help']) {
      assert.ok(helpText().includes(flag), flag);
    }
  });
});

describe('a configuration file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-config-'));
  const file = (text: string) => {
    const path = join(folder, 'config.conf');
    writeFileSync(path, text);
    return `--config=${path}`;
  };
  const head = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

  it('stands for the flags; empty values mean the default, fields without use here are passed over', () => {
    const path = file(
      `${head}mode: ipvs\nclusterCIDR: 10.244.0.0/16\nipvs: {scheduler: ""}\nwinkernel: {enableDSR: false}\n`,
    );
    const { configuration, nodeName } = load(path, '--ipvs-scheduler=lc');
    assert.equal(configuration.ipvs.scheduler, 'rr');
    assert.deepEqual(configuration.clusterCIDR, { 4: '10.244.0.0/16' });
    assert.equal(nodeName, 'node-a');
  });

  it('is refused whole when a field breaks its rule', () => {
    const path = file(`${head}mode: nftables\niptables: {masqueradeBit: 40}\n`);
    assert.throws(() => load(path), /masqueradeBit: must be.*\n.*mode: must be ipvs, found "nftables"/);
  });

  it('is refused when it is something else, or nothing', () => {
    assert.throws(() => load(file('kind: Pod\n')), /kind must be KubeProxyConfiguration/);
    assert.throws(() => load(file('kind: [\n')), UsageError);
    rmSync(folder, { recursive: true });
    assert.throws(() => load('--config=/nowhere/at/all'), /ENOENT/);
  });
});
