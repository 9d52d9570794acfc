// The main module of the library: a proxy of exchangeable parts. The kernel libraries are separate modules:
// kube-netlink-proxy/ipvs, /ipset, /rtnetlink, /nftables, /nftables/text, /conntrack and /netlink; /kubernetes has sources, and /testing fakes.
export {
  describeProblem,
  NetlinkError,
  type NetlinkErrorFacts,
  type ObjectReference,
  type Problem,
  type ProblemReason,
  ROLLED_BACK,
} from '../kernel/errors.js';
export type { AddressPorts } from '../kernel/net/addressPorts.js';
export type { AddressRanges } from './input/addressRanges.js';
export { type Annotations, SETTING_NAMES, type SettingName } from './input/settingNames.js';
export {
  createIptablesMode,
  IPTABLES_DEFAULTS,
  type IptablesKernel,
  type IptablesOptions,
} from './modes/iptables/index.js';
export type { Item as IptablesItem } from './modes/iptables/plan/items.js';
export type { Operation as IptablesModeOperation } from './modes/iptables/plan/operations.js';
export { createIpvsMode, IPVS_DEFAULTS, type IpvsKernel, type IpvsOptions } from './modes/ipvs/index.js';
export type { Item as IpvsItem } from './modes/ipvs/plan/items.js';
export type { Operation as IpvsModeOperation } from './modes/ipvs/plan/operations.js';
export { CURES, type Cure } from './modes/ipvs/plan/options.js';
export type {
  Comparison,
  Desired,
  DisturbedCheck,
  DisturbedListener,
  FormerMode,
  FormerState,
  Found,
  HostRules,
  ItemGroups,
  ItemRules,
  Keep,
  KeyedOperation,
  Known,
  Maintenance,
  Mode,
  Pass,
  PhasedOperation,
  PieceRules,
  Plan,
  RefusedPart,
  SharedEndpoints,
  Transactions,
  Upkeep,
} from './modes/mode.js';
export {
  createNftablesMode,
  NFTABLES_DEFAULTS,
  type NftablesKernel,
  type NftablesLayout,
  type NftablesOptions,
} from './modes/nftables/index.js';
export type { Item as NftablesItem } from './modes/nftables/plan/items.js';
export type { Operation as NftablesModeOperation } from './modes/nftables/plan/operations.js';
export type { LocalDetector } from './modes/shared/plan/localDetector.js';
export type { ReachChange, ReachListener, ReachSign, ReachWatch } from './nodes/types.js';
export { CONDITIONS, type SliceEndpoint, SliceEndpoints } from './objects/sliceEndpoints.js';
export type {
  EndpointSlice,
  KubernetesObject,
  Node,
  ObjectChange,
  PerFamily,
  Service,
  ServiceCIDR,
  ServiceObjectPort,
  SlicePort,
  TrafficPolicy,
} from './objects/types.js';
export type { ZoneColumn } from './objects/zoneColumn.js';
export { createProxy, type ProxyEvents, type ProxyParts, type ServiceProxy } from './proxy.js';
export type { CleanUpSummary } from './reconcile/cleanUp.js';
export type { FormerModeEvents } from './reconcile/formerModes.js';
export type { PlannedOperation } from './reconcile/plannedOperation.js';
export type { Failure, SyncSummary } from './reconcile/summary.js';
export { type Endpoint, type EndpointList, STATE } from './services/endpointList.js';
export type { NamedFrontend } from './services/namedFrontends.js';
export {
  type FailFast,
  type Forwarding,
  type HashFlag,
  SERVICE_SCHEDULERS,
  type ServiceScheduler,
  type ServiceSettings,
  type SettingRules,
  type ZoneWeights,
} from './services/settings/types.js';
export type {
  AssignedAddress,
  EndpointExcess,
  Frontend,
  FrontendKind,
  HostAddress,
  HostChange,
  HostFacts,
  HostLink,
  NodeFacts,
  ServicePlanInput,
  ServicePort,
} from './services/types.js';
export { type ManifestOptions, ManifestSource, type SourceClock } from './source/manifests.js';
export type { Source, SourceEvents } from './source/source.js';
