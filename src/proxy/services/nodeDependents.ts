// Finds the Services that depend on a fact of the node: if the fact changes, only these are planned again.
import type { Family } from '../../kernel/net/address.js';
import { dependOnNodeZone } from './settings/zoneWeights.js';
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
  /** External or load-balancer IP → Services: one, which nearly every address has, is not in a set. */
  readonly #byAddress = new Map<string, string | Set<string>>();
  /** Service → its external and load-balancer IPs. */
  readonly #addresses = new Map<string, ReadonlySet<string>>();

  /** Records the input of a Service's plan; undefined if the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void {
    let zone = dependOnNodeZone(input?.settings?.zoneWeights);
    let nodeIPs = false;
    let nodePorts = false;
    let outside: Set<string> | undefined;
    for (const { endpoints, frontends } of input?.ports ?? []) {
      zone ||= endpoints.zoneHints !== undefined;
      for (const { kind, address, sourceRanges } of frontends) {
        nodeIPs ||= sourceRanges.length > 0;
        nodePorts ||= kind === 'nodePort';
        if (kind === 'externalIP' || kind === 'loadBalancerIP') {
          outside ??= new Set();
          outside.add(address);
        }
      }
    }
    mark(this.#zone, service, zone);
    mark(this.#nodeIPs, service, nodeIPs);
    mark(this.#nodePorts, service, nodePorts);
    this.#file(service, outside ?? NONE);
  }

  /** Services whose plans may change. */
  of({ zone, nodeIPs, nodePorts, addresses }: NodeChange): Set<string> {
    return new Set([
      ...(zone ? this.#zone : []),
      ...(nodeIPs ? this.#nodeIPs : []),
      ...(nodePorts ? this.#nodePorts : []),
      ...addresses.flatMap((address) => this.#servicesAt(address)),
    ]);
  }

  #servicesAt(address: string): readonly string[] {
    const services = this.#byAddress.get(address);
    if (services === undefined) return [];
    return typeof services === 'string' ? [services] : [...services];
  }

  /** Its cost is that of the addresses that change, besides a look at each. */
  #file(service: string, addresses: ReadonlySet<string>): void {
    const former = this.#addresses.get(service) ?? NONE;
    for (const address of former) {
      if (!addresses.has(address)) this.#remove(address, service);
    }
    for (const address of addresses) {
      if (!former.has(address)) this.#add(address, service);
    }
    if (addresses.size > 0) this.#addresses.set(service, addresses);
    else this.#addresses.delete(service);
  }

  #add(address: string, service: string): void {
    const services = this.#byAddress.get(address);
    if (services === undefined) this.#byAddress.set(address, service);
    else if (typeof services === 'string') this.#byAddress.set(address, new Set([services, service]));
    else services.add(service);
  }

  #remove(address: string, service: string): void {
    const services = this.#byAddress.get(address);
    if (typeof services === 'string' || services === undefined) this.#byAddress.delete(address);
    else {
      services.delete(service);
      if (services.size === 0) this.#byAddress.delete(address);
    }
  }
}

const NONE: ReadonlySet<string> = new Set();

function mark(services: Set<string>, service: string, belongs: boolean): void {
  if (belongs) services.add(service);
  else services.delete(service);
}
