// The declaration of every flag: kube-proxy's flags, each with the field of KubeProxyConfiguration that it sets, and our
// own. commandLine.ts reads them.
import type { Flag } from './flag.js';
import { OWN_FLAGS } from './ownFlags.js';

export type { Flag, FlagTypeName, FlagValue, VerbosityPattern } from './flag.js';
export { OWN_FLAGS } from './ownFlags.js';

const replacedBy = (other: string) =>
  `This flag is deprecated and will be removed in a future release. Please use --${other} instead.`;

/** kube-proxy's flags. */
export const KUBE_PROXY_FLAGS = {
  'bind-address': {
    type: 'ip',
    field: 'bindAddress',
    help: 'overrides the node IP of the Node object, and selects the primary IP family; 0.0.0.0 and :: override nothing',
  },
  'bind-address-hard-fail': {
    type: 'bool',
    field: 'bindAddressHardFail',
    help: 'exit if a server address cannot be bound, instead of retrying',
  },
  'boot-id-file': {
    type: 'string',
    default: '/proc/sys/kernel/random/boot_id',
    help: 'no effect, as in kube-proxy',
  },
  cleanup: {
    type: 'bool',
    withConfig: true,
    help: 'remove all our state from the kernel, list any that remains, and exit',
  },
  'cluster-cidr': {
    type: 'string',
    field: 'clusterCIDR',
    help: "CIDR of the cluster's pods: one, or one of each IP family, comma-separated",
  },
  config: {
    type: 'string',
    withConfig: true,
    help: 'file with a KubeProxyConfiguration; of the other flags, only those marked * take effect with it',
  },
  'config-sync-period': {
    type: 'duration',
    field: 'configSyncPeriod',
    help: 'no effect: objects are not resynced, because audits read the kernel itself',
  },
  'conntrack-max-per-core': {
    type: 'int32',
    field: 'conntrack.maxPerCore',
    help: 'maximum number of flows to track per CPU core, for all at most 1048576 (0: keep the limit, and ignore --conntrack-min)',
  },
  'conntrack-min': {
    type: 'int32',
    field: 'conntrack.min',
    help: 'minimum of the limit on tracked flows, regardless of --conntrack-max-per-core',
  },
  'conntrack-tcp-be-liberal': {
    type: 'bool',
    field: 'conntrack.tcpBeLiberal',
    help: 'accept TCP packets outside the window as valid (nf_conntrack_tcp_be_liberal)',
  },
  'conntrack-tcp-timeout-close-wait': {
    type: 'duration',
    field: 'conntrack.tcpCloseWaitTimeout',
    help: "timeout of TCP flows in CLOSE_WAIT (0: keep the kernel's)",
  },
  'conntrack-tcp-timeout-established': {
    type: 'duration',
    field: 'conntrack.tcpEstablishedTimeout',
    help: "timeout of idle established TCP flows (0: keep the kernel's)",
  },
  'conntrack-udp-timeout': {
    type: 'duration',
    field: 'conntrack.udpTimeout',
    help: "timeout of UDP flows without replies (0: keep the kernel's)",
  },
  'conntrack-udp-timeout-stream': {
    type: 'duration',
    field: 'conntrack.udpStreamTimeout',
    help: "timeout of UDP flows with replies (0: keep the kernel's)",
  },
  'detect-local-mode': {
    type: 'string',
    field: 'detectLocalMode',
    help: "how to detect traffic from this node's pods: ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix",
  },
  'feature-gates': {
    type: 'mapStringBool',
    field: 'featureGates',
    help: 'feature gates of the mirrored version, Name=true,Other=false; few have an effect, see docs/configuration.md',
  },
  'healthz-bind-address': {
    type: 'ipport',
    field: 'healthzBindAddress',
    help: 'IP address and port of the health server',
  },
  'healthz-port': {
    type: 'int32',
    default: '10256',
    deprecated: replacedBy('healthz-bind-address'),
    help: 'port of the health server if its address has none (0: no health server); deprecated',
  },
  help: { type: 'bool', short: 'h', withConfig: true, help: 'print this help and exit' },
  'hostname-override': {
    type: 'string',
    withConfig: true,
    help: "this node's name in the cluster, instead of the hostname",
  },
  'init-only': {
    type: 'bool',
    withConfig: true,
    help: 'do only the setup that needs full root privileges, and exit',
  },
  'iptables-localhost-nodeports': {
    type: 'bool',
    field: 'iptables.localhostNodePorts',
    help: 'iptables mode: serve node ports on IPv4 loopback addresses; no effect in ipvs mode',
  },
  'iptables-masquerade-bit': {
    type: 'int32',
    field: 'iptables.masqueradeBit',
    help: 'bit of the packet mark for packets to masquerade, 0 to 31',
  },
  'iptables-min-sync-period': {
    type: 'duration',
    field: 'iptables.minSyncPeriod',
    help: 'iptables mode: minimum time from the end of a pass to the start of the next',
  },
  'iptables-sync-period': {
    type: 'duration',
    field: 'iptables.syncPeriod',
    help: 'iptables mode: time without changes after which the kernel state is read and repaired',
  },
  'ipvs-exclude-cidrs': {
    type: 'strings',
    field: 'ipvs.excludeCIDRs',
    help: 'CIDRs whose virtual services are never deleted, comma-separated',
  },
  'ipvs-min-sync-period': {
    type: 'duration',
    field: 'ipvs.minSyncPeriod',
    help: 'minimum time from the end of a pass to the start of the next',
  },
  'ipvs-scheduler': {
    type: 'string',
    field: 'ipvs.scheduler',
    help: 'IPVS scheduler of every virtual service: rr, lc, wrr, sh, mh, … (blank: rr)',
  },
  'ipvs-strict-arp': {
    type: 'bool',
    field: 'ipvs.strictARP',
    help: 'answer ARP requests only on the interface that has the address (arp_ignore 1, arp_announce 2)',
  },
  'ipvs-sync-period': {
    type: 'duration',
    field: 'ipvs.syncPeriod',
    help: 'time without a pass after which an audit reads and repairs the whole kernel state',
  },
  'ipvs-tcp-timeout': {
    type: 'duration',
    field: 'ipvs.tcpTimeout',
    help: "IPVS timeout of idle TCP connections (0: keep the kernel's)",
  },
  'ipvs-tcpfin-timeout': {
    type: 'duration',
    field: 'ipvs.tcpFinTimeout',
    help: "IPVS timeout of TCP connections after a FIN (0: keep the kernel's)",
  },
  'ipvs-udp-timeout': {
    type: 'duration',
    field: 'ipvs.udpTimeout',
    help: "IPVS timeout of UDP connections (0: keep the kernel's)",
  },
  'kube-api-burst': {
    type: 'int32',
    field: 'clientConnection.burst',
    help: 'number of requests to the API server that may exceed --kube-api-qps at once',
  },
  'kube-api-content-type': {
    type: 'string',
    field: 'clientConnection.contentType',
    help: 'no effect: requests to the API server use JSON',
  },
  'kube-api-qps': {
    type: 'float32',
    field: 'clientConnection.qps',
    help: 'maximum rate of requests to the API server, per second',
  },
  kubeconfig: {
    type: 'string',
    field: 'clientConnection.kubeconfig',
    help: 'kubeconfig file with the address and credentials for the API server',
  },
  'log-flush-frequency': {
    type: 'duration',
    field: 'logging.flushFrequency',
    withConfig: true,
    help: 'no effect: every line is written at once',
  },
  'log-json-info-buffer-size': {
    type: 'quantity',
    field: 'logging.options.json.infoBufferSize',
    withConfig: true,
    help: 'no effect',
  },
  'log-json-split-stream': {
    type: 'bool',
    field: 'logging.options.json.splitStream',
    withConfig: true,
    help: 'no effect',
  },
  'log-text-info-buffer-size': {
    type: 'quantity',
    field: 'logging.options.text.infoBufferSize',
    withConfig: true,
    help: 'no effect',
  },
  'log-text-split-stream': {
    type: 'bool',
    field: 'logging.options.text.splitStream',
    withConfig: true,
    help: 'no effect',
  },
  'logging-format': { type: 'string', field: 'logging.format', withConfig: true, help: 'text or json' },
  'machine-id-file': {
    type: 'string',
    default: '/etc/machine-id,/var/lib/dbus/machine-id',
    help: 'no effect, as in kube-proxy',
  },
  'masquerade-all': {
    type: 'bool',
    field: 'iptables.masqueradeAll',
    help: 'masquerade all traffic to cluster IPs',
  },
  master: {
    type: 'string',
    withConfig: true,
    help: 'URL of the API server; overrides the address in the kubeconfig',
  },
  'metrics-bind-address': {
    type: 'ipport',
    field: 'metricsBindAddress',
    help: 'IP address and port of the metrics server',
  },
  'metrics-port': {
    type: 'int32',
    default: '10249',
    deprecated: replacedBy('metrics-bind-address'),
    help: 'port of the metrics server if its address has none; deprecated',
  },
  'nodeport-addresses': {
    type: 'strings',
    field: 'nodePortAddresses',
    help: 'CIDRs of the local addresses that serve node ports, comma-separated, or primary: the node IPs (empty: all); with --mirrored-version 1.37 and 1.38 also the words primary, localhost and all beside CIDRs',
  },
  'oom-score-adj': {
    type: 'int32',
    field: 'oomScoreAdj',
    help: 'oom_score_adj of this process, -1000 to 1000',
  },
  'pod-bridge-interface': {
    type: 'string',
    field: 'detectLocal.bridgeInterface',
    help: "name of the pods' bridge, for --detect-local-mode=BridgeInterface",
  },
  'pod-interface-name-prefix': {
    type: 'string',
    field: 'detectLocal.interfaceNamePrefix',
    help: "name prefix of the pods' interfaces, for --detect-local-mode=InterfaceNamePrefix",
  },
  profiling: { type: 'bool', field: 'enableProfiling', help: 'serve profiles on the metrics server' },
  'proxy-mode': { type: 'string', field: 'mode', help: 'iptables, ipvs or nftables; blank means iptables' },
  'proxy-port-range': {
    type: 'port-range',
    field: 'portRange',
    help: 'no effect, as in kube-proxy; deprecated',
  },
  'show-hidden-metrics-for-version': {
    type: 'string',
    field: 'showHiddenMetricsForVersion',
    help: 'no effect: there are no hidden metrics; only the version before the mirrored one is valid, 1.35 by default',
  },
  v: {
    type: 'level',
    short: 'v',
    field: 'logging.verbosity',
    withConfig: true,
    help: 'log verbosity; a line for each pass from 2 on, debug messages from 4 on',
  },
  version: {
    type: 'version',
    withConfig: true,
    help: 'print the version and exit; --version=raw prints details as JSON',
  },
  vmodule: {
    type: 'vmodule',
    field: 'logging.vmodule',
    withConfig: true,
    help: 'no effect: one verbosity applies to the whole program',
  },
  'write-config-to': {
    type: 'string',
    withConfig: true,
    help: 'write the configuration to this file, as YAML with every field, and exit',
  },
} as const satisfies Readonly<Record<string, Flag>>;

/** Every flag, by name. */
export const FLAGS: ReadonlyMap<string, Flag> = new Map<string, Flag>(
  Object.entries({ ...KUBE_PROXY_FLAGS, ...OWN_FLAGS }),
);
