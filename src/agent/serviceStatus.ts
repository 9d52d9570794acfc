// What load balancers and metrics are told of Services, kept as Services are planned: no walk over all of them.
import type { Family } from '../net/address.js';
import type { ServiceHealthCheck } from '../servers/serviceHealth.js';
import type { Endpoint, ServicePlanInput, ServicePort } from '../services/types.js';

/** Whose traffic policy is meant: internalTrafficPolicy or externalTrafficPolicy. */
export type PolicyName = 'internal' | 'external';

const FAMILIES = [4, 6] as const;
const POLICIES = ['internal', 'external'] as const;

/** What is known of all Services. */
export class ServiceStatus {
  readonly #healthChecks = new Map<string, ServiceHealthCheck>();
  #changed = new Map<string, ServiceHealthCheck | undefined>();
  /** `internal 4` → Services whose policy is Local, and which have endpoints, but none on this node. */
  readonly #withoutLocal = new Map<string, Set<string>>(
    POLICIES.flatMap((policy) =>
      FAMILIES.map((family): [string, Set<string>] => [`${policy} ${family}`, new Set()]),
    ),
  );

  /** Takes in what a Service means now; undefined when it is gone. */
  note(service: string, frontends: ServicePlanInput | undefined): void {
    const ports = frontends?.ports ?? [];
    this.#noteHealthCheck(service, frontends && healthCheckOf(frontends));
    for (const policy of POLICIES) {
      for (const family of FAMILIES) {
        const lacking = ports.some((port) => port.family === family && lacksLocal(port, policy));
        const services = this.#withoutLocal.get(`${policy} ${family}`);
        if (lacking) services?.add(service);
        else services?.delete(service);
      }
    }
  }

  /**
   * Services by `namespace/name` about which load balancers ask something else than when this was called last; undefined
   * where they ask no more.
   */
  takeHealthCheckChanges(): ReadonlyMap<string, ServiceHealthCheck | undefined> {
    const changes = this.#changed;
    this.#changed = new Map();
    return changes;
  }

  #noteHealthCheck(service: string, check: ServiceHealthCheck | undefined): void {
    const before = this.#healthChecks.get(service);
    const same = before?.port === check?.port && isSameCount(before?.localEndpoints, check?.localEndpoints);
    if (same) return;
    if (check) this.#healthChecks.set(service, check);
    else this.#healthChecks.delete(service);
    this.#changed.set(service, check);
  }

  /** How many Services have a policy Local and no endpoint on this node, though there are some elsewhere. */
  withoutLocal(policy: PolicyName, family: Family): number {
    return this.#withoutLocal.get(`${policy} ${family}`)?.size ?? 0;
  }
}

function healthCheckOf({ healthCheckNodePort, ports }: ServicePlanInput): ServiceHealthCheck | undefined {
  if (healthCheckNodePort === 0) return undefined;
  const localEndpoints: { [family in Family]?: number } = {};
  for (const family of FAMILIES) {
    const ofFamily = ports.filter((port) => port.family === family);
    if (ofFamily.length > 0) localEndpoints[family] = localAddresses(ofFamily).size;
  }
  return { port: healthCheckNodePort, localEndpoints };
}

type Counts = ServiceHealthCheck['localEndpoints'] | undefined;

function isSameCount(a: Counts, b: Counts): boolean {
  return FAMILIES.every((family) => a?.[family] === b?.[family]);
}

function localAddresses(ports: readonly ServicePort[]): Set<string> {
  const endpoints = ports.flatMap((port) => port.endpoints.filter(({ local, ready }) => local && ready));
  return new Set(endpoints.map(({ address }) => address));
}

function lacksLocal(port: ServicePort, policy: PolicyName): boolean {
  const applies = port.frontends.some(
    ({ kind, localPolicy }) => localPolicy && (kind === 'clusterIP') === (policy === 'internal'),
  );
  return applies && port.localEndpoints.length === 0 && port.endpoints.some(isUsable);
}

function isUsable({ ready, serving, terminating }: Endpoint): boolean {
  return ready || (serving && terminating);
}
