// A history: events of a cluster and faults, each some time after the one before.
import type { Family, Zone } from './world.js';

/** Protocols of Service ports. */
export const PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** Traffic policies. */
export const POLICIES = ['Cluster', 'Local'] as const;
export type Policy = (typeof POLICIES)[number];

/** What a Service asks for. */
export interface ServiceSpec {
  /** From 1 to 60; its addresses and its node port end in it. No two Services have the same at one time. */
  readonly number: number;
  readonly families: readonly Family[];
  readonly protocols: readonly Protocol[];
  readonly nodePort: boolean;
  readonly externalIP: boolean;
  readonly loadBalancer: boolean;
  readonly internalPolicy: Policy;
  readonly externalPolicy: Policy;
  /** Timeout of session affinity, in s; 0 for none. */
  readonly affinity: number;
  /** Whether the load balancer admits the source ranges alone. */
  readonly ranges: boolean;
}

/**
 * Conditions of an endpoint, as EndpointSlices state them: `terminating` still serves, `ended` does not.
 */
export const CONDITIONS = ['ready', 'notReady', 'terminating', 'ended'] as const;
export type Condition = (typeof CONDITIONS)[number];

/** An endpoint of a Service, in every family of the Service. */
export interface EndpointSpec {
  readonly pod: string;
  readonly condition: Condition;
  /** The zone for which the control plane has hinted it. */
  readonly hint?: Zone;
}

/**
 * What a fault does to the promises: `delays` delays changes, and `damages` damages what was programmed. `ages` delays changes, and the
 * objects of an earlier time may be in force meanwhile. `replaces` delays changes, and what the proxy knew of clients is forgotten.
 * `none` has no effect on them.
 */
export type FaultEffect = 'delays' | 'damages' | 'ages' | 'replaces' | 'none';

/** The faults. */
export const FAULTS = {
  /** The proxy is killed with SIGKILL, and started again at the end of the fault. */
  proxyKilled: 'delays',
  /** The proxy is ended with SIGTERM, and started again at the end of the fault. */
  proxyEnded: 'delays',
  /** The proxy is stopped with SIGSTOP until the end of the fault. */
  proxyStopped: 'delays',
  /** The API server closes its port and connections until the end of the fault. */
  serverDown: 'delays',
  /** The API server answers 500 to every new request and ends its watches, until the end of the fault. */
  serverErrors: 'delays',
  /** The API server stops sending on open connections, and does not answer new requests until the end of the fault. */
  serverSilent: 'delays',
  /**
   * The API server has the objects and the version of an earlier time: the fault goes back as long as it lasts. What changes meanwhile
   * is stored at its end, when the current objects are there again.
   */
  serverOlder: 'ages',
  /** The API server has no past events: watches end with 410 (Expired), and so does each new one until the end of the fault. */
  serverCompacting: 'delays',
  /** The API server answers 403 to every new request and ends its watches, until the end of the fault. */
  serverForbidden: 'delays',
  /** The API server answers 429 to every new request, with a Retry-After of 1 s, and ends its watches, until the end of the fault. */
  serverThrottled: 'delays',
  /** The API server answers late, in small portions and pages, and sends the events of watches late, until the end of the fault. */
  serverSlow: 'delays',
  /** The proxy is ended, started in another mode, and at the end of the fault ended again and started in its own mode. */
  modeChanged: 'replaces',
  /** Another program flushes the chains of the proxy, or its virtual services. */
  chainsFlushed: 'damages',
  /** Another program deletes the tables, sets or addresses of the proxy. */
  tablesDeleted: 'damages',
  /** Another program removes the elements of all sets and maps of the proxy; in ipvs mode those of its ipsets. */
  setsFlushed: 'damages',
  /** Another program flushes all rules and destroys all ipsets; ipvs mode. */
  setsDestroyed: 'damages',
  /** Another program deletes all virtual services; ipvs mode. */
  virtualServicesDeleted: 'damages',
  /** Another program deletes the addresses of the dummy device; ipvs mode. */
  addressesDeleted: 'damages',
  /**
   * The table of connections has room for few more (nf_conntrack_max) until the end of the fault. The kernel drops the packets of new
   * connections without room. On a kernel of the run's own alone: the limit holds for all network namespaces.
   */
  conntrackSmall: 'damages',
  /** The running restore programs of the proxy are killed, and new ones fail until the end of the fault; iptables and ipvs mode. */
  restoreFails: 'delays',
  /** Another program holds the lock of iptables until the end of the fault; iptables and ipvs mode. */
  locksHeld: 'delays',
  /** The proxy can have no more address space than it has (RLIMIT_AS) until the end of the fault. If it ends, it is started again. */
  memoryShort: 'delays',
  /** The proxy can open no more descriptors (RLIMIT_NOFILE) until the end of the fault. If it ends, it is started again. */
  descriptorsShort: 'delays',
  /** The time of day steps an hour ahead, and back at the end of the fault. On a kernel of the run's own alone. */
  clockStepped: 'none',
} as const satisfies Record<string, FaultEffect>;
export type FaultName = keyof typeof FAULTS;

/** What happens at one time. */
export type Event =
  | { readonly do: 'setService'; readonly service: string; readonly spec: ServiceSpec }
  | { readonly do: 'deleteService'; readonly service: string }
  | { readonly do: 'setEndpoints'; readonly service: string; readonly endpoints: readonly EndpointSpec[] }
  | { readonly do: 'deleteEndpoints'; readonly service: string }
  | { readonly do: 'setNode'; readonly zone: Zone | '' }
  | { readonly do: 'fault'; readonly fault: FaultName; readonly lasts: number };

/** An event, and the time after the one before it, in ms. */
export interface Step {
  readonly after: number;
  readonly event: Event;
}

/** A history. Traffic goes on for a while after its last step. */
export interface History {
  /** The seed it was made from; a shrunk one keeps it. */
  readonly seed: number;
  readonly steps: readonly Step[];
}

/** One line about an event. */
export function describeEvent(event: Event): string {
  if (event.do === 'setService') return `Service ${event.service}: ${describeSpec(event.spec)}`;
  if (event.do === 'deleteService') return `Service ${event.service} is deleted`;
  if (event.do === 'deleteEndpoints') return `endpoints of ${event.service} are deleted`;
  if (event.do === 'setNode') return `node-a: ${event.zone === '' ? 'no zone' : event.zone}`;
  if (event.do === 'fault') return `fault ${event.fault}, ${event.lasts} ms`;
  const endpoints = event.endpoints.map(({ pod, condition, hint }) => {
    return `${pod} ${condition}${hint === undefined ? '' : ` for ${hint}`}`;
  });
  return `endpoints of ${event.service}: ${endpoints.join(', ') || 'none'}`;
}

function describeSpec(spec: ServiceSpec): string {
  return [
    `number ${spec.number}`,
    spec.families.map((family) => `IPv${family}`).join('+'),
    spec.protocols.join('+'),
    ...(spec.nodePort ? ['node port'] : []),
    ...(spec.externalIP ? ['external IP'] : []),
    ...(spec.loadBalancer ? ['load balancer'] : []),
    ...(spec.internalPolicy === 'Local' ? ['internal policy Local'] : []),
    ...(spec.externalPolicy === 'Local' ? ['external policy Local'] : []),
    ...(spec.affinity > 0 ? [`affinity ${spec.affinity} s`] : []),
    ...(spec.ranges ? ['source ranges'] : []),
  ].join(', ');
}
