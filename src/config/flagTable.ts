// The flags of the command line: kube-proxy's, each with the field of KubeProxyConfiguration that it sets, and our own.
import type { FlagSpecification } from './commandLine.js';
import { FLAG_TYPES as T } from './flagTypes.js';

/** A flag. */
export interface Flag extends FlagSpecification {
  /** What it does, for `--help`. */
  readonly help: string;
  /** Field of KubeProxyConfiguration that it sets: `ipvs.scheduler`. */
  readonly sets?: string;
  /** Its default, where it sets no field and has one. */
  readonly absent?: string;
  /** It counts beside `--config` too. */
  readonly beside?: true;
  /** What kube-proxy says of it when it is used. */
  readonly deprecated?: string;
}

const removed = (other: string) =>
  `This flag is deprecated and will be removed in a future release. Please use --${other} instead.`;

/** kube-proxy's flags. */
export const KUBE_PROXY_FLAGS = {
  'bind-address': {
    type: T.ip,
    sets: 'bindAddress',
    help: "this node's own address, above those of its Node object; decides the primary family (0.0.0.0, ::: theirs)",
  },
  'bind-address-hard-fail': {
    type: T.bool,
    sets: 'bindAddressHardFail',
    help: 'end when the address of a server cannot be bound, and do not try again',
  },
  'boot-id-file': {
    type: T.string,
    absent: '/proc/sys/kernel/random/boot_id',
    help: 'has no effect, in kube-proxy neither',
  },
  cleanup: {
    type: T.bool,
    beside: true,
    help: 'remove everything of ours from the kernel, tell what is left, and end',
  },
  'cluster-cidr': {
    type: T.string,
    sets: 'clusterCIDR',
    help: "networks of the cluster's pods: one, or one of each family, comma-separated",
  },
  config: {
    type: T.string,
    beside: true,
    help: 'file with a KubeProxyConfiguration; only flags marked * count beside it',
  },
  'config-sync-period': {
    type: T.duration,
    sets: 'configSyncPeriod',
    help: 'has no effect: objects are not handed out again',
  },
  'conntrack-max-per-core': {
    type: T.int32,
    sets: 'conntrack.maxPerCore',
    help: 'flows to track for each CPU core (0: leave the limit as it is, and ignore --conntrack-min)',
  },
  'conntrack-min': {
    type: T.int32,
    sets: 'conntrack.min',
    help: 'flows to track at least, whatever --conntrack-max-per-core says',
  },
  'conntrack-tcp-be-liberal': {
    type: T.bool,
    sets: 'conntrack.tcpBeLiberal',
    help: 'take TCP packets outside the window for valid (nf_conntrack_tcp_be_liberal)',
  },
  'conntrack-tcp-timeout-close-wait': {
    type: T.duration,
    sets: 'conntrack.tcpCloseWaitTimeout',
    help: 'how long a flow in CLOSE_WAIT is kept (0: leave it as it is)',
  },
  'conntrack-tcp-timeout-established': {
    type: T.duration,
    sets: 'conntrack.tcpEstablishedTimeout',
    help: 'how long an idle TCP flow is kept (0: leave it as it is)',
  },
  'conntrack-udp-timeout': {
    type: T.duration,
    sets: 'conntrack.udpTimeout',
    help: 'how long a UDP flow without replies is kept (0: leave it as it is)',
  },
  'conntrack-udp-timeout-stream': {
    type: T.duration,
    sets: 'conntrack.udpStreamTimeout',
    help: 'how long a UDP flow with replies is kept (0: leave it as it is)',
  },
  'detect-local-mode': {
    type: T.string,
    sets: 'detectLocalMode',
    help: "how traffic of this node's pods is told: ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix",
  },
  'feature-gates': {
    type: T.mapStringBool,
    sets: 'featureGates',
    help: 'gates of Kubernetes 1.36, Name=true,Other=false; few change anything here, see docs/configuration.md',
  },
  'healthz-bind-address': {
    type: T.ipport,
    sets: 'healthzBindAddress',
    help: 'address and port of the health server',
  },
  'healthz-port': {
    type: T.int32,
    absent: '10256',
    deprecated: removed('healthz-bind-address'),
    help: 'port of the health server, where its address has none (0: no health server); deprecated',
  },
  help: { type: T.bool, short: 'h', beside: true, help: 'print this' },
  'hostname-override': {
    type: T.string,
    beside: true,
    help: "this node's name, as endpoints name it (the host's name)",
  },
  'init-only': {
    type: T.bool,
    beside: true,
    help: 'do only what needs full root rights, and end',
  },
  'iptables-localhost-nodeports': {
    type: T.bool,
    sets: 'iptables.localhostNodePorts',
    help: 'has no effect in ipvs mode: node ports never stand on loopback',
  },
  'iptables-masquerade-bit': {
    type: T.int32,
    sets: 'iptables.masqueradeBit',
    help: 'bit of the packet mark that asks for masquerading, 0 to 31',
  },
  'iptables-min-sync-period': {
    type: T.duration,
    sets: 'iptables.minSyncPeriod',
    help: 'has no effect in ipvs mode',
  },
  'iptables-sync-period': {
    type: T.duration,
    sets: 'iptables.syncPeriod',
    help: 'has no effect in ipvs mode',
  },
  'ipvs-exclude-cidrs': {
    type: T.strings,
    sets: 'ipvs.excludeCIDRs',
    help: 'networks whose virtual services are never deleted, comma-separated',
  },
  'ipvs-min-sync-period': {
    type: T.duration,
    sets: 'ipvs.minSyncPeriod',
    help: 'least time from one pass to the next',
  },
  'ipvs-scheduler': {
    type: T.string,
    sets: 'ipvs.scheduler',
    help: 'how connections are spread: rr, lc, wrr, sh, mh, … (rr)',
  },
  'ipvs-strict-arp': {
    type: T.bool,
    sets: 'ipvs.strictARP',
    help: 'answer ARP for an address only on the device that has it',
  },
  'ipvs-sync-period': {
    type: T.duration,
    sets: 'ipvs.syncPeriod',
    help: 'after so much quiet, everything in the kernel is looked at and repaired',
  },
  'ipvs-tcp-timeout': {
    type: T.duration,
    sets: 'ipvs.tcpTimeout',
    help: "idle TCP connections are forgotten after it (0: the kernel's)",
  },
  'ipvs-tcpfin-timeout': {
    type: T.duration,
    sets: 'ipvs.tcpFinTimeout',
    help: "TCP connections after a FIN, likewise (0: the kernel's)",
  },
  'ipvs-udp-timeout': {
    type: T.duration,
    sets: 'ipvs.udpTimeout',
    help: "UDP, likewise (0: the kernel's)",
  },
  'kube-api-burst': {
    type: T.int32,
    sets: 'clientConnection.burst',
    help: 'requests to the API server that may be made at once, above --kube-api-qps',
  },
  'kube-api-content-type': {
    type: T.string,
    sets: 'clientConnection.contentType',
    help: 'has no effect: the API server is spoken to in JSON',
  },
  'kube-api-qps': {
    type: T.float32,
    sets: 'clientConnection.qps',
    help: 'requests to the API server in a second',
  },
  kubeconfig: {
    type: T.string,
    sets: 'clientConnection.kubeconfig',
    help: 'file that says how to reach the API server',
  },
  'log-flush-frequency': {
    type: T.duration,
    sets: 'logging.flushFrequency',
    beside: true,
    help: 'has no effect: every line is written at once',
  },
  'log-json-info-buffer-size': {
    type: T.quantity,
    sets: 'logging.options.json.infoBufferSize',
    beside: true,
    help: 'has no effect',
  },
  'log-json-split-stream': {
    type: T.bool,
    sets: 'logging.options.json.splitStream',
    beside: true,
    help: 'has no effect',
  },
  'log-text-info-buffer-size': {
    type: T.quantity,
    sets: 'logging.options.text.infoBufferSize',
    beside: true,
    help: 'has no effect',
  },
  'log-text-split-stream': {
    type: T.bool,
    sets: 'logging.options.text.splitStream',
    beside: true,
    help: 'has no effect',
  },
  'logging-format': {
    type: T.string,
    sets: 'logging.format',
    beside: true,
    help: 'text or json',
  },
  'machine-id-file': {
    type: T.string,
    absent: '/etc/machine-id,/var/lib/dbus/machine-id',
    help: 'has no effect, in kube-proxy neither',
  },
  'masquerade-all': {
    type: T.bool,
    sets: 'iptables.masqueradeAll',
    help: 'masquerade all traffic to cluster IPs',
  },
  master: {
    type: T.string,
    beside: true,
    help: 'URL of the API server, above what --kubeconfig says',
  },
  'metrics-bind-address': {
    type: T.ipport,
    sets: 'metricsBindAddress',
    help: 'address and port of the metrics server',
  },
  'metrics-port': {
    type: T.int32,
    absent: '10249',
    deprecated: removed('metrics-bind-address'),
    help: 'port of the metrics server, where its address has none; deprecated',
  },
  'nodeport-addresses': {
    type: T.strings,
    sets: 'nodePortAddresses',
    help: "networks whose host addresses get node ports, comma-separated, or primary: the node's own (every address)",
  },
  'oom-score-adj': {
    type: T.int32,
    sets: 'oomScoreAdj',
    help: 'how readily the kernel ends this process when memory is short, -1000 to 1000',
  },
  'pod-bridge-interface': {
    type: T.string,
    sets: 'detectLocal.bridgeInterface',
    help: "the pods' bridge, for mode BridgeInterface",
  },
  'pod-interface-name-prefix': {
    type: T.string,
    sets: 'detectLocal.interfaceNamePrefix',
    help: "what names of the pods' devices begin with, for mode InterfaceNamePrefix",
  },
  profiling: {
    type: T.bool,
    sets: 'enableProfiling',
    help: 'offer profiles on the metrics server',
  },
  'proxy-mode': {
    type: T.string,
    sets: 'mode',
    help: 'ipvs; blank is ipvs too',
  },
  'proxy-port-range': {
    type: T['port-range'],
    sets: 'portRange',
    help: 'has no effect, in kube-proxy neither; deprecated',
  },
  'show-hidden-metrics-for-version': {
    type: T.string,
    sets: 'showHiddenMetricsForVersion',
    help: 'only 1.35 is allowed',
  },
  v: {
    type: T.level,
    short: 'v',
    sets: 'logging.verbosity',
    beside: true,
    help: 'how much is logged: debugging from 4 on',
  },
  version: { type: T.version, beside: true, help: 'print the version; --version=raw: more of it' },
  vmodule: {
    type: T.vmodule,
    sets: 'logging.vmodule',
    beside: true,
    help: 'has no effect: one verbosity counts for all',
  },
  'write-config-to': {
    type: T.string,
    beside: true,
    help: 'write the configuration to this file, as YAML with every field, and end',
  },
} as const satisfies Readonly<Record<string, Flag>>;

