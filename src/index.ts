// The main module of the library: a proxy of exchangeable parts. The kernel libraries are separate modules:
// kube-netlink-proxy/ipvs, /ipset, /rtnetlink, /conntrack, /kubernetes for sources, and /testing for fakes.
export { describeProblem, NetlinkError, type NetlinkErrorFacts, type Problem } from './errors.js';
export { createIpvsMode, IPVS_DEFAULTS, type IpvsKernel, type IpvsOptions } from './modes/ipvs/index.js';
export {
  type Desired,
  type HostRules,
  type KeyedOperation,
  type Known,
  type Maintenance,
  type Mode,
  type Plan,
  ROLLED_BACK,
} from './modes/mode.js';
export { createProxy, type ProxyEvents, type ProxyParts, type ServiceProxy } from './proxy.js';
export type { PlannedOperation } from './reconcile/reconciler.js';
export type { SyncSummary } from './reconcile/summary.js';
export { ManifestSource } from './source/manifests.js';
export type { Source, SourceEvents } from './source/source.js';
