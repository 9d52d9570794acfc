// Every rule of a configuration, with its message: those of kube-proxy 1.36, letter for letter, except for rules that are
// marked as ours.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeConfiguration } from '../../../support/clusters/decodeConfiguration.js';

const K = 'failed validate: KubeProxyConfiguration';
const CONNTRACK = `${K}.KubeProxyLinuxConfiguration.KubeProxyConntrackConfiguration`;
const NOT_NEGATIVE = 'Invalid value: "-1s": must be greater than or equal to 0';
const PAIR =
  'must be a either a single CIDR or dual-stack pair of CIDRs (e.g. [10.100.0.0/16, fde4:8dba:82e1::/48]';
const BLOCK = 'must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)';
const OUTPUT = 'Forbidden: Feature LoggingAlphaOptions is disabled';

const cases: [raw: Record<string, unknown>, problems: string[]][] = [
  // The kernel.
  [
    { iptables: { masqueradeBit: 32 } },
    [
      `${K}.KubeProxyIPTablesConfiguration.MasqueradeBit: Invalid value: 32: must be within the range [0, 31]`,
    ],
  ],
  [
    { iptables: { masqueradeBit: -1 } },
    [
      `${K}.KubeProxyIPTablesConfiguration.MasqueradeBit: Invalid value: -1: must be within the range [0, 31]`,
    ],
  ],
  [
    { mode: 'ipvs', ipvs: { tcpTimeout: '-1s' } },
    [`${K}.KubeProxyIPVSConfiguration.TCPTimeout: ${NOT_NEGATIVE}`],
  ],
  [
    { mode: 'ipvs', ipvs: { tcpFinTimeout: '-1s' } },
    [`${K}.KubeProxyIPVSConfiguration.TCPFinTimeout: ${NOT_NEGATIVE}`],
  ],
  [
    { mode: 'ipvs', ipvs: { udpTimeout: '-1s' } },
    [`${K}.KubeProxyIPVSConfiguration.UDPTimeout: ${NOT_NEGATIVE}`],
  ],
  [
    { ipvs: { excludeCIDRs: ['10.0.0.0/8', 'foo', '10.0.0.0/33'] } },
    [
      `${K}.KubeProxyIPVSConfiguration.ExcludeCidrs[1]: Invalid value: "foo": must be a valid CIDR`,
      `${K}.KubeProxyIPVSConfiguration.ExcludeCidrs[2]: Invalid value: "10.0.0.0/33": must be a valid CIDR`,
    ],
  ],
  // Ours: kube-proxy leaves the check of the scheduler to the kernel.
  [
    { mode: 'ipvs', ipvs: { scheduler: '../../etc' } },
    [
      `${K}.KubeProxyIPVSConfiguration.Scheduler: Invalid value: "../../etc": must be the name of an IPVS scheduler, of at most 15 characters`,
    ],
  ],
  [
    { conntrack: { maxPerCore: -1 } },
    [`${CONNTRACK}.MaxPerCore: Invalid value: -1: must be greater than or equal to 0`],
  ],
  [{ conntrack: { min: -1 } }, [`${CONNTRACK}.Min: Invalid value: -1: must be greater than or equal to 0`]],
  [{ conntrack: { tcpEstablishedTimeout: '-1s' } }, [`${CONNTRACK}.TCPEstablishedTimeout: ${NOT_NEGATIVE}`]],
  [{ conntrack: { tcpCloseWaitTimeout: '-1s' } }, [`${CONNTRACK}.TCPCloseWaitTimeout: ${NOT_NEGATIVE}`]],
  [{ conntrack: { udpTimeout: '-1s' } }, [`${CONNTRACK}.UDPTimeout: ${NOT_NEGATIVE}`]],
  [{ conntrack: { udpStreamTimeout: '-1s' } }, [`${CONNTRACK}.UDPStreamTimeout: ${NOT_NEGATIVE}`]],
  [
    { oomScoreAdj: 1001 },
    [
      `${K}.KubeProxyLinuxConfiguration.OOMScoreAdj: Invalid value: 1001: must be within the range [-1000, 1000]`,
    ],
  ],
  [
    { oomScoreAdj: -1001 },
    [
      `${K}.KubeProxyLinuxConfiguration.OOMScoreAdj: Invalid value: -1001: must be within the range [-1000, 1000]`,
    ],
  ],
  // The mode: ours, in kube-proxy's form.
  [
    { mode: 'zz' },
    [
      `${K}.Mode.ProxyMode: Invalid value: "zz": must be iptables, ipvs, nftables or blank (blank means the best-available proxy [currently iptables])`,
    ],
  ],
  [
    { mode: 'nftables', nftables: { masqueradeBit: 32 } },
    [
      `${K}.KubeProxyNFTablesConfiguration.MasqueradeBit: Invalid value: 32: must be within the range [0, 31]`,
    ],
  ],
  // Other fields.
  [
    { clientConnection: { burst: -1 } },
    [`${K}.ClientConnection.Burst: Invalid value: -1: must be greater than or equal to 0`],
  ],
  [{ configSyncPeriod: '-1s' }, [`${K}.ConfigSyncPeriod: Invalid value: "-1s": must be greater than 0`]],
  [
    { mode: 'ipvs', ipvs: { syncPeriod: '-1s' } },
    [
      `${K}.SyncPeriod: Invalid value: "-1s": must be greater than 0`,
      `${K}.SyncPeriod: Invalid value: "0s": must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod`,
    ],
  ],
  [{ mode: 'ipvs', ipvs: { minSyncPeriod: '-1s' } }, [`${K}.MinSyncPeriod: ${NOT_NEGATIVE}`]],
  // The other fields of ipvs count only in ipvs mode, except the networks: they also apply when state of ipvs mode is removed.
  [{ mode: 'iptables', ipvs: { tcpTimeout: '-1s', udpTimeout: '-1s', scheduler: '../../etc' } }, []],
  [
    { mode: 'iptables', ipvs: { excludeCIDRs: ['foo'] } },
    [`${K}.KubeProxyIPVSConfiguration.ExcludeCidrs[0]: Invalid value: "foo": must be a valid CIDR`],
  ],
  // Only the periods of the mode's own section count; a blank mode is iptables mode.
  [{ mode: '', ipvs: { syncPeriod: '-1s' } }, []],
  [{ mode: '', iptables: { minSyncPeriod: '-1s' } }, [`${K}.MinSyncPeriod: ${NOT_NEGATIVE}`]],
  [{ mode: 'ipvs', iptables: { syncPeriod: '-1s' } }, []],
  [{ mode: 'iptables', ipvs: { syncPeriod: '-1s' } }, []],
  [{ mode: 'iptables', iptables: { minSyncPeriod: '-1s' } }, [`${K}.MinSyncPeriod: ${NOT_NEGATIVE}`]],
  [
    { mode: 'iptables', iptables: { minSyncPeriod: '1m' } },
    [
      `${K}.SyncPeriod: Invalid value: "1m0s": must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod`,
    ],
  ],
  [
    { mode: 'ipvs', ipvs: { minSyncPeriod: '1m', syncPeriod: '30s' } },
    [
      `${K}.SyncPeriod: Invalid value: "1m0s": must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod`,
    ],
  ],
  [
    { bindAddress: 'zz', healthzBindAddress: '0.0.0.0', metricsBindAddress: '127.0.0.1' },
    [`${K}.BindAddress: Invalid value: "zz": not a valid textual representation of an IP address`],
  ],
  [{ healthzBindAddress: 'zz' }, [`${K}.HealthzBindAddress: Invalid value: "zz": must be IP:port`]],
  [{ metricsBindAddress: '[::1]' }, [`${K}.MetricsBindAddress: Invalid value: "[::1]": must be IP:port`]],
  [{ healthzBindAddress: 'zz:10256' }, [`${K}.HealthzBindAddress: Invalid value: "zz": must be a valid IP`]],
  [
    { healthzBindAddress: '127.0.0.1:0' },
    [`${K}.HealthzBindAddress: Invalid value: "0": must be a valid port`],
  ],
  [
    { metricsBindAddress: ':foo' },
    [
      `${K}.MetricsBindAddress: Invalid value: "": must be a valid IP`,
      `${K}.MetricsBindAddress: Invalid value: "foo": must be a valid port`,
    ],
  ],
  [
    { metricsBindAddress: '[::1]:65536' },
    [`${K}.MetricsBindAddress: Invalid value: "65536": must be a valid port`],
  ],
  ...['x', '5-1', '70000', '1-2-3', '-5'].map((portRange): [Record<string, unknown>, string[]] => [
    { portRange },
    [`${K}.PortRange: Invalid value: "${portRange}": must be a valid port range (e.g. 300-2000)`],
  ]),
  [
    { nodePortAddresses: ['10.0.0.0/8', 'foo'] },
    [`${K}.NodePortAddresses[1]: Invalid value: "foo": must be a valid CIDR`],
  ],
  [
    { nodePortAddresses: ['10.0.0.0/8', 'primary', 'foo'] },
    [`${K}.NodePortAddresses[1]: Invalid value: "primary": can't use both 'primary' and CIDRs`],
  ],
  [
    { showHiddenMetricsForVersion: '1.30' },
    [
      `${K}.ShowHiddenMetricsForVersion: Invalid value: "1.30": --show-hidden-metrics-for-version must be omitted or have the value '1.35'. Only the previous minor version is allowed`,
    ],
  ],
  [
    { detectLocalMode: 'Magic' },
    [
      `${K}.DetectLocalMode: Unsupported value: "Magic": supported values: "ClusterCIDR", "NodeCIDR", "BridgeInterface", "InterfaceNamePrefix", ""`,
    ],
  ],
  [
    { detectLocalMode: 'BridgeInterface' },
    [`${K}.DetectLocalConfiguration.InterfaceName: Invalid value: "": must not be empty`],
  ],
  [
    { detectLocalMode: 'InterfaceNamePrefix' },
    [`${K}.DetectLocalConfiguration.InterfacePrefix: Invalid value: "": must not be empty`],
  ],
  // Ours: kube-proxy leaves the check to iptables.
  [
    { detectLocalMode: 'BridgeInterface', detectLocal: { bridgeInterface: 'a name of sixteen' } },
    [
      `${K}.DetectLocalConfiguration.InterfaceName: Invalid value: "a name of sixteen": must be an interface name of at most 15 characters`,
    ],
  ],
  [
    { detectLocalMode: 'InterfaceNamePrefix', detectLocal: { interfaceNamePrefix: 'a/b' } },
    [
      `${K}.DetectLocalConfiguration.InterfacePrefix: Invalid value: "a/b": must be an interface name of at most 15 characters`,
    ],
  ],
  [
    { clusterCIDR: '10.0.0.0' },
    [`${K}.DetectLocalConfiguration.ClusterCIDRs[0]: Invalid value: "10.0.0.0": ${BLOCK}`],
  ],
  [
    { clusterCIDR: '10.0.0.0/8,zz' },
    [`${K}.DetectLocalConfiguration.ClusterCIDRs[1]: Invalid value: "zz": ${BLOCK}`],
  ],
  [
    { clusterCIDR: '10.0.0.0/8,10.0.0.0/9' },
    [`${K}.DetectLocalConfiguration.ClusterCIDRs: Invalid value: ["10.0.0.0/8","10.0.0.0/9"]: ${PAIR}`],
  ],
  [
    { clusterCIDR: 'fd00::/48,10.0.0.0/8,10.0.0.0/9' },
    [
      `${K}.DetectLocalConfiguration.ClusterCIDRs: Invalid value: ["fd00::/48","10.0.0.0/8","10.0.0.0/9"]: ${PAIR}`,
    ],
  ],
  // Logging.
  [
    { logging: { format: 'xml' } },
    ['initialize logging: logging.format: Invalid value: "xml": Unsupported log format'],
  ],
  [
    { logging: { flushFrequency: '-1s' } },
    ['initialize logging: logging.flushFrequency: Invalid value: "-1s": Must be greater than zero'],
  ],
  [
    { logging: { verbosity: 2 ** 31 } },
    ['initialize logging: logging.verbosity: Invalid value: 2147483648: Must be <= 2147483647'],
  ],
  [
    { logging: { format: 'json', vmodule: [{ filePattern: 'a', verbosity: 1 }] } },
    ['initialize logging: logging.vmodule: Forbidden: Only supported for text log format'],
  ],
  [
    { logging: { vmodule: [{ verbosity: 1 }, { filePattern: 'a=b', verbosity: 2 ** 31 }] } },
    [
      'initialize logging: logging.vmodule[0]: Required value: File pattern must not be empty',
      'initialize logging: logging.vmodule[1]: Invalid value: "a=b": File pattern must not contain equal sign or comma',
      'initialize logging: logging.vmodule[1]: Invalid value: 2147483648: Must be <= 2147483647',
    ],
  ],
  [
    {
      logging: {
        options: {
          text: { splitStream: true, infoBufferSize: '1' },
          json: { splitStream: true, infoBufferSize: '4Ki' },
        },
      },
    },
    [
      `initialize logging: logging.options.text.splitStream: ${OUTPUT}`,
      `initialize logging: logging.options.text.infoBufferSize: ${OUTPUT}`,
      `initialize logging: logging.options.json.splitStream: ${OUTPUT}`,
      `initialize logging: logging.options.json.infoBufferSize: ${OUTPUT}`,
    ],
  ],
  // Feature gates.
  [{ featureGates: { Nope: true } }, ['failed complete: unrecognized feature gate: Nope']],
  [
    { featureGates: { NFTablesProxyMode: false, GitRepoVolumeDriver: true } },
    [
      'failed complete: cannot set feature gate NFTablesProxyMode to false, feature is locked to true',
      'failed complete: cannot set feature gate GitRepoVolumeDriver to true, feature is locked to false',
    ],
  ],
];