/** Flags that kube-proxy does not have. All count beside `--config`. */
export const OWN_FLAGS = {
  manifests: {
    type: T.string,
    beside: true,
    help: 'folder of .yaml, .yml and .json files, or one file, with Services, EndpointSlices and Nodes',
  },
  once: {
    type: T.bool,
    beside: true,
    help: 'program the kernel, print what was done, and end; 0 when all succeeded',
  },
  output: {
    type: T.output,
    short: 'o',
    beside: true,
    absent: 'text',
    help: 'how plan prints its result: for people, or for programs',
  },
  'ipvs-own-all': {
    type: T.bool,
    beside: true,
    help: 'delete every virtual service that no Service wants, as kube-proxy does, whoever made it',
  },
  cures: {
    type: T.strings,
    beside: true,
    help: "kube-proxy's faults to cure, comma-separated: see docs/differences.md (none)",
  },
  'drain-timeout': {
    type: T.duration,
    beside: true,
    absent: '15m0s',
    help: 'longest time that connections of a departing endpoint may run on',
  },
} as const satisfies Readonly<Record<string, Flag>>;

/** Every flag. */
export const FLAGS: ReadonlyMap<string, Flag> = new Map<string, Flag>(
  Object.entries({ ...KUBE_PROXY_FLAGS, ...OWN_FLAGS }),
);
