import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type KernelCommand, readFlags } from '../../../../src/command/config/commandLine.js';
import { defaultConfiguration } from '../../../../src/command/config/configuration.js';
import { DecodingError, decodeFile } from '../../../../src/command/config/file.js';
import { ConfigurationError, loadConfiguration } from '../../../../src/command/config/load.js';
import type { Configuration } from '../../../../src/command/config/schema.js';
import {
  externalConfiguration,
  formatConfiguration,
  writeConfiguration,
} from '../../../../src/command/config/writeConfig.js';
import { MODES } from '../../../../src/command/modes/select.js';
import { decodeConfiguration } from '../../../support/clusters/decodeConfiguration.js';
import { kubeadmConfiguration } from '../../../support/deployment/kubeadm.js';

const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

/** The configuration in kubeadm's ConfigMap. */
const KUBEADM = kubeadmConfiguration('/var/lib/kube-proxy/kubeconfig.conf');

const folder = mkdtempSync(join(tmpdir(), 'knp-config-'));
after(() => rmSync(folder, { recursive: true }));

/** What is left of a configuration that was written: zero means the default. */
function inItsMode(configuration: Configuration): Configuration {
  const { ipvs, iptables, nftables } = defaultConfiguration();
  const { mode } = configuration;
  const periods = ({ syncPeriod, minSyncPeriod }: Configuration['ipvs' | 'iptables' | 'nftables']) => ({
    syncPeriod,
    minSyncPeriod,
  });
  return {
    ...configuration,
    ipvs: { ...configuration.ipvs, ...(mode !== 'ipvs' && periods(ipvs)) },
    iptables: {
      ...configuration.iptables,
      ...(['ipvs', 'nftables'].includes(mode) && periods(iptables)),
      ...(mode === 'nftables' && { masqueradeAll: false }),
    },
    nftables: {
      ...configuration.nftables,
      ...(mode !== 'nftables' && { ...periods(nftables), masqueradeAll: false }),
    },
  };
}

function load(text: string, ...args: string[]) {
  const path = join(folder, 'config.conf');
  writeFileSync(path, text);
  return loadConfiguration(readFlags([`--config=${path}`, ...args]) as KernelCommand, MODES);
}

