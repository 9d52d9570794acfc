// Finds the Services that depend on a fact of the node: if the fact changes, only these are planned again.
import type { Family } from '../net/address.js';
import type { NodeChange, NodeFacts, ServicePlanInput } from './types.js';

/** The differences between two states of the node. */
export function nodeChange(before: NodeFacts, after: NodeFacts): NodeChange {
  const nodePorts = (family: Family) =>
    symmetricDifference(
      new Set(before.host.nodePortAddresses[family]),
      new Set(after.host.nodePortAddresses[family]),
    );
  return {
    zone: before.zone !== after.zone,
    nodeIPs: before.nodeIPs[4] !== after.nodeIPs[4] || before.nodeIPs[6] !== after.nodeIPs[6],
    nodePorts: nodePorts(4).length + nodePorts(6).length > 0,
    addresses: [
      ...symmetricDifference(before.host.addresses, after.host.addresses),
      ...symmetricDifference(before.otherNodes, after.otherNodes),
    ],
  };
}

/** Elements of exactly one of the sets. */
function symmetricDifference(a: ReadonlySet<string>, b: ReadonlySet<string>): string[] {
  if (a === b) return [];
  return [...[...a].filter((element) => !b.has(element)), ...[...b].filter((element) => !a.has(element))];
}

/** The Services that depend on each fact of the node, from their last inputs. */
export class NodeDependents {
  readonly #zone = new Set<string>();
  readonly #nodeIPs = new Set<string>();
  readonly #nodePorts = new Set<string>();
  /** External or load-balancer IP → Services. */
  readonly #byAddress = new Map<string, Set<string>>();
  /** Service → its external and load-balancer IPs. */
  readonly #addresses = new Map<string, ReadonlySet<string>>();

  /** Records the input of a Service's plan; undefined if the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void {
    let zone = false;
    let nodeIPs = false;
    let nodePorts = false;
    const outside = new Set<string>();
    for (const { endpoints, frontends } of input?.ports ?? []) {
      zone ||= endpoints.zoneHints !== undefined;
      for (const { kind, address, sourceRanges } of frontends) {
        nodeIPs ||= sourceRanges.length > 0;
        nodePorts ||= kind === 'nodePort';
        if (kind === 'externalIP' || kind === 'loadBalancerIP') outside.add(address);
      }
    }
    mark(this.#zone, service, zone);
    mark(this.#nodeIPs, service, nodeIPs);
    mark(this.#nodePorts, service, nodePorts);
    this.#file(service, outside);
  }

  /** Services whose plans may change. */
  of({ zone, nodeIPs, nodePorts, addresses }: NodeChange): Set<string> {
    return new Set([
      ...(zone ? this.#zone : []),
      ...(nodeIPs ? this.#nodeIPs : []),
      ...(nodePorts ? this.#nodePorts : []),
      ...addresses.flatMap((address) => [...(this.#byAddress.get(address) ?? [])]),
    ]);
  }

  #file(service: string, addresses: ReadonlySet<string>): void {
    for (const address of this.#addresses.get(service) ?? []) {
      const services = this.#byAddress.get(address);
      services?.delete(service);
      if (services?.size === 0) this.#byAddress.delete(address);
    }
    this.#addresses.delete(service);
    if (addresses.size === 0) return;
    this.#addresses.set(service, addresses);
    for (const address of addresses) {
      const services = this.#byAddress.get(address);
      if (services) services.add(service);
      else this.#byAddress.set(address, new Set([service]));
    }
  }
}

function mark(services: Set<string>, service: string, belongs: boolean): void {
  if (belongs) services.add(service);
  else services.delete(service);
}
