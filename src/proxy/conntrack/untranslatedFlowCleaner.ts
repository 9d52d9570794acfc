// Deletes the flows to a Service's frontends that began before its rules were in the kernel, or while another program had deleted them.
import type { ServicePlanInput, ServicePort } from '../services/types.js';
import { type CheckedFlows, FlowChecks, type FlowResult, type Unfinished } from './flowChecks.js';
import type { FrontendLookup } from './frontendLookup.js';
import { selectUntranslated, untranslatedFlows } from './untranslatedFlows.js';

/** What is checked: a Service, of which only the ports that the other cleaner of UDP flows does not check if `withUDP` is false; or all. */
type Subject = { readonly service: string; readonly withUDP: boolean } | 'all';

/** The owners of an item. */
export interface ItemOwners {
  /** `namespace/name`. */
  readonly services: readonly string[];
  readonly node: boolean;
}

/** Records the Services with new frontends and those whose items were repaired, and checks the flows to their frontends. */
export class UntranslatedFlowCleaner {
  /** By Service; the name of all is empty. */
  readonly #checks: FlowChecks<Subject>;
  /** Service → what its frontends without those of UDP are, in 32 bits. Their list would take more memory. */
  readonly #frontends = new Map<string, number>();
  /** Services that have frontends since the last check which they did not have before. */
  readonly #fresh = new Set<string>();
  /** The kernel accepted an operation since the last check. Otherwise it had the rules of all Services before, as at a restart. */
  #programmed = false;

  constructor(conntrack: CheckedFlows, lookup: FrontendLookup) {
    this.#checks = new FlowChecks<Subject>(conntrack, {
      select: (subjects) => selectUntranslated(portsOf(subjects, lookup)),
      choose: (flows) => untranslatedFlows(flows, lookup),
    });
  }

  /** Time until the next check is due without a change, in ms; undefined if no Service is pending that the kernel has. */
  get dueIn(): number | undefined {
    return this.#checks.dueIn;
  }

  /** Records the input of a Service's plan; undefined if the Service was deleted. */
  planned(service: string, input: ServicePlanInput | undefined): void {
    const now = input && digestOf(input.ports);
    if (now === undefined) this.#frontends.delete(service);
    else {
      if (this.#frontends.get(service) !== now) this.#fresh.add(service);
      this.#frontends.set(service, now);
    }
  }

  /** The kernel accepted an operation on an item. @param repaired its owners, if it repaired a change by another program */
  programmed(repaired: ItemOwners | undefined): void {
    this.#programmed = true;
    if (repaired?.node) this.#checks.add('', '', 'all');
    for (const service of repaired?.services ?? [])
      this.#checks.add(service, service, { service, withUDP: true });
  }

  /** Deletes the flows of all pending Services. */
  run(unfinished?: Unfinished): Promise<FlowResult> {
    for (const service of this.#fresh) {
      // What the kernel refused is programmed later.
      if (!this.#programmed && unfinished?.has(service)) continue;
      this.#fresh.delete(service);
      if (this.#programmed && !this.#checks.get(service))
        this.#checks.add(service, service, { service, withUDP: false });
    }
    this.#programmed = false;
    return this.#checks.run(unfinished);
  }
}

/** The ports whose flows are listed; undefined: those of all Services. */
function portsOf(subjects: readonly Subject[], { frontendsOf }: Pick<FrontendLookup, 'frontendsOf'>) {
  if (subjects.includes('all')) return undefined;
  return ports();
  function* ports() {
    for (const subject of subjects)
      if (subject !== 'all')
        for (const port of frontendsOf(subject.service))
          if (subject.withUDP || port.protocol !== 'udp') yield port;
  }
}

/** 32 bits that change when a frontend is added, or changes its address or port (FNV-1a); undefined without frontends. */
function digestOf(ports: readonly ServicePort[]): number | undefined {
  let digest: number | undefined;
  for (const { family, protocol, frontends } of ports) {
    if (protocol === 'udp') continue;
    for (const { kind, address, port } of frontends) {
      digest ??= 0x811c9dc5;
      for (const character of [family, protocol, kind, address, port].join())
        digest = Math.imul(digest ^ character.charCodeAt(0), 0x01000193);
    }
  }
  return digest;
}
