// The settings that a Service has by annotation. docs/service-settings.md has the kernel's meaning of each.

import type { Family } from '../../../kernel/net/address.js';
import type { SettingName } from '../../input/settingNames.js';

/** The schedulers of IPVS that a Service may have (net/netfilter/ipvs/Kconfig). `twos` is left out: it needs a weight for each endpoint. */
export const SERVICE_SCHEDULERS = [
  ...(['rr', 'wrr', 'lc', 'wlc', 'sh', 'mh', 'dh', 'sed', 'nq', 'lblc', 'lblcr', 'fo', 'ovf'] as const),
] as const;

/** The name of a scheduler of a Service. */
export type ServiceScheduler = (typeof SERVICE_SCHEDULERS)[number];

/** A flag of the schedulers `sh` and `mh`: select another endpoint than one with weight 0; hash the source port too. */
export type HashFlag = 'fallback' | 'port';

/**
 * When the connections with an endpoint that is not terminating are reset. `removed`: when it leaves the Service's slices while it is
 * ready. `not-serving`: also when it does not serve any more.
 */
export type FailFast = 'removed' | 'not-serving';

/**
 * The weights of zones by their names, 0–1000. `same` is the zone of this node, unless it is named; `other` are all that neither name
 * nor `same` selects, and the endpoints in no known zone. An absent `same` is as `other`, and an absent `other` is 1.
 */
export type ZoneWeights = ReadonlyMap<string, number>;

/**
 * How packets reach endpoints on other nodes. `nat`: with the endpoint's address. `tunnel`: unchanged, in a tunnel to the endpoint's node,
 * from which replies go directly to the client.
 */
export type Forwarding = 'nat' | 'tunnel';

/** The settings of a Service that are allowed and valid. An absent one has the default of the mode. */
export interface ServiceSettings {
  readonly scheduler?: ServiceScheduler;
  /** Of `sh` and `mh` only; in this order. Absent: those of the mode. */
  readonly schedulerFlags?: readonly HashFlag[];
  /** In s, 1–4294967. Only of a Service with client-IP affinity. */
  readonly persistenceTimeout?: number;
  /** Prefix lengths that group clients: 1–32, 1–128. Only of a Service with client-IP affinity. */
  readonly persistenceNetmask?: Readonly<Partial<Record<Family, number>>>;
  /** Schedule every packet of the UDP ports by itself. */
  readonly onePacket?: boolean;
  /** Connections of one node with an endpoint from which on it gets no new ones, 1–4294967295. */
  readonly upperThreshold?: number;
  /** Connections below which it gets new ones again, 1–4294967295, at most the upper threshold. */
  readonly lowerThreshold?: number;
  /** Maximum time for which the real server of a terminating endpoint is draining, in s, 0–4294967. */
  readonly drainTimeout?: number;
  /** Time in which the weight of a new endpoint grows to its whole, in s, 1–86400. */
  readonly slowStart?: number;
  /** Absent: as in kube-proxy, where most connections with such endpoints wait for their own timeouts. */
  readonly failFast?: FailFast;
  /** Weights of endpoints by their zones. */
  readonly zoneWeights?: ZoneWeights;
  /** Of external and load-balancer IPs with policy Cluster. Absent: `nat`. */
  readonly forwarding?: Forwarding;
}

/** The setting of each field. */
export const SETTING_OF: Readonly<Record<keyof ServiceSettings, SettingName>> = {
  scheduler: 'scheduler',
  schedulerFlags: 'scheduler-flags',
  persistenceTimeout: 'persistence-timeout',
  persistenceNetmask: 'persistence-netmask',
  onePacket: 'one-packet',
  upperThreshold: 'upper-threshold',
  lowerThreshold: 'lower-threshold',
  drainTimeout: 'drain-timeout',
  slowStart: 'slow-start',
  failFast: 'fail-fast',
  zoneWeights: 'zone-weights',
  forwarding: 'forwarding',
};

/** The settings that are allowed. A text says why one has no effect in the mode of this node; undefined: it has. */
export type SettingRules = ReadonlyMap<SettingName, string | undefined>;

/** No setting is allowed. */
export const NO_SETTINGS: SettingRules = new Map();

/** The highest weight of a zone: its product with the weight of a slice, and ten for a slow start, is a weight that the kernel takes. */
export const MOST_ZONE_WEIGHT = 1000;

/** The highest weight of a slice, as in Cilium. */
export const MOST_WEIGHT = 65_535;
