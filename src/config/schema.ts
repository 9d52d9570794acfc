// KubeProxyConfiguration, kubeproxy.config.k8s.io/v1alpha1 of Kubernetes 1.36: every field with its kind and default.
// What each field does here is in docs/configuration.md.
import {
  duration,
  durationOrNanoseconds,
  durationOrZero,
  flag,
  flags,
  float,
  integer,
  integerOrZero,
  level,
  list,
  mark,
  quantity,
  struct,
  text,
  texts,
} from './kinds.js';

/** `apiVersion` of a configuration. */
export const API_VERSION = 'kubeproxy.config.k8s.io/v1alpha1';
/** `kind` of a configuration. */
export const KIND = 'KubeProxyConfiguration';

/** How traffic of this node's pods is told from the rest. */
export type DetectLocalMode = 'ClusterCIDR' | 'NodeCIDR' | 'BridgeInterface' | 'InterfaceNamePrefix';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const outputOptions = { splitStream: mark(), infoBufferSize: quantity() };

const logging = struct('LoggingConfiguration', {
  /** `text` or `json`. */
  format: text('text'),
  flushFrequency: durationOrNanoseconds(5 * SECOND),
  verbosity: level(),
  vmodule: list(
    'v1.VModuleConfiguration',
    struct('VModuleItem', { filePattern: text(), verbosity: level() }),
  ),
  options: struct('FormatOptions', {
    text: struct('TextOptions', outputOptions),
    json: struct('JSONOptions', outputOptions),
  }),
});

const conntrack = struct('KubeProxyConntrackConfiguration', {
  /** 0 leaves the kernel's limit as it is. */
  maxPerCore: integerOrZero(32_768),
  min: integerOrZero(131_072),
  tcpEstablishedTimeout: durationOrZero(24 * HOUR),
  tcpCloseWaitTimeout: durationOrZero(HOUR),
  tcpBeLiberal: flag(),
  udpTimeout: duration(),
  udpStreamTimeout: duration(),
});

const iptables = struct('KubeProxyIPTablesConfiguration', {
  /** Bit of the packet mark that asks for masquerading: 0–31. */
  masqueradeBit: integerOrZero(14),
  masqueradeAll: flag(),
  localhostNodePorts: flag(true),
  syncPeriod: duration(30 * SECOND),
  minSyncPeriod: duration(SECOND),
});

const ipvs = struct('KubeProxyIPVSConfiguration', {
  syncPeriod: duration(30 * SECOND),
  minSyncPeriod: duration(),
  /** Empty: `rr`. */
  scheduler: text(),
  /** Networks whose virtual services are never deleted. */
  excludeCIDRs: texts(),
  strictARP: flag(),
  /** These three in whole seconds to the kernel; 0 leaves its value as it is. */
  tcpTimeout: duration(),
  tcpFinTimeout: duration(),
  udpTimeout: duration(),
});

const nftables = struct('KubeProxyNFTablesConfiguration', {
  masqueradeBit: integerOrZero(14),
  masqueradeAll: flag(),
  syncPeriod: duration(30 * SECOND),
  minSyncPeriod: duration(SECOND),
});

const winkernel = struct('KubeProxyWinkernelConfiguration', {
  networkName: text(),
  sourceVip: text(),
  enableDSR: flag(),
  rootHnsEndpointName: text(),
  forwardHealthCheckVip: flag(),
});

const clientConnection = struct('ClientConnectionConfiguration', {
  kubeconfig: text(),
  acceptContentTypes: text(),
  contentType: text('application/vnd.kubernetes.protobuf'),
  /** Requests per second. */
  qps: float(5),
  burst: integer(10),
});

/** The whole configuration. Durations are in ms. */
export const CONFIGURATION = struct(KIND, {
  featureGates: flags(),
  clientConnection,
  logging,
  /** Empty: the host's name. */
  hostnameOverride: text(),
  /** Where it is a specific address, it is the node's own and decides the primary family. */
  bindAddress: text('0.0.0.0'),
  /** `IP:port`; empty: no server. */
  healthzBindAddress: text(),
  /** `IP:port`. */
  metricsBindAddress: text(),
  bindAddressHardFail: flag(),
  enableProfiling: flag(),
  showHiddenMetricsForVersion: text(),
  mode: text(),
  iptables,
  ipvs,
  nftables,
  winkernel,
  detectLocalMode: text<DetectLocalMode>('ClusterCIDR'),
  detectLocal: struct('DetectLocalConfiguration', { bridgeInterface: text(), interfaceNamePrefix: text() }),
  /** Networks of the cluster's pods: one, or one of each family, comma-separated. */
  clusterCIDR: text(),
  /** Networks whose host addresses get node ports, or `primary` alone: the node's own; empty: every address. */
  nodePortAddresses: texts(),
  oomScoreAdj: integerOrZero(-999),
  conntrack,
  configSyncPeriod: duration(15 * MINUTE),
  portRange: text(),
  windowsRunAsService: mark(),
});

/** A configuration, checked, with defaults filled in. Field names are KubeProxyConfiguration's; durations are in ms. */
export type Configuration = ReturnType<typeof CONFIGURATION.decode>;
