// The state of a kernel as phases of additions: what every method does, in the same order.
import type { IpsetOperation, SetDefinition, SetEntry } from '../src/kernel/ipset/types.js';
import type { IptablesOperation } from '../src/kernel/iptables/types.js';
import type { IpvsOperation, RealServer, VirtualService } from '../src/kernel/ipvs/types.js';
import type { Family } from '../src/kernel/net/address.js';
import type { RtnetlinkOperation } from '../src/kernel/rtnetlink/types.js';

/** A virtual service with its real servers. */
export interface ServedService {
  readonly service: VirtualService;
  readonly realServers: readonly RealServer[];
}

/** The addition or deletion of one real server. */
export interface ServerChange {
  readonly deleted: boolean;
  readonly service: VirtualService;
  readonly realServer: RealServer;
}

/** One `iptables-restore`. */
export interface Restore {
  readonly family: Family;
  readonly operations: readonly IptablesOperation[];
}

/** Additions of one kind. */
export type Phase =
  | { readonly kind: 'services'; readonly services: readonly ServedService[] }
  | { readonly kind: 'entries'; readonly set: SetDefinition; readonly entries: readonly SetEntry[] }
  | { readonly kind: 'addresses'; readonly link: string; readonly addresses: readonly string[] }
  | { readonly kind: 'rules'; readonly restores: readonly Restore[] };

/** What has to be in the kernel, and what is added to it. */
export interface Workload {
  /** Sets and the link, which are there before the time is taken. */
  readonly sets: readonly SetDefinition[];
  readonly link?: string;
  readonly phases: readonly Phase[];
  /** Restores of later changes of one endpoint each. Only iptables mode. */
  readonly changes?: readonly (readonly Restore[])[];
}

/** Numbers of this kernel that messages contain. */
export interface KernelNumbers {
  /** Id of the generic family IPVS; absent without it. */
  readonly ipvs?: number;
  /** Index of the link of the addresses. */
  readonly link: number;
}

/** Why a scenario cannot be measured. */
export const NO_IPVS = 'the kernel has no IPVS';

/** The operations of a phase for the library; none for rules, which have no such client. */
export type LibraryOperations =
  | { readonly client: 'ipvs'; readonly operations: readonly IpvsOperation[] }
  | { readonly client: 'ipset'; readonly operations: readonly IpsetOperation[] }
  | { readonly client: 'rtnetlink'; readonly operations: readonly RtnetlinkOperation[] };

/** Operations of a workload. */
export function countOperations(phases: readonly Phase[]): number {
  return phases.reduce((sum, phase) => sum + sizeOf(phase), 0);
}

/** The restores of a workload. */
export function restoresOf({ phases }: Workload): readonly Restore[] {
  return phases.flatMap((phase) => (phase.kind === 'rules' ? phase.restores : []));
}

/** Restores with one for each family, which makes all changes at once. Of the changes of a chain, the last one remains. */
export function joinedByFamily(restores: readonly Restore[]): Restore[] {
  return ([4, 6] as const).flatMap((family) => {
    const all = restores.flatMap((restore) => (restore.family === family ? restore.operations : []));
    const last = new Map(all.flatMap((each) => (each.do === 'setChain' ? [[chainOf(each), each]] : [])));
    const operations = all.filter((each) => each.do !== 'setChain' || last.get(chainOf(each)) === each);
    return operations.length > 0 ? [{ family, operations }] : [];
  });
}

function chainOf({ chain }: Extract<IptablesOperation, { do: 'setChain' }>): string {
  return `${chain.table}/${chain.name}`;
}

/** Operations of a phase. */
export function sizeOf(phase: Phase): number {
  switch (phase.kind) {
    case 'services':
      return phase.services.reduce((sum, { realServers }) => sum + 1 + realServers.length, 0);
    case 'entries':
      return phase.entries.length;
    case 'addresses':
      return phase.addresses.length;
    case 'rules':
      return phase.restores.reduce((sum, { operations }) => sum + operations.length, 0);
  }
}

/**
 * A part of a workload with about `limit` operations, spread over its phases as in the whole; rules are left out. A phase
 * keeps at least one element.
 */
export function sampleOf(phases: readonly Phase[], limit: number): Phase[] {
  const countable = phases.filter(({ kind }) => kind !== 'rules');
  const share = Math.min(1, limit / Math.max(1, countOperations(countable)));
  const part = <T>(values: readonly T[]): readonly T[] =>
    values.slice(0, Math.max(1, Math.floor(values.length * share)));
  return countable.map((phase) => {
    if (phase.kind === 'services') return { ...phase, services: part(phase.services) };
    if (phase.kind === 'entries') return { ...phase, entries: part(phase.entries) };
    return phase.kind === 'addresses' ? { ...phase, addresses: part(phase.addresses) } : phase;
  });
}

/** A phase as operations of the library. */
export function libraryOperations(phase: Exclude<Phase, { kind: 'rules' }>): LibraryOperations {
  switch (phase.kind) {
    case 'services':
      return { client: 'ipvs', operations: phase.services.flatMap(ipvsOperations) };
    case 'entries': {
      const { name, type, family } = phase.set;
      const set = { name, type, ...(family !== undefined && { family }) };
      // The entries of a phase are of the type of its set.
      const operations = phase.entries.map((entry) => ({ do: 'add', set, entry }) as IpsetOperation);
      return { client: 'ipset', operations };
    }
    case 'addresses': {
      const { link } = phase;
      const operations = phase.addresses.map((address) => ({
        do: 'addAddress' as const,
        address: { link, address, prefix: 32 },
      }));
      return { client: 'rtnetlink', operations };
    }
  }
}

function ipvsOperations({ service, realServers }: ServedService): IpvsOperation[] {
  return [
    { do: 'addService', service },
    ...realServers.map((realServer) => ({ do: 'addRealServer' as const, service, realServer })),
  ];
}
