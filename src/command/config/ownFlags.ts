// The declaration of the flags that kube-proxy does not have.
import type { Flag } from './flag.js';

/** Flags that kube-proxy does not have. */
export const OWN_FLAGS = {
  manifests: {
    type: 'string',
    withConfig: true,
    help: 'directory of .yaml, .yml and .json files, or one file, to read Services, EndpointSlices and Nodes from',
  },
  once: {
    type: 'bool',
    withConfig: true,
    help: 'program the kernel once, print the operations, and exit; status 0 if all succeeded',
  },
  timeout: {
    type: 'float32',
    withConfig: true,
    default: '30',
    help: 'with --once: time limit of the API server, in s',
  },
  'ipvs-own-all': {
    type: 'bool',
    withConfig: true,
    help: 'delete every virtual service that no Service needs, like kube-proxy, even if another program created it',
  },
  'ipvs-rules': {
    type: 'string',
    withConfig: true,
    default: 'iptables',
    help: 'ipvs mode: write rules with iptables and ipset, as kube-proxy does; with nftables; or auto: with nftables where iptables or ipset is missing',
  },
  cures: {
    type: 'strings',
    withConfig: true,
    help: 'bugs of kube-proxy to correct, comma-separated: see docs/differences.md (default none)',
  },
  'mirrored-version': {
    type: 'string',
    withConfig: true,
    default: '1.36',
    help: 'version of kube-proxy to mirror: 1.36, 1.37, or 1.38, which is provisional (a pre-release); overrides mirroredVersion of the file; see docs/versions.md',
  },
  'service-settings': {
    type: 'strings',
    withConfig: true,
    help: 'settings that a Service may have by annotation, comma-separated (default none); overrides serviceSettings of the file; see docs/service-settings.md',
  },
  'service-external-ip-range': {
    type: 'strings',
    withConfig: true,
    help: 'networks that external IPs of Services must be in, comma-separated: CIDR, NAMESPACE=CIDR, or none (default: any address); overrides serviceExternalIPRange of the file; see docs/configuration.md',
  },
  'loadbalancer-ip-range': {
    type: 'strings',
    withConfig: true,
    help: 'the same for load-balancer IPs; overrides loadBalancerIPRange of the file',
  },
  'nftables-layout': {
    type: 'string',
    withConfig: true,
    default: 'kube-proxy',
    help: 'nftables mode: kube-proxy, or scalable: changes cost less in clusters with many Services',
  },
  'nftables-flow-table': {
    type: 'strings',
    withConfig: true,
    help: 'nftables mode: links between which established flows of Services bypass the rules, comma-separated: names, and beginnings of names with an asterisk (default none); needs Linux 5.13 with nf_flow_table; see docs/configuration.md',
  },
  'drain-timeout': {
    type: 'duration',
    withConfig: true,
    default: '15m0s',
    help: 'maximum time for which the real server of a terminating endpoint is draining',
  },
  'whole-min-sync-period': {
    type: 'bool',
    withConfig: true,
    help: 'wait the whole minSyncPeriod after each pass, as kube-proxy does; default: passes rest four times as long as they take, minSyncPeriod at most',
  },
  'leave-unreachable-nodes': {
    type: 'bool',
    withConfig: true,
    help: 'send no new connections to endpoints on nodes that do not answer this one, at most half of the endpoints of each Service; default: the control plane alone decides, after 40 s; see docs/configuration.md',
  },
  'exit-on-config-change': {
    type: 'bool',
    withConfig: true,
    help: 'exit when the configuration file changes, as kube-proxy does: all nodes that share a ConfigMap then change at once; default: changes wait for the next start',
  },
  'healthz-bind-hard-fail': {
    type: 'bool',
    withConfig: true,
    help: 'exit if the address of the health server cannot be bound: no other program then answers the probes of the pod',
  },
  'object-events': {
    type: 'bool',
    withConfig: true,
    help: 'send an event about each object that is left out, completely or partly; at most ten an hour from a node',
  },
} as const satisfies Readonly<Record<string, Flag>>;
