import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KernelCommand, readFlags } from '../../../../src/command/config/commandLine.js';
import { defaultConfiguration } from '../../../../src/command/config/configuration.js';
import { flagWarnings, ignoredFields, whyIgnored } from '../../../../src/command/config/ignored.js';
import { MODES } from '../../../../src/command/modes/select.js';
import { decodeConfiguration } from '../../../support/clusters/decodeConfiguration.js';

const warnings = (raw: Record<string, unknown>, withManifests = false) =>
  ignoredFields(decodeConfiguration(raw).configuration, withManifests, MODES);
const warningsOf = (...args: string[]) => warningsIn('ipvs', ...args);
const warningsIn = (mode: string, ...args: string[]) =>
  flagWarnings((readFlags(args) as KernelCommand).given, mode, MODES);

describe('a field without effect', () => {
  const cases: [raw: Record<string, unknown>, path: string][] = [
    [{ portRange: '1-2' }, 'portRange'],
    [{ showHiddenMetricsForVersion: '1.35' }, 'showHiddenMetricsForVersion'],
    [{ windowsRunAsService: true }, 'windowsRunAsService'],
    [{ winkernel: { enableDSR: true } }, 'winkernel.enableDSR'],
    [{ nftables: { masqueradeBit: 3 } }, 'nftables.masqueradeBit'],
    [{ mode: 'ipvs', iptables: { localhostNodePorts: false } }, 'iptables.localhostNodePorts'],
    [{ mode: 'ipvs', iptables: { syncPeriod: '1m' } }, 'iptables.syncPeriod'],
    [{ mode: 'ipvs', iptables: { minSyncPeriod: '5s' } }, 'iptables.minSyncPeriod'],
    [{ mode: 'iptables', ipvs: { scheduler: 'lc' } }, 'ipvs.scheduler'],
    [{ mode: 'iptables', ipvs: { strictARP: true } }, 'ipvs.strictARP'],
    [{ clientConnection: { contentType: 'application/json' } }, 'clientConnection.contentType'],
    [{ clientConnection: { acceptContentTypes: 'x' } }, 'clientConnection.acceptContentTypes'],
    [{ configSyncPeriod: '1m' }, 'configSyncPeriod'],
    [{ featureGates: { AllBeta: false } }, 'featureGates.AllBeta'],
    [{ mirroredVersion: '1.38', featureGates: { AllAlpha: true } }, 'featureGates.AllAlpha'],
    [{ mirroredVersion: '1.37', featureGates: { NFTablesNetlink: true } }, 'featureGates.NFTablesNetlink'],
    [{ mirroredVersion: '1.37', featureGates: { SomeLaterGate: true } }, 'featureGates.SomeLaterGate'],
    [
      {
        mode: 'iptables',
        mirroredVersion: '1.37',
        featureGates: { KubeProxyNFTablesLocalhostNodePorts: true },
      },
      'featureGates.KubeProxyNFTablesLocalhostNodePorts',
    ],
    [{ logging: { flushFrequency: '1s' } }, 'logging.flushFrequency'],
    [{ logging: { vmodule: [{ filePattern: 'a', verbosity: 1 }] } }, 'logging.vmodule'],
    [{ logging: { options: { text: { splitStream: true } } } }, 'logging.options.text.splitStream'],
  ];
  for (const [raw, path] of cases) {
    it(`has one warning: ${path}`, () => {
      const found = warnings(raw);
      assert.equal(found.length, 1);
      assert.ok(found[0]?.startsWith(`${path} has no effect: `), found[0]);
    });
  }

  it('has the reason of the mode that has the section, also where another mode, or none, is selected', () => {
    for (const mode of ['nftables', 'ipvs', 'iptables', '']) {
      const [found, ...others] = warnings({ mode, nftables: { syncPeriod: '5m' } });
      assert.match(found ?? '', /^nftables\.syncPeriod has no effect: the kernel reports changes/);
      assert.deepEqual(others, []);
    }
  });

  it('in no mode names a mode that would use it', () => {
    for (const section of ['ipvs', 'iptables', 'nftables'] as const) {
      for (const field of Object.keys(defaultConfiguration()[section])) {
        const path = `${section}.${field}`;
        assert.doesNotMatch(whyIgnored(path, MODES) ?? '', /only \w+ mode uses it|does not use it/, path);
      }
    }
  });

  it('has no warning while it has its default; nor has a field with effect', () => {
    const raw = {
      mode: 'ipvs',
      iptables: { masqueradeAll: true, syncPeriod: '30s', localhostNodePorts: true },
      ipvs: { scheduler: 'lc', excludeCIDRs: ['10.0.0.0/8'] },
      winkernel: { networkName: '' },
      featureGates: {
        AllowServiceExternalIPs: false,
        ComponentFlagz: true,
        ComponentStatusz: true,
        LoggingAlphaOptions: true,
      },
      nodePortAddresses: ['primary'],
    };
    assert.deepEqual(warnings(raw), []);
    const iptables = { localhostNodePorts: false, syncPeriod: '1m', minSyncPeriod: '5s', masqueradeBit: 3 };
    assert.deepEqual(warnings({ mode: 'iptables', iptables }), []);
    const gates = { KubeProxyIPVS: true, KubeProxyNFTablesLocalhostNodePorts: true, AllAlpha: true };
    assert.deepEqual(warnings({ mode: 'nftables', mirroredVersion: '1.37', featureGates: gates }), []);
    const later = { mode: 'nftables', mirroredVersion: '1.38', featureGates: { AllBeta: false } };
    assert.deepEqual(warnings(later), []);
  });
});

