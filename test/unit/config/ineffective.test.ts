import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KernelCommand, readFlags } from '../../../src/config/flags.js';
import { ineffectiveFields, ineffectiveFlags } from '../../../src/config/ineffective.js';
import { decodeConfiguration } from '../../support/decodeConfiguration.js';

const told = (raw: Record<string, unknown>, besideManifests = false) =>
  ineffectiveFields(decodeConfiguration(raw).configuration, besideManifests);
const flagsTold = (...args: string[]) => ineffectiveFlags((readFlags(args) as KernelCommand).given);

describe('a field without effect', () => {
  const cases: [raw: Record<string, unknown>, path: string][] = [
    [{ portRange: '1-2' }, 'portRange'],
    [{ showHiddenMetricsForVersion: '1.35' }, 'showHiddenMetricsForVersion'],
    [{ windowsRunAsService: true }, 'windowsRunAsService'],
    [{ winkernel: { enableDSR: true } }, 'winkernel.enableDSR'],
    [{ nftables: { masqueradeBit: 3 } }, 'nftables.masqueradeBit'],
    [{ iptables: { localhostNodePorts: false } }, 'iptables.localhostNodePorts'],
    [{ iptables: { syncPeriod: '1m' } }, 'iptables.syncPeriod'],
    [{ iptables: { minSyncPeriod: '5s' } }, 'iptables.minSyncPeriod'],
    [{ clientConnection: { contentType: 'application/json' } }, 'clientConnection.contentType'],
    [{ clientConnection: { acceptContentTypes: 'x' } }, 'clientConnection.acceptContentTypes'],
    [{ configSyncPeriod: '1m' }, 'configSyncPeriod'],
    [{ featureGates: { AllBeta: false } }, 'featureGates.AllBeta'],
    [{ logging: { flushFrequency: '1s' } }, 'logging.flushFrequency'],
    [{ logging: { vmodule: [{ filePattern: 'a', verbosity: 1 }] } }, 'logging.vmodule'],
    [{ logging: { options: { text: { splitStream: true } } } }, 'logging.options.text.splitStream'],
  ];
  for (const [raw, path] of cases) {
    it(`is told once: ${path}`, () => {
      const sentences = told(raw);
      assert.equal(sentences.length, 1);
      assert.ok(sentences[0]?.startsWith(`${path} has no effect: `), sentences[0]);
    });
  }

  it('is passed over while it has its default, and so is one that has effect', () => {
    const raw = {
      mode: 'ipvs',
      iptables: { masqueradeAll: true, syncPeriod: '30s', localhostNodePorts: true },
      ipvs: { scheduler: 'lc', excludeCIDRs: ['10.0.0.0/8'] },
      winkernel: { networkName: '' },
      featureGates: { ComponentFlagz: true, ComponentStatusz: true, LoggingAlphaOptions: true },
      nodePortAddresses: ['primary'],
    };
    assert.deepEqual(told(raw), []);
  });
});

it('what is about the API server or the node has no effect where objects come from manifests, and is told', () => {
  const raw = {
    clientConnection: { kubeconfig: '/k', contentType: 'application/json' },
    conntrack: { min: 1 },
    oomScoreAdj: 0,
  };
  assert.deepEqual(told(raw, true), [
    'clientConnection.kubeconfig has no effect: objects come from --manifests',
    'clientConnection.contentType has no effect: the API server is spoken to in JSON',
    'oomScoreAdj has no effect: with --manifests, settings of the node are left alone',
    'conntrack.min has no effect: with --manifests, settings of the node are left alone',
  ]);
  assert.equal(told(raw).length, 1);
  assert.deepEqual(told({}, true), []);
  assert.deepEqual(flagsTold('--manifests=m', '--master=https://a'), [
    '--master has no effect: objects come from --manifests',
  ]);
});

describe('a flag without effect', () => {
  it('is told once', () => {
    assert.deepEqual(flagsTold('--boot-id-file=/x', '--machine-id-file=/y', '--machine-id-file=/z'), [
      '--boot-id-file has no effect: nothing uses it, in kube-proxy neither',
      '--machine-id-file has no effect: nothing uses it, in kube-proxy neither',
    ]);
    assert.deepEqual(flagsTold('--config=/c', '--cluster-cidr=10.0.0.0/8', '--v=2', '--once', '--master=m'), [
      '--cluster-cidr has no effect: --config is given',
    ]);
    assert.deepEqual(flagsTold('--cluster-cidr=10.0.0.0/8'), []);
  });

  it('or that goes away is told in the words of kube-proxy', () => {
    assert.deepEqual(flagsTold('--healthz-port=1'), [
      'Flag --healthz-port has been deprecated, This flag is deprecated and will be removed in a future release. Please use --healthz-bind-address instead.',
    ]);
  });
});
