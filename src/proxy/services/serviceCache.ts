// The latest objects, and the Services that a change affects. Uses no clock, log or kernel.
import type { Problem } from '../../kernel/errors.js';
import { type Family, familyOf } from '../../kernel/net/address.js';
import type { Protocol } from '../../kernel/net/protocol.js';
import type { AddressRanges } from '../input/addressRanges.js';
import { isProxied } from '../objects/frontendCount.js';
import {
  type EndpointSlice,
  type Node,
  type ObjectChange,
  type Service,
  serviceKey,
} from '../objects/types.js';
import { AllowedAddresses } from './addressRanges.js';
import {
  addressClaim,
  type Claim,
  type Claimant,
  Claims,
  nodePortClaim,
  type RankedClaims,
} from './claims.js';
import { EndpointCount } from './endpointCount.js';
import { claimsOf, frontendsOf } from './frontends.js';
import { LeftEndpoints } from './leftEndpoints.js';
import { type LostClaims, lostClaimsOf } from './lostClaims.js';
import { NodeCache } from './nodeCache.js';
import { type KeyedService, type OrderOfService, orderOfService } from './orderOfService.js';
import { planInputOf } from './planInput.js';
import { SettingsReader } from './settings/settingsReader.js';
import { NO_SETTINGS, type SettingRules } from './settings/types.js';
import type { Frontend, NodeFacts, ServicePlanInput } from './types.js';

/** The name of a Service, a node or a ServiceCIDR that a change affects. */
type Touched = { readonly service: string } | { readonly node: string } | { readonly serviceCIDR: string };

/** A Service with its slices. Slices may exist before their Service and after it. */
class Entry implements Claimant {
  /** All parts of the proxy share this text. */
  readonly service: string;
  object: Service | undefined;
  /** One slice, which nearly every Service has, is not in a set, to save memory. */
  slices: EndpointSlice | Set<EndpointSlice> | undefined;
  /** The slices of the last plan. One slice is not in a list, to save memory. */
  planned: EndpointSlice | readonly EndpointSlice[] | undefined;
  /** The endpoints that left the slices since the last plan; undefined while no slice lost an endpoint. */
  left: LeftEndpoints | undefined;

  constructor(service: string) {
    this.service = service;
  }

  get createdAt(): number {
    return this.object?.createdAt ?? 0;
  }
}

/** Options of a cache. */
export interface ServiceCacheOptions {
  /** Serve external IPs; default true. Without them, a Service is as if it named none. */
  readonly externalIPs?: boolean | undefined;
  /** The frontends of a port share its endpoints, see `Mode.sharedEndpoints`; default false. */
  readonly sharesEndpoints?: boolean | undefined;
  /** The networks that external and load-balancer IPs must be in; default: they may be any. */
  readonly addressRanges?: AddressRanges | undefined;
  /** The settings by annotation that are allowed; default none. */
  readonly settingRules?: SettingRules | undefined;
}

/** All objects that the source has reported. */
export class ServiceCache {
  /** `namespace/name` → Service. */
  readonly #entries = new Map<string, Entry>();
  /** Namespace → name → slice, as it is stored for its Service. */
  readonly #slices = new Map<string, Map<string, EndpointSlice>>();
  readonly #nodes = new NodeCache();
  /** ServiceCIDR → its networks. */
  readonly #serviceCIDRs = new Map<string, readonly string[]>();
  readonly #claims = new Claims();
  readonly #endpoints = new EndpointCount();
  readonly #addresses: AllowedAddresses;
  readonly #sharesEndpoints: boolean;
  readonly #settings: SettingsReader;

  constructor({
    externalIPs = true,
    addressRanges = {},
    sharesEndpoints = false,
    settingRules = NO_SETTINGS,
  }: ServiceCacheOptions = {}) {
    this.#addresses = new AllowedAddresses(addressRanges, externalIPs);
    this.#sharesEndpoints = sharesEndpoints;
    this.#settings = new SettingsReader(settingRules);
  }

  /**
   * Applies a change. It may affect several Services: a slice may change its Service, and a Service may claim an
   * address of another one.
   */
  apply(change: ObjectChange): Touched[] {
    const { object, type } = change;
    switch (object.kind) {
      case 'Service':
        return this.#setService(this.#addresses.allowed(object), type === 'set');
      case 'EndpointSlice':
        return this.#setSlice(object, type === 'set');
      case 'Node':
        this.#nodes.set(object, type === 'set');
        return [{ node: object.name }];
      case 'ServiceCIDR':
        if (type === 'set') this.#serviceCIDRs.set(object.name, object.cidrs);
        else this.#serviceCIDRs.delete(object.name);
        return [{ serviceCIDR: object.name }];
    }
  }