it('a setting of the API client or the node has no effect if manifests are the source, and has a warning', () => {
  const raw = {
    clientConnection: { kubeconfig: '/k', contentType: 'application/json' },
    conntrack: { min: 1 },
    oomScoreAdj: 0,
  };
  assert.deepEqual(warnings(raw, true), [
    'clientConnection.kubeconfig has no effect: --manifests is the source of objects',
    'clientConnection.contentType has no effect: requests to the API server use JSON',
    'oomScoreAdj has no effect: with --manifests, settings of the node are not changed',
    'conntrack.min has no effect: with --manifests, settings of the node are not changed',
  ]);
  assert.equal(warnings(raw).length, 1);
  assert.deepEqual(warnings({}, true), []);
  assert.deepEqual(warningsOf('--manifests=m', '--master=https://a'), [
    '--master has no effect: --manifests is the source of objects',
  ]);
});

describe('a flag without effect', () => {
  it('has one warning', () => {
    assert.deepEqual(warningsOf('--boot-id-file=/x', '--machine-id-file=/y', '--machine-id-file=/z'), [
      '--boot-id-file has no effect: it is unused, as in kube-proxy',
      '--machine-id-file has no effect: it is unused, as in kube-proxy',
    ]);
    assert.deepEqual(
      warningsOf('--config=/c', '--cluster-cidr=10.0.0.0/8', '--v=2', '--once', '--master=m'),
      ['--cluster-cidr has no effect: --config is given'],
    );
    assert.deepEqual(warningsOf('--cluster-cidr=10.0.0.0/8'), []);
  });

  it('in the mode has one warning, but not with --cleanup, which removes the state of every mode', () => {
    const flags = ['--cures=endpoint-order', '--ipvs-own-all'];
    assert.deepEqual(warningsIn('ipvs', ...flags), []);
    assert.deepEqual(warningsIn('iptables', ...flags), [
      '--cures has no effect: only ipvs mode uses it',
      '--ipvs-own-all has no effect: only ipvs mode uses it',
    ]);
    assert.deepEqual(warningsIn('iptables', '--cleanup', '--ipvs-own-all'), []);
  });

  it("or that is deprecated has kube-proxy's warning", () => {
    assert.deepEqual(warningsOf('--healthz-port=1'), [
      'Flag --healthz-port has been deprecated, This flag is deprecated and will be removed in a future release. Please use --healthz-bind-address instead.',
    ]);
  });
});
