// The rules of the verdict, each with its source, and the bounds of time that they depend on.

import type { Dials } from './frontends.js';

const PROXIES = 'https://kubernetes.io/docs/reference/networking/virtual-ips/';
const SERVICES = 'https://kubernetes.io/docs/concepts/services-networking/service/';
const SLICES = 'https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/';

/** The rules. */
export const RULES = {
  'ready-answers': {
    says: 'A connection to a Service that has had an endpoint for the whole bound is answered.',
    source: `${SERVICES}: Services send traffic to ready endpoints`,
  },
  'stream-answers': {
    says: 'A UDP stream to a Service that has had an endpoint for the whole bound is answered.',
    source: `${PROXIES}: the same Service over UDP; stale conntrack entries are deleted`,
  },
  'removed-not-chosen': {
    says: 'An endpoint that has left the slices is not chosen after the bound.',
    source: `${SLICES}: proxies route to the endpoints of the slices`,
  },
  'not-ready-not-chosen': {
    says: 'An endpoint that is not ready is not chosen after the bound.',
    source: `${SLICES}#ready: condition ready`,
  },
  'terminating-not-chosen': {
    says: 'A terminating endpoint is not chosen after the bound while another is ready.',
    source: `${PROXIES}#traffic-to-terminating-endpoints and KEP-1669`,
  },
  'local-policy': {
    says: 'With traffic policy Local, an endpoint of another node is not chosen.',
    source: `${PROXIES}#traffic-policies`,
  },
  hints: {
    says: 'If all ready endpoints have hints, only those for the zone of the node are chosen.',
    source: 'https://kubernetes.io/docs/concepts/services-networking/topology-aware-routing/: safeguards',
  },
  'own-endpoints': {
    says: 'Nothing answers at an address that no Service has, and no pod that the Service has never had.',
    source: `${PROXIES}: virtual IPs belong to one Service`,
  },
  'stale-stream': {
    says: 'A UDP stream leaves an endpoint that no longer serves, within the bound.',
    source: 'pkg/proxy/conntrack in kubernetes/kubernetes: stale UDP flows are deleted',
  },
  'every-endpoint': {
    says: 'Each endpoint of a Service without affinity is chosen sometimes.',
    source: `${PROXIES}: a proxy chooses at random, or by a scheduler, from all endpoints`,
  },
  refused: {
    says: 'A connection to the cluster IP of a Service without endpoints is refused at once.',
    source: `${PROXIES}: packets to a Service without endpoints are rejected`,
  },
  'source-ranges': {
    says: 'A client outside of loadBalancerSourceRanges is not answered at the IP of the load balancer.',
    source: 'Service v1, spec.loadBalancerSourceRanges',
  },
  'source-address': {
    says: 'The pod sees the client, or else an address of the node where masquerading is allowed.',
    source: 'https://kubernetes.io/docs/tutorials/services/source-ip/',
  },
  affinity: {
    says: 'With affinity ClientIP, a client reaches the same endpoint until the timeout, while it can be chosen.',
    source: `${PROXIES}#session-affinity`,
  },
  'affinity-ends': {
    says: 'A client that opens no connection for the timeout of affinity sometimes reaches another endpoint then.',
    source: `${PROXIES}#session-stickiness-timeout: the maximum session sticky time`,
  },
  'health-check': {
    says: 'A health-check node port answers 200 while the node has a ready endpoint, and else 503.',
    source: `${PROXIES}#external-traffic-policy and KEP-3836: load balancers leave out nodes without local endpoints`,
  },
  'established-kept': {
    says: 'A TCP connection to an endpoint that stays in the slices, ready or not, is not lost.',
    source: `${PROXIES}#traffic-to-terminating-endpoints: connections drain`,
  },
} as const;
export type RuleName = keyof typeof RULES;

/** Bounds, in ms, and what depends on the mode. */
export interface Bounds extends Dials {
  /** From the storing of a change to its effect in the kernel. */
  readonly programming: number;
  /** From the end of a fault that delays changes, or from damage, until all promises hold again. */
  readonly recovery: number;
  /** The most chance with which a correct proxy breaks rule `every-endpoint` once; no time. */
  readonly chance: number;
  /** Longest time to refuse a connection. */
  readonly refusal: number;
  /**
   * Whether the proxy runs in ipvs mode, of which less is demanded. Default: false.
   * - Cluster IPs with the internal policy Local may lead to endpoints of other nodes while the node has none: `syncEndpoint` of kube-proxy's
   *   pkg/proxy/ipvs does so.
   * - Affinity is that of a virtual service, and not of a Service (`ip_vs_ct_in_get` of the kernel). It lasts while the client has connections,
   *   and up to three minutes longer: rule `affinity-ends` is not judged.
   * - A virtual service chooses each endpoint sometimes, and not for each client: the scheduler `rr` deals in turn.
   * - IPVS drops one datagram of a flow whose real server was deleted (`ip_vs_in_hook`), also if the endpoint still serves.
   * - A node port stays if another program destroys the record of the virtual services while the proxy does not run (`unrecorded`).
   */
  readonly ipvs?: boolean;
}

/** Bounds of kube-proxy with its default periods: minSyncPeriod 1 s, syncPeriod 30 s. */
export const DEFAULT_BOUNDS: Bounds = { programming: 5_000, recovery: 45_000, chance: 1e-9, refusal: 1_500 };
