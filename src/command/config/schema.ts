// KubeProxyConfiguration, kubeproxy.config.k8s.io/v1alpha1 of Kubernetes 1.36: every field with its type and default, and two fields of
// our own: `mirroredVersion` and those after it. Kubernetes 1.37 and 1.38 have the same fields.
// docs/configuration.md describes the effect of each field.
import {
  bool,
  boolMap,
  boolOmitEmpty,
  duration,
  durationOrNanoseconds,
  durationOrZero,
  float32,
  int32,
  int32OrZero,
  listOf,
  logLevel,
  quantity,
  string,
  stringList,
  stringListOmitEmpty,
  struct,
  version,
} from './fieldTypes.js';

/** `apiVersion` of a configuration. */
export const API_VERSION = 'kubeproxy.config.k8s.io/v1alpha1';
/** `kind` of a configuration. */
export const KIND = 'KubeProxyConfiguration';

/** How to detect traffic from this node's pods. */
export type DetectLocalMode = 'ClusterCIDR' | 'NodeCIDR' | 'BridgeInterface' | 'InterfaceNamePrefix';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const outputOptions = { splitStream: boolOmitEmpty(), infoBufferSize: quantity() };

const logging = struct('LoggingConfiguration', {
  /** `text` or `json`. */
  format: string('text'),
  flushFrequency: durationOrNanoseconds(5 * SECOND),
  verbosity: logLevel(),
  vmodule: listOf(
    'v1.VModuleConfiguration',
    struct('VModuleItem', { filePattern: string(), verbosity: logLevel() }),
  ),
  options: struct('FormatOptions', {
    text: struct('TextOptions', outputOptions),
    json: struct('JSONOptions', outputOptions),
  }),
});

const conntrack = struct('KubeProxyConntrackConfiguration', {
  /** 0 keeps the kernel's limit. */
  maxPerCore: int32OrZero(32_768),
  min: int32OrZero(131_072),
  tcpEstablishedTimeout: durationOrZero(24 * HOUR),
  tcpCloseWaitTimeout: durationOrZero(HOUR),
  tcpBeLiberal: bool(),
  udpTimeout: duration(),
  udpStreamTimeout: duration(),
});

const iptables = struct('KubeProxyIPTablesConfiguration', {
  /** Bit of the packet mark for packets to masquerade: 0–31. */
  masqueradeBit: int32OrZero(14),
  masqueradeAll: bool(),
  localhostNodePorts: bool(true),
  syncPeriod: duration(30 * SECOND),
  minSyncPeriod: duration(SECOND),
});

const ipvs = struct('KubeProxyIPVSConfiguration', {
  syncPeriod: duration(30 * SECOND),
  minSyncPeriod: duration(),
  /** Empty: `rr`. */
  scheduler: string(),
  /** CIDRs whose virtual services are never deleted. */
  excludeCIDRs: stringList(),
  strictARP: bool(),
  /** The kernel gets these three in seconds; 0 keeps its value. */
  tcpTimeout: duration(),
  tcpFinTimeout: duration(),
  udpTimeout: duration(),
});

const nftables = struct('KubeProxyNFTablesConfiguration', {
  masqueradeBit: int32OrZero(14),
  masqueradeAll: bool(),
  syncPeriod: duration(30 * SECOND),
  minSyncPeriod: duration(SECOND),
});

const winkernel = struct('KubeProxyWinkernelConfiguration', {
  networkName: string(),
  sourceVip: string(),
  enableDSR: bool(),
  rootHnsEndpointName: string(),
  forwardHealthCheckVip: bool(),
});

const clientConnection = struct('ClientConnectionConfiguration', {
  kubeconfig: string(),
  acceptContentTypes: string(),
  contentType: string('application/vnd.kubernetes.protobuf'),
  /** Requests per second. */
  qps: float32(5),
  burst: int32(10),
});

/** The whole configuration. Durations are in ms. */
export const CONFIGURATION = struct(KIND, {
  featureGates: boolMap(),
  clientConnection,
  logging,
  /** Empty: the host's name. */
  hostnameOverride: string(),
  /** A specific address overrides the node IP and selects the primary IP family. */
  bindAddress: string('0.0.0.0'),
  /** `IP:port`; empty: no server. */
  healthzBindAddress: string(),
  /** `IP:port`. */
  metricsBindAddress: string(),
  bindAddressHardFail: bool(),
  enableProfiling: bool(),
  showHiddenMetricsForVersion: string(),
  mode: string(),
  iptables,
  ipvs,
  nftables,
  winkernel,
  detectLocalMode: string<DetectLocalMode>('ClusterCIDR'),
  detectLocal: struct('DetectLocalConfiguration', {
    bridgeInterface: string(),
    interfaceNamePrefix: string(),
  }),
  /** CIDR of the cluster's pods: one, or one of each IP family, comma-separated. */
  clusterCIDR: string(),
  /**
   * CIDRs of the local addresses that serve node ports, or only `primary`: the node IPs; empty: every local address. From 1.37 on, also
   * the words `primary`, `localhost` and `all` beside CIDRs.
   */
  nodePortAddresses: stringList(),
  oomScoreAdj: int32OrZero(-999),
  conntrack,
  configSyncPeriod: duration(15 * MINUTE),
  portRange: string(),
  windowsRunAsService: boolOmitEmpty(),
  /** The minor version of the kube-proxy that is mirrored: `1.37`; empty: the default. Not a field of kube-proxy. */
  mirroredVersion: version(),
  /** The settings that a Service may have by annotation; none by default. Not a field of kube-proxy. */
  serviceSettings: stringListOmitEmpty(),
  /** The networks that external IPs must be in, see `config/servedAddresses.ts`; empty: they may be any. Not a field of kube-proxy. */
  serviceExternalIPRange: stringListOmitEmpty(),
  /** The same for load-balancer IPs. Not a field of kube-proxy. */
  loadBalancerIPRange: stringListOmitEmpty(),
});

/** A validated configuration with its defaults. Field names are KubeProxyConfiguration's; durations are in ms. */
export type Configuration = ReturnType<typeof CONFIGURATION.decode>;