  /** Names of all Services, as `namespace/name`. */
  *serviceNames(): Generator<string, void> {
    for (const { service, object } of this.#entries.values()) if (object) yield service;
  }

  /** The order in which these Services are programmed. Names of deleted Services are last. */
  order(names: Iterable<string>): OrderOfService {
    const existing: KeyedService[] = [];
    const deleted: string[] = [];
    for (const name of names) {
      const entry = this.#entries.get(name);
      if (entry?.object) existing.push({ service: entry.service, object: entry.object });
      else deleted.push(name);
    }
    const { vital, others } = orderOfService(existing);
    return { vital, others: others.concat(deleted) };
  }

  node(name: string): Node | undefined {
    return this.#nodes.get(name);
  }

  /** Addresses of all nodes except the named one. The same set until one of them changes. */
  addressesOfOthers(name: string): ReadonlySet<string> {
    return this.#nodes.addressesOfOthers(name);
  }

  /** The addresses of each node except the named one, by its name. */
  otherNodes(name: string): Map<string, readonly string[]> {
    return this.#nodes.others(name);
  }

  /** The Services with endpoints on a node. Looks at all slices: for events of nodes, which are rare. */
  servicesOn(node: string): Set<string> {
    const services = new Set<string>();
    for (const entry of this.#entries.values()) {
      const isThere = slicesOf(entry).some(({ endpoints }) => endpoints.nodeNames.includes(node));
      if (entry.object && isThere) services.add(entry.service);
    }
    return services;
  }

  /** The node of an endpoint of the Service that has a frontend, or a node port of this number; undefined if it is not known. */
  nodeOfEndpoint(
    {
      address,
      port,
      protocol,
    }: { readonly address: string; readonly port: number; readonly protocol: Protocol },
    endpoint: string,
  ): string | undefined {
    const family = familyOf(endpoint);
    const claims = [addressClaim(address, port, protocol), nodePortClaim(port, family, protocol)];
    const service = this.#claims.holder(claims[0] as Claim) ?? this.#claims.holder(claims[1] as Claim);
    if (service === undefined) return undefined;
    for (const { endpoints } of this.slices(service)) {
      const found = endpoints.nodeOf(endpoint);
      if (found) return found;
    }
    return undefined;
  }

  /** The networks of all ServiceCIDRs, each once, in the order of their text. */
  get serviceCIDRs(): readonly string[] {
    return [...new Set([...this.#serviceCIDRs.values()].flat())].sort();
  }

  /** Number of endpoints of all Services in each family. The same object until it changes. */
  get totalEndpoints(): ServicePlanInput['totalEndpoints'] {
    return this.#endpoints.total;
  }

  /** The input of a Service's plan on the node; undefined if there is no such Service. */
  planInput(service: string, node: NodeFacts): ServicePlanInput | undefined {
    const entry = this.#entries.get(service);
    if (!entry?.object) return undefined;
    const holds = (claim: Claim) => this.#claims.holder(claim) === service;
    const slices = slicesOf(entry);
    return planInputOf(entry.service, entry.object, {
      slices,
      node,
      totalEndpoints: this.#endpoints.total,
      holds: this.#claims.contested ? holds : undefined,
      left: entry.left?.endpoints(),
      failed: entry.left?.failed(slices),
      sharesEndpoints: this.#sharesEndpoints,
      settings: this.#settings,
    });
  }

  /** The Service is planned from its objects as they are now: the next input lists the endpoints that leave its slices from now on. */
  planned(service: string): void {
    const entry = this.#entries.get(service);
    if (!entry) return;
    const slices = slicesOf(entry);
    const planned = slices.length === 1 ? slices[0] : slices;
    entry.planned = entry.object ? planned : undefined;
    entry.left = undefined;
  }

  /** The EndpointSlices of a Service, in the order in which they were reported. */
  slices(service: string): readonly EndpointSlice[] {
    const entry = this.#entries.get(service);
    return entry ? slicesOf(entry) : NO_SLICES;
  }

  /** The problems of what the configuration does not allow: addresses, and settings that a Service and its slices have by annotation. */
  problems(service: string): readonly Problem[] {
    const entry = this.#entries.get(service);
    if (!entry?.object || !isProxied(entry.object)) return NO_PROBLEMS;
    const { problems } = this.#settings.ofService(entry.object);
    const ofAddresses = this.#addresses.problems(entry.object);
    const ofSlices = slicesOf(entry).flatMap((slice) => this.#settings.ofSlice(slice).problems);
    return ofAddresses.length + ofSlices.length > 0 ? [...ofAddresses, ...problems, ...ofSlices] : problems;
  }

  /** The addresses that a Service asks for and may not have, with their reasons; those of a feature gate are no problems. */
  refusedAddresses(service: string): readonly Problem[] {
    const object = this.#entries.get(service)?.object;
    return object && isProxied(object) ? this.#addresses.refused(object) : NO_PROBLEMS;
  }

  /** Claims of a Service that another Service wins: the first ones, and the number of the others. */
  lostClaims(service: string): LostClaims {
    const object = this.#entries.get(service)?.object;
    return lostClaimsOf(service, this.#claims.contested ? object : undefined, this.#claims);
  }

  /** Whether an address and port is a cluster, external or load-balancer IP with a port of this protocol of any Service. */
  isFrontend(address: string, port: number, protocol: Protocol): boolean {
    return this.#claims.holder(addressClaim(address, port, protocol)) !== undefined;
  }

  /** Whether any Service has this node port. */
  isNodePort(port: number, family: Family, protocol: Protocol): boolean {
    return this.#claims.holder(nodePortClaim(port, family, protocol)) !== undefined;
  }

  /** The frontends of each port of a Service, once for each of its families, those that another Service wins included. */
  *frontendsOf(
    service: string,
  ): Generator<
    { readonly family: Family; readonly protocol: Protocol; readonly frontends: Iterable<Frontend> },
    void
  > {
    const object = this.#entries.get(service)?.object;
    if (!object) return;
    for (const { family, port, frontends } of frontendsOf(object))
      yield { family, protocol: port.protocol, frontends };
  }

  #setService(object: Service, exists: boolean): Touched[] {
    const entry = this.#entryOf(serviceKey(object));
    const { service, object: former } = entry;
    this.#endpoints.remove(former, slicesOf(entry));
    entry.object = exists ? object : undefined;
    this.#endpoints.add(entry.object, slicesOf(entry));
    const before = former ? claimsOf(former) : NO_CLAIMS;
    const now = exists ? claimsOf(object) : NO_CLAIMS;
    const renewed = former?.createdAt !== object.createdAt;
    const others = this.#claims.replace(entry, before, now, renewed);
    this.#removeIfEmpty(entry);
    const touched: Touched[] = [{ service }];
    for (const other of others) touched.push({ service: other });
    return touched;
  }

  /** Stores or removes a slice. Its label may have changed: the old slice is removed from its own Service first. */
  #setSlice(slice: EndpointSlice, exists: boolean): Touched[] {
    const { namespace, name } = slice;
    const slices = this.#slices.get(namespace) ?? new Map<string, EndpointSlice>();
    const former = slices.get(name);
    if (former)
      this.#noteLeft(former, exists && serviceKey(former) === serviceKey(slice) ? slice : undefined);
    const before = former && this.#removeSlice(former);
    const now = exists ? this.#addSlice(slice) : undefined;
    if (exists) slices.set(name, slice);
    else slices.delete(name);
    if (slices.size > 0) this.#slices.set(namespace, slices);
    else this.#slices.delete(namespace);
    if (before !== undefined && now !== undefined && before !== now)
      return [{ service: before }, { service: now }];
    const service = now ?? before;
    return service === undefined ? [] : [{ service }];
  }

  #noteLeft(former: EndpointSlice, now: EndpointSlice | undefined): void {
    const entry = this.#entryOf(serviceKey(former));
    const { planned, object } = entry;
    if (planned === undefined) return;
    entry.left ??= new LeftEndpoints(
      isList(planned) ? planned : [planned],
      object && this.#settings.ofService(object).settings?.failFast,
    );
    entry.left.note(former, now);
  }

  /** Returns the name of its Service. */
  #addSlice(slice: EndpointSlice): string {
    const entry = this.#entryOf(serviceKey(slice));
    const { slices } = entry;
    if (slices === undefined) entry.slices = slice;
    else if (isSet(slices)) slices.add(slice);
    else entry.slices = new Set([slices, slice]);
    this.#endpoints.add(entry.object, [slice]);
    return entry.service;
  }

  /** Returns the name of its Service. */
  #removeSlice(slice: EndpointSlice): string {
    const entry = this.#entryOf(serviceKey(slice));
    const { slices } = entry;
    if (slices === slice) entry.slices = undefined;
    else if (isSet(slices)) {
      slices.delete(slice);
      if (slices.size === 1) [entry.slices] = slices;
    }
    this.#endpoints.remove(entry.object, [slice]);
    this.#removeIfEmpty(entry);
    return entry.service;
  }

  #entryOf(service: string): Entry {
    const known = this.#entries.get(service);
    if (known) return known;
    const entry = new Entry(service);
    this.#entries.set(service, entry);
    return entry;
  }

  #removeIfEmpty({ service, object, slices }: Entry): void {
    if (!object && slices === undefined) this.#entries.delete(service);
  }
}

function isList(planned: Entry['planned']): planned is readonly EndpointSlice[] {
  return Array.isArray(planned);
}

function isSet(slices: Entry['slices']): slices is Set<EndpointSlice> {
  return slices instanceof Set;
}

/** In the order in which they were reported. */
function slicesOf({ slices }: Entry): readonly EndpointSlice[] {
  if (slices === undefined) return NO_SLICES;
  return isSet(slices) ? [...slices] : [slices as EndpointSlice];
}

const NO_SLICES: readonly EndpointSlice[] = Object.freeze([]);
const NO_PROBLEMS: readonly Problem[] = Object.freeze([]);

const NO_CLAIMS: RankedClaims = new Map();
