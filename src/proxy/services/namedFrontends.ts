// The frontends of all Services under the names of their Services, for people.
import type { Family } from '../../kernel/net/address.js';
import type { Protocol } from '../../kernel/net/protocol.js';
import type { ServiceCache } from './serviceCache.js';
import { settingsOfAgent } from './settings/describe.js';
import type { FrontendKind, NodeFacts, ServicePlanInput } from './types.js';

/** A frontend with the names of its Service and its port. */
export interface NamedFrontend {
  /** `namespace/name`. */
  readonly service: string;
  /** Name of the Service port; may be empty. */
  readonly portName: string;
  readonly kind: FrontendKind;
  readonly family: Family;
  /** Canonical address. Empty for a node port: it is served on several addresses of the node. */
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** Settings of the Service that no object in the kernel shows: `fail-fast removed`, `drain-timeout 30s`. Absent: none. */
  readonly settings?: readonly string[];
}

/** The frontends of every Service that is proxied, without those of lost claims. */
export function* namedFrontends(
  cache: Pick<ServiceCache, 'serviceNames' | 'planInput'>,
  node: NodeFacts,
): Generator<NamedFrontend> {
  for (const service of cache.serviceNames()) yield* frontendsOfInput(cache.planInput(service, node));
}

/** The frontends of one Service; none if there is no such Service. */
export function* frontendsOfInput(input: ServicePlanInput | undefined): Generator<NamedFrontend> {
  if (!input) return;
  const { service, settings = {} } = input;
  for (const { portName, family, protocol, frontends } of input.ports) {
    const words = settingsOfAgent(settings, protocol);
    const shown = words.length > 0 ? { settings: words } : {};
    for (const { kind, address, port } of frontends) {
      yield { service, portName, kind, family, address, port, protocol, ...shown };
    }
  }
}
