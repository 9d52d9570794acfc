// The status of Services for health-check ports and metrics. It is updated when a Service is planned, without a loop
// over all Services.
import type { Family } from '../../kernel/net/address.js';
import { STATE } from '../../proxy/services/endpointList.js';
import type { ServicePlanInput, ServicePort } from '../../proxy/services/types.js';
import type { ServiceHealthCheck } from '../health/serviceHealth.js';

/** internalTrafficPolicy or externalTrafficPolicy. */
type PolicyName = 'internal' | 'external';

const FAMILIES = [4, 6] as const;
const POLICIES = ['internal', 'external'] as const;

/** The Service ports with policy Local that have endpoints, but none on this node. */
class WithoutLocal {
  readonly #ports = new Map<string, number>();
  #total = 0;

  /** Updates the number of such ports of a Service. */
  note(service: string, ports: number): void {
    this.#total += ports - (this.#ports.get(service) ?? 0);
    if (ports > 0) this.#ports.set(service, ports);
    else this.#ports.delete(service);
  }

  get services(): number {
    return this.#ports.size;
  }

  get ports(): number {
    return this.#total;
  }
}

/** The status of all Services. */
export class ServiceStatus {
  readonly #healthChecks = new Map<string, ServiceHealthCheck>();
  #changed = new Map<string, ServiceHealthCheck | undefined>();
  readonly #withoutLocal: Readonly<Record<PolicyName, Readonly<Record<Family, WithoutLocal>>>> = {
    internal: { 4: new WithoutLocal(), 6: new WithoutLocal() },
    external: { 4: new WithoutLocal(), 6: new WithoutLocal() },
  };

  /** Updates the status of a Service; undefined if it was deleted. */
  note(service: string, frontends: ServicePlanInput | undefined): void {
    const ports = frontends?.ports ?? [];
    this.#noteHealthCheck(service, frontends && healthCheckOf(frontends));
    for (const policy of POLICIES) {
      for (const family of FAMILIES) {
        const lacking = ports.filter((port) => port.family === family && lacksLocal(port, policy));
        this.#withoutLocal[policy][family].note(service, lacking.length);
      }
    }
  }

  /**
   * Health checks that changed since the last call, by `namespace/name` of the Service; undefined if it was removed.
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

  /** Numbers of Services and of Service ports with policy Local that have endpoints, but none on this node. */
  withoutLocal(policy: PolicyName, family: Family): { readonly services: number; readonly ports: number } {
    const { services, ports } = this.#withoutLocal[policy][family];
    return { services, ports };
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
  const ready = ports.map(({ endpoints }) => endpoints.select(STATE.local | STATE.ready));
  return new Set(ready.flatMap((list) => Array.from({ length: list.size }, (_, i) => list.addressAt(i))));
}

function lacksLocal(port: ServicePort, policy: PolicyName): boolean {
  const applies = port.frontends.some(
    ({ kind, localPolicy }) => localPolicy && (kind === 'clusterIP') === (policy === 'internal'),
  );
  const { endpoints } = port;
  const isUsable = () => endpoints.has(STATE.ready) || endpoints.has(STATE.serving | STATE.terminating);
  return applies && port.localEndpoints.size === 0 && isUsable();
}
