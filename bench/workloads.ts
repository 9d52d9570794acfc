// Workloads: of one family of operations, from a size; of a whole node, from the kernel that the proxy has programmed.
import type { SetDefinition, SetHeader } from '../src/kernel/ipset/types.js';
import type { RealServer, VirtualService } from '../src/kernel/ipvs/types.js';
import { addressAt, FIRST_SERVICE } from './cluster.js';
import type { Phase, Restore, ServedService, Workload } from './phases.js';
import { type Sandbox, VIRTUAL_LINK } from './sandbox.js';
import type { ScenarioName, Size } from './types.js';

/** Scenarios of one family of operations. */
export type FamilyScenario = Extract<ScenarioName, 'ipvs' | 'ipset' | 'addresses'>;

/** First address of the real servers: 10.128.0.0/9. */
const FIRST_SERVER = 0x0a80_0000;

/** The workload of a family for as many Services. */
export function familyWorkload(scenario: FamilyScenario, size: Size): Workload {
  const addresses = Array.from({ length: size.services }, (_, place) => addressAt(FIRST_SERVICE, place));
  switch (scenario) {
    case 'ipvs':
      return {
        sets: [],
        phases: [
          {
            kind: 'services',
            services: addresses.map((address, place) => served(address, place, size.endpoints)),
          },
        ],
      };
    case 'ipset':
      return entriesWorkload(addresses);
    case 'addresses':
      return { sets: [], link: VIRTUAL_LINK, phases: [{ kind: 'addresses', link: VIRTUAL_LINK, addresses }] };
  }
}

/** A virtual service with as many real servers, at a place among others. */
export function served(address: string, place: number, servers: number): ServedService {
  const service: VirtualService = {
    address,
    port: 80,
    protocol: 'tcp',
    scheduler: 'rr',
    schedulerFlags: [],
    onePacket: false,
  };
  return {
    service,
    realServers: Array.from({ length: servers }, (_, server) =>
      realServer(addressAt(FIRST_SERVER, place * servers + server)),
    ),
  };
}

/** A real server as the proxy adds it. */
export function realServer(address: string): RealServer {
  return { address, port: 8080, weight: 1, forwarding: 'masquerade', upperThreshold: 0, lowerThreshold: 0 };
}

function entriesWorkload(addresses: readonly string[]): Workload {
  // As many buckets as entries: a set that grows costs several times as much.
  const hash = {
    family: 4,
    hashSize: 2 ** Math.ceil(Math.log2(Math.max(64, addresses.length))),
    maxElements: 65_536,
  } as const;
  const ports: SetDefinition = { name: 'KUBE-CLUSTER-IP', type: 'hash:ip,port', ...hash };
  const plain: SetDefinition = { name: 'KUBE-IPVS-IPS', type: 'hash:ip', ...hash };
  return {
    sets: [ports, plain],
    phases: [
      {
        kind: 'entries',
        set: ports,
        entries: addresses.map((address) => ({ address, protocol: 'tcp', port: 80 })),
      },
      { kind: 'entries', set: plain, entries: addresses.map((address) => ({ address })) },
    ],
  };
}

/** What the proxy has programmed, as a workload in the order in which it adds: by address, not in the kernel's order. */
export async function readWorkload(sandbox: Sandbox, restores: readonly Restore[]): Promise<Workload> {
  const phases: Phase[] = [];
  const sets: SetDefinition[] = [];
  for (const header of await sandbox.ipset.list()) {
    const set = definitionOf(header);
    sets.push(set);
    const entries = (await sandbox.ipset.get(header.name))?.entries ?? [];
    if (entries.length > 0) phases.push({ kind: 'entries', set, entries });
  }
  phases.push({ kind: 'rules', restores });
  const services = await readServices(sandbox);
  if (services.length > 0) phases.push({ kind: 'services', services });
  const listed = await sandbox.host.rtnetlink.listAddresses();
  const addresses = listed
    .flatMap(({ link, address }) => (link === VIRTUAL_LINK ? [address] : []))
    .sort(byNumber);
  if (addresses.length > 0) phases.push({ kind: 'addresses', link: VIRTUAL_LINK, addresses });
  return { sets, link: VIRTUAL_LINK, phases };
}

async function readServices({ ipvs }: Sandbox): Promise<ServedService[]> {
  const services = (await ipvs?.listServices()) ?? [];
  const servers = (await ipvs?.listRealServers(services)) ?? [];
  const found = services.map((service, place) => ({ service, realServers: servers[place] ?? [] }));
  return found.sort(({ service: one }, { service: other }) => byNumber(addressOf(one), addressOf(other)));
}

function addressOf(service: VirtualService): string {
  return 'address' in service ? service.address : '';
}

function byNumber(one: string, other: string): number {
  return numberOf(one) - numberOf(other);
}

function numberOf(address: string): number {
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

function definitionOf(header: SetHeader): SetDefinition {
  const {
    revision: _r,
    references: _n,
    elements: _e,
    memorySize: _m,
    extended: _x,
    attributes: _a,
    ...set
  } = header;
  return set;
}