describe("kubeadm's configuration", () => {
  const { configuration, nodeName, notices } = load(KUBEADM, '--hostname-override=Node-A');

  it('has the defaults, except for the settings of kubeadm', () => {
    const plain = defaultConfiguration();
    assert.deepEqual(configuration, {
      ...plain,
      mode: 'iptables',
      clusterCIDR: '10.244.0.0/16',
      hostnameOverride: 'node-a',
      clientConnection: { ...plain.clientConnection, kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf' },
    });
    assert.equal(nodeName, 'node-a');
  });

  it("has kube-proxy's defaults", () => {
    const { iptables, ipvs, conntrack, clientConnection, logging } = configuration;
    assert.deepEqual(iptables, {
      masqueradeBit: 14,
      masqueradeAll: false,
      localhostNodePorts: true,
      syncPeriod: 30_000,
      minSyncPeriod: 1000,
    });
    assert.deepEqual([ipvs.syncPeriod, ipvs.minSyncPeriod, ipvs.excludeCIDRs], [30_000, 0, []]);
    assert.deepEqual(conntrack, {
      maxPerCore: 32_768,
      min: 131_072,
      tcpEstablishedTimeout: 86_400_000,
      tcpCloseWaitTimeout: 3_600_000,
      tcpBeLiberal: false,
      udpTimeout: 0,
      udpStreamTimeout: 0,
    });
    assert.deepEqual([clientConnection.qps, clientConnection.burst], [5, 10]);
    assert.equal(clientConnection.contentType, 'application/vnd.kubernetes.protobuf');
    assert.deepEqual([logging.format, logging.flushFrequency], ['text', 5000]);
    assert.deepEqual([configuration.oomScoreAdj, configuration.configSyncPeriod], [-999, 900_000]);
    assert.deepEqual(
      [configuration.healthzBindAddress, configuration.metricsBindAddress, configuration.detectLocalMode],
      ['0.0.0.0:10256', '127.0.0.1:10249', 'ClusterCIDR'],
    );
  });

  it('has one warning: blank means iptables mode', () => {
    assert.deepEqual(notices, [
      'mode is blank, which means iptables mode, as in kube-proxy; for ipvs mode, set it to ipvs',
    ]);
  });

  it("has the family of bindAddress in the servers' addresses", () => {
    const { configuration: six } = load(KUBEADM.replace('bindAddress: 0.0.0.0', 'bindAddress: "::"'));
    assert.deepEqual([six.healthzBindAddress, six.metricsBindAddress], ['[::]:10256', '[::1]:10249']);
    const { configuration: own } = load(`${HEAD}healthzBindAddress: 10.0.0.1\nmetricsBindAddress: "::"\n`);
    assert.deepEqual([own.healthzBindAddress, own.metricsBindAddress], ['10.0.0.1:10256', '[::]:10249']);
    const { configuration: odd } = load(
      `${HEAD}healthzBindAddress: 010.0.0.1:1\nmetricsBindAddress: "[0::]:2"\n`,
    );
    assert.deepEqual([odd.healthzBindAddress, odd.metricsBindAddress], ['10.0.0.1:1', '[::]:2']);
  });
});

describe('a configuration file', () => {
  it('keeps zero values where zero is valid', () => {
    const text = `${HEAD}conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s}\noomScoreAdj: 0\niptables: {masqueradeBit: 0}\n`;
    const { configuration } = decodeFile(text);
    const { conntrack, oomScoreAdj, iptables } = configuration;
    assert.deepEqual([conntrack.maxPerCore, conntrack.min, conntrack.tcpEstablishedTimeout], [0, 0, 0]);
    assert.deepEqual([oomScoreAdj, iptables.masqueradeBit], [0, 0]);
  });

  it('may give the time between flushes in ns', () => {
    const { configuration } = decodeFile(`${HEAD}logging: {flushFrequency: 2000000000}\n`);
    assert.equal(configuration.logging.flushFrequency, 2000);
  });

  it('may be JSON', () => {
    const json = JSON.stringify({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      ipvs: { scheduler: 'lc' },
    });
    assert.equal(decodeFile(json).configuration.ipvs.scheduler, 'lc');
  });

  it('is accepted with unknown and duplicate fields, and a warning names them; the last duplicate wins', () => {
    const text = `${HEAD}ipvs:\n  scheduler: lc\n  ipSet: 1\nfoo: 1\nipvs:\n  scheduler: sh\n  bar: x\n`;
    const { configuration, warnings } = decodeFile(text);
    assert.equal(configuration.ipvs.scheduler, 'sh');
    assert.deepEqual(warnings, [
      'Using lenient decoding as strict decoding failed err="strict decoding error: line 7: key \\"ipvs\\" already set in map, unknown field \\"foo\\", unknown field \\"ipvs.bar\\""',
    ]);
  });

  const broken: [text: string, message: RegExp][] = [
    ['kind: KubeProxyConfiguration\n', /^failed to decode: Object 'apiVersion' is missing in 'kind: Kube/],
    ['apiVersion: v1\n', /^failed to decode: Object 'Kind' is missing in 'apiVersion: v1'$/],
    ['', /^failed to decode: Object 'Kind' is missing in ''$/],
    ['- 1\n', /^failed to decode: Object 'Kind' is missing/],
    ['apiVersion: v1\nkind: Pod\n', /^failed to decode: no kind "Pod" is registered for version "v1"$/],
    ['kind: [\n', /^failed to decode: yaml: /],
    [`${HEAD}mode: *nobody\n`, /^failed to decode: yaml: Unresolved alias/],
    [`${HEAD}clientConnection: {qps: 1.0e+39}\n`, /cannot unmarshal number 1e\+39 into Go struct field/],
    [`${HEAD}clientConnection: {qps: .inf}\n`, /cannot unmarshal number Infinity into Go struct field/],
    [
      `${HEAD}iptables: {masqueradeBit: many}\nmode: 5\n`,
      /^failed to decode: json: cannot unmarshal number 5 into Go struct field KubeProxyConfiguration\.mode of type string\nfailed to decode: json: cannot unmarshal string into Go struct field KubeProxyIPTablesConfiguration\.iptables\.masqueradeBit of type int32$/,
    ],
    [
      `${HEAD}ipvs: [1]\n`,
      /^failed to decode: json: cannot unmarshal array into Go struct field KubeProxyConfiguration\.ipvs of type v1alpha1\.KubeProxyIPVSConfiguration$/,
    ],
    [
      `${HEAD}nodePortAddresses: primary\n`,
      /^failed to decode: json: cannot unmarshal string into Go struct field KubeProxyConfiguration\.nodePortAddresses of type \[\]string$/,
    ],
    [
      `${HEAD}featureGates: {X: "yes"}\n`,
      /cannot unmarshal string into Go struct field KubeProxyConfiguration\.featureGates of type bool$/,
    ],
    [
      `${HEAD}ipvs: {syncPeriod: 30}\n`,
      /cannot unmarshal number 30 into Go value of type string \(ipvs\.syncPeriod\)$/,
    ],
    [
      `${HEAD}logging: {flushFrequency: 1.5}\n`,
      /invalid duration "1\.5": json: cannot unmarshal number 1\.5 into Go value of type time\.Duration \(logging\.flushFrequency\)$/,
    ],
    [`${HEAD}ipvs: {syncPeriod: 30x}\n`, /time: unknown unit "x" in duration "30x" \(ipvs\.syncPeriod\)$/],
    [
      `${HEAD}logging: {options: {json: {infoBufferSize: lots}}}\n`,
      /quantities must match .* \(logging\.options\.json\.infoBufferSize\)$/,
    ],
  ];
  for (const [text, message] of broken) {
    it(`is rejected: ${JSON.stringify(text.replace(HEAD, ''))}`, () => {
      assert.throws(
        () => decodeFile(text),
        (error) => {
          assert.ok(error instanceof DecodingError);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});

describe('any value of a field', () => {
  const JUNK = [
    null,
    true,
    0,
    -1,
    1.5,
    1e99,
    '',
    'x',
    '-5',
    '10.0.0.0/8',
    '1h',
    [],
    [null],
    [1],
    ['x'],
    {},
    { x: {} },
  ];
  const paths = (value: object, path: string[] = []): string[][] =>
    Object.entries(value).flatMap(([name, below]) => [
      [...path, name],
      ...(typeof below === 'object' && !Array.isArray(below) ? paths(below, [...path, name]) : []),
    ]);

  for (const path of paths(defaultConfiguration())) {
    it(`is rejected, or is the same after writing and reading: ${path.join('.')}`, () => {
      for (const junk of JUNK) {
        const raw = path.reduceRight<unknown>((below, name) => ({ [name]: below }), junk);
        const { configuration, problems } = decodeConfiguration(raw as Record<string, unknown>);
        for (const problem of problems)
          assert.match(problem, /^(failed (complete|validate)|initialize logging): /);
        if (problems.length === 0) {
          assert.deepEqual(
            decodeFile(formatConfiguration(configuration, MODES)).configuration,
            inItsMode(configuration),
          );
        }
      }
    });
  }
});

describe('a configuration that is loaded', () => {
  const refusal = (run: () => unknown) => {
    let message = '';
    assert.throws(run, (error) => {
      assert.ok(error instanceof ConfigurationError);
      message = error.message;
      return true;
    });
    return message.split('\n');
  };

  it('is rejected with every error on its own line, with its prefix', () => {
    assert.deepEqual(
      refusal(() => load(`${HEAD}mode: x\nipvs: {syncPeriod: 1x}\n`)),
      ['failed complete: failed to decode: time: unknown unit "x" in duration "1x" (ipvs.syncPeriod)'],
    );
    assert.equal(
      refusal(() => load(`${HEAD}mode: x\noomScoreAdj: 2000\nfeatureGates: {X: true}\n`)).length,
      3,
    );
  });

  it('is rejected without a file', () => {
    const missing = () => loadConfiguration(readFlags(['--config=/nowhere/at/all']) as KernelCommand, MODES);
    assert.deepEqual(refusal(missing), ['failed complete: open /nowhere/at/all: no such file or directory']);
    const directory = () => loadConfiguration(readFlags([`--config=${folder}`]) as KernelCommand, MODES);
    assert.deepEqual(refusal(directory), [`failed complete: read ${folder}: is a directory`]);
  });

  it('may have any mode of kube-proxy for a clean-up', () => {
    for (const mode of ['', 'ipvs', 'iptables', 'nftables']) {
      const { configuration, notices } = load(`${HEAD}mode: "${mode}"\n`, '--cleanup');
      assert.deepEqual([configuration.mode, notices], [mode || 'iptables', []]);
    }
    assert.match(refusal(() => load(`${HEAD}mode: zz\n`, '--cleanup'))[0] ?? '', /Mode\.ProxyMode/);
  });

  it('is that of the file: other flags have no effect, and a warning', () => {
    const { configuration, notices } = load(
      `${HEAD}mode: ipvs\n`,
      '--ipvs-scheduler=lc',
      '--proxy-mode=iptables',
    );
    assert.equal(configuration.ipvs.scheduler, '');
    assert.deepEqual(notices, [
      '--ipvs-scheduler has no effect: --config is given',
      '--proxy-mode has no effect: --config is given',
    ]);
  });

  it('is overridden by flags about the process', () => {
    const text = `${HEAD}mode: ipvs\nhostnameOverride: File\nlogging: {verbosity: 2, vmodule: [{filePattern: f, verbosity: 1}]}\n`;
    assert.equal(load(text).nodeName, 'file');
    const { configuration, nodeName } = load(text, '--hostname-override=Flag', '-v=5', '--vmodule=g=3');
    assert.equal(nodeName, 'flag');
    assert.equal(configuration.logging.verbosity, 5);
    assert.deepEqual(
      configuration.logging.vmodule.map(({ filePattern }) => filePattern),
      ['g', 'f'],
    );
  });
});

describe('a configuration that is written', () => {
  const full = `${HEAD}mode: ipvs
featureGates: {AllAlpha: true}
bindAddress: 192.0.2.1
clientConnection: {qps: 2.5, burst: 7, kubeconfig: /k, acceptContentTypes: a}
clusterCIDR: 10.0.0.0/8,fd00::/48
conntrack: {maxPerCore: 0, udpTimeout: 1m30s, tcpBeLiberal: true}
detectLocalMode: BridgeInterface
detectLocal: {bridgeInterface: cni0}
hostnameOverride: "yes"
ipvs: {excludeCIDRs: [10.1.0.0/16], syncPeriod: 1.5s, tcpTimeout: 1h}
logging: {verbosity: 3, vmodule: [{filePattern: "a*", verbosity: 2}], options: {text: {splitStream: true}}}
nodePortAddresses: [primary]
oomScoreAdj: 0
portRange: 1-2
windowsRunAsService: true
winkernel: {enableDSR: true, networkName: net}
`;
  for (const [name, text] of [
    ['of kubeadm', KUBEADM],
    ['that sets everything', full],
    ['that says nothing', HEAD],
  ] as const) {
    it(`is the same after reading: one ${name}`, () => {
      const { configuration } = load(text, '--hostname-override=node-a');
      const written = formatConfiguration(configuration, MODES);
      const again = decodeFile(written);
      assert.deepEqual(again.warnings, []);
      assert.deepEqual(again.configuration, inItsMode(configuration));
      assert.equal(formatConfiguration(again.configuration, MODES), written);
    });
  }

  it('has zero in the fields of other modes of which kube-proxy has one for all modes', () => {
    const periods = 'syncPeriod: 7s, minSyncPeriod: 2s, masqueradeAll: true';
    const sections = `iptables: {${periods}}\nipvs: {syncPeriod: 8s, minSyncPeriod: 3s}\nnftables: {${periods}}\n`;
    const fields = (mode: string) => {
      const { configuration } = load(`${HEAD}mode: ${mode}\n${sections}`);
      const { ipvs, iptables, nftables } = externalConfiguration(configuration, MODES) as Record<
        string,
        object
      >;
      return [ipvs, iptables, nftables].map((section) => {
        const { syncPeriod, minSyncPeriod, masqueradeAll } = section as Record<string, unknown>;
        return [syncPeriod, minSyncPeriod, masqueradeAll].filter((value) => value !== undefined).join(' ');
      });
    };
    assert.deepEqual(fields('""'), ['0s 0s', '7s 2s true', '0s 0s false']);
    assert.deepEqual(fields('iptables'), ['0s 0s', '7s 2s true', '0s 0s false']);
    assert.deepEqual(fields('ipvs'), ['8s 3s', '0s 0s true', '0s 0s false']);
    assert.deepEqual(fields('nftables'), ['0s 0s', '0s 0s false', '7s 2s true']);
  });

  it('has every field, in alphabetical order, and the effective mode', () => {
    const lines = formatConfiguration(load(KUBEADM).configuration, MODES).split('\n');
    const names = (text: string[]) =>
      text.filter((line) => /^\w/.test(line)).map((line) => line.split(':')[0]);
    assert.deepEqual(names(lines), names(KUBEADM.split('\n')));
    for (const line of [
      'mode: iptables',
      'detectLocalMode: ClusterCIDR',
      'nodePortAddresses: null',
      'hostnameOverride: ""',
    ]) {
      assert.ok(lines.includes(line), line);
    }
  });

  it('overwrites a file', () => {
    const path = join(folder, 'written.yaml');
    writeFileSync(path, 'x'.repeat(10_000));
    const { configuration } = load(full);
    writeConfiguration(path, configuration, MODES);
    assert.equal(readFileSync(path, 'utf8'), formatConfiguration(configuration, MODES));
    const nowhere = join(folder, 'no/where');
    assert.throws(() => writeConfiguration(nowhere, configuration, MODES), {
      message: `open ${nowhere}: no such file or directory`,
    });
  });

  it('is validated without apiVersion and kind', () => {
    const { problems, unknown } = decodeConfiguration({ mode: 'ipvs', surprise: 1 });
    assert.deepEqual([problems, unknown], [[], ['surprise']]);
  });
});