describe('a configuration is rejected', () => {
  for (const [raw, problems] of cases) {
    it(JSON.stringify(raw), () => assert.deepEqual(decodeConfiguration(raw).problems, problems));
  }

  it('with all its errors at once', () => {
    const { problems } = decodeConfiguration({
      mode: 'x',
      oomScoreAdj: 2000,
      iptables: { masqueradeBit: 99 },
    });
    assert.equal(problems.length, 3);
  });
});

describe('a configuration is accepted', () => {
  const good: Record<string, unknown>[] = [
    { mode: '', nodePortAddresses: ['primary'] },
    { nodePortAddresses: ['10.0.0.0/8', 'fd00::/8'], clusterCIDR: 'fd00::/48,10.0.0.0/8' },
    { clusterCIDR: 'nonsense', detectLocalMode: 'NodeCIDR' },
    { detectLocalMode: 'BridgeInterface', detectLocal: { bridgeInterface: 'cni0' } },
    { showHiddenMetricsForVersion: '1.35', portRange: '300-2000' },
    { portRange: '300+10' },
    { portRange: '0' },
    { featureGates: { AllAlpha: true, NFTablesProxyMode: true, WatchListClient: false, KMSv1: true } },
    {
      featureGates: { LoggingAlphaOptions: true },
      logging: { options: { json: { splitStream: true, infoBufferSize: '1M' } } },
    },
    {
      mode: 'ipvs',
      ipvs: { syncPeriod: '5s', minSyncPeriod: '5s', scheduler: 'mh', excludeCIDRs: ['fd00::/8'] },
    },
    { oomScoreAdj: -1000, conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s' } },
    // Validated only in their own mode.
    { mode: 'ipvs', nftables: { masqueradeBit: 99, syncPeriod: '-1s' }, iptables: { syncPeriod: '-1s' } },
  ];
  for (const raw of good) {
    it(JSON.stringify(raw), () => assert.deepEqual(decodeConfiguration(raw).problems, []));
  }
});
