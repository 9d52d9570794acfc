// Routes and rules in memory, with the kernel's rules.
import { constants } from 'node:os';
import { type Family, formatAddress } from '../../net/address.js';
import type {
  Link,
  LinkAddress,
  LinkReference,
  NewRoute,
  NewRule,
  Route,
  RouteHop,
  RouteQuery,
  RouteScope,
  RouteType,
  Rule,
  RuleName,
} from '../../rtnetlink/types.js';
import type { Refusal } from '../client.js';
import { isIn, networkOf, parsed } from './prefix.js';
import { BACKWARD_GOTO, HOST_BITS, NO_NEXTHOP_OF_ROUTE, noLink, REFUSALS } from './refusals.js';

const { EACCES, EEXIST, EHOSTUNREACH, EINVAL, ENETUNREACH, ENODEV, ENOENT, ESRCH } = constants.errno;

/** The links and addresses that routes depend on. */
interface Surroundings {
  link(reference: LinkReference): Link | undefined;
  addresses(): readonly LinkAddress[];
  /** Whether there is a nexthop object. */
  hasNextHop(id: number): boolean;
}

type Verb = 'add' | 'change' | 'replace' | 'append' | 'delete';

/** A change of a route or a rule. */
type RouteChanged = (change: { route: Route } | { rule: Rule }, deleted: boolean) => void;

/** The routes and rules of a network namespace. */
export class FakeRoutes {
  #routes: Route[] = [];
  #rules: Rule[];
  readonly #around: Surroundings;
  readonly #changed: RouteChanged;

  constructor(around: Surroundings, changed: RouteChanged) {
    this.#around = around;
    this.#changed = changed;
    const rule = (family: Family, priority: number, table: 'local' | 'main' | 'default'): Rule => {
      return { family, priority, action: 'lookup', table, protocol: 'kernel' };
    };
    const both: Rule[] = ([4, 6] as const).flatMap((family) => [
      rule(family, 0, 'local'),
      rule(family, 32766, 'main'),
    ]);
    this.#rules = [...both, rule(4, 32767, 'default')];
  }

  /** With the routes that the kernel makes for the addresses of links that are up. */
  list(): Route[] {
    return [...this.#around.addresses().flatMap((address) => this.#connected(address)), ...this.#routes];
  }

  rules(family?: Family): Rule[] {
    const found = this.#rules.filter((rule) => family === undefined || rule.family === family);
    return found.sort((a, b) => a.family - b.family || a.priority - b.priority);
  }

  write(verb: Verb, given: NewRoute): Refusal | undefined {
    const named = this.#named(given);
    if (!named) return ENODEV;
    const route = completed(named);
    if (verb === 'delete') return this.#delete(route, named);
    return this.#findInvalid(route) ?? this.#put(verb, this.#withLinks(route));
  }

  /** A route with the names of its links, of which it may have indexes, and without what is only listed. */
  #named({
    resolved: _resolved,
    ...given
  }: NewRoute & Pick<Partial<Route>, 'resolved'>): NewRoute | undefined {
    let isKnown = true;
    const nameHop = <Hop extends RouteHop>({ linkIndex, ...hop }: Hop): Omit<Hop, 'linkIndex'> => {
      if (linkIndex === undefined) return hop;
      const link = this.#around.link(linkIndex)?.name;
      isKnown &&= link !== undefined;
      return { ...hop, ...(link !== undefined && { link }) };
    };
    const { nextHops, ...route } = given;
    const named = { ...nameHop(route), ...(nextHops && { nextHops: nextHops.map(nameHop) }) };
    return isKnown ? named : undefined;
  }

  #put(verb: Verb, route: Route): Refusal | undefined {
    const place = this.#routes.findIndex((each) => keyOf(each) === keyOf(route));
    const exists = place >= 0 || this.#kernelHas(route);
    if (verb === 'add' && exists) return EEXIST;
    if (verb === 'change' && !exists) return ENOENT;
    if (verb === 'append') {
      if (this.#routes.some((each) => keyOf(each) === keyOf(route) && wayOf(each) === wayOf(route)))
        return EEXIST;
      this.#routes.push(route);
    } else if (place >= 0) this.#routes[place] = route;
    else this.#routes.push(route);
    this.#changed({ route }, false);
    return undefined;
  }

  #delete(route: Route, given: NewRoute): Refusal | undefined {
    const place = this.#routes.findIndex((each) => matches(each, route, given));
    const [deleted] = place < 0 ? [] : this.#routes.splice(place, 1);
    if (!deleted) return ESRCH;
    this.#changed({ route: deleted }, true);
    return undefined;
  }

  /** Forgets the routes by a link that is down or deleted, and those whose source no link has any more. */
  prune(): void {
    // The rest walks all addresses, also after the deletion of one.
    if (this.#routes.length === 0) return;
    const sources = new Set(this.#around.addresses().map(({ address }) => address));
    this.#routes = this.#routes.filter(({ link, preferredSource, nextHops, nextHopId }) => {
      if (nextHopId !== undefined && !this.#around.hasNextHop(nextHopId)) return false;
      const links = nextHops ? nextHops.map((hop) => hop.link) : [link];
      const isUp = links.every((name) => name === undefined || this.#around.link(name)?.up);
      return isUp && (preferredSource === undefined || sources.has(preferredSource));
    });
  }

  addRule(given: NewRule): Refusal | undefined {
    const family = given.family ?? familyOfPrefix(given.from ?? given.to);
    const others = this.#rules.filter((rule) => rule.family === family);
    const action = given.action ?? (given.goto === undefined ? 'lookup' : 'goto');
    const lowest = Math.min(
      32766,
      ...others.filter(({ priority }) => priority > 0).map(({ priority }) => priority),
    );
    const { family: _family, ...rest } = given;
    const rule = {
      ...rest,
      family,
      action,
      priority: given.priority ?? lowest - 1,
      protocol: given.protocol ?? 'boot',
      ...(action === 'lookup' && !given.l3mdev && { table: given.table ?? 'main' }),
    } as Rule;
    if (action === 'goto' && (given.goto === undefined || given.goto <= rule.priority)) return BACKWARD_GOTO;
    if (others.some((each) => describe(each) === describe(rule))) return EEXIST;
    this.#rules.push(rule);
    this.#changed({ rule }, false);
    return undefined;
  }

  deleteRule(given: RuleName): number | undefined {
    const family = given.family ?? familyOfPrefix(given.from ?? given.to);
    const wanted = Object.entries(given).filter(
      ([field, value]) => field !== 'family' && value !== undefined,
    );
    const place = this.rules(family).find((rule) =>
      wanted.every(([field, value]) => same(rule[field as keyof Rule], value)),
    );
    if (!place) return ENOENT;
    this.#rules = this.#rules.filter((rule) => rule !== place);
    this.#changed({ rule: place }, true);
    return undefined;
  }

  /** The route of a packet, or the number of the kernel's error. */
  lookUp(address: string, query: RouteQuery = {}): Route | number {
    const { family, bytes } = parsed(address);
    const target = formatAddress(bytes);
    const routes = this.list().filter((route) => route.family === family);
    for (const rule of this.rules(family)) {
      if (rule.action !== 'lookup' || !isFor(rule, target, query)) continue;
      const found = best(routes, rule, target);
      if (!found || found.type === 'throw') continue;
      if (query.fibMatch) return found;
      return ERRORS.get(found.type) ?? this.#answer(found, target);
    }
    return ENETUNREACH;
  }

  #answer(route: Route, target: string): Route {
    const { nextHops, ...rest } = route;
    const [hop] = nextHops ?? [];
    const link = route.type === 'local' ? 'lo' : (hop?.link ?? route.link);
    const source =
      route.preferredSource ??
      this.#around
        .addresses()
        .find(
          (each) => each.link === (hop?.link ?? route.link) && parsed(each.address).family === route.family,
        )?.address;
    return {
      ...rest,
      ...hop,
      ...(link !== undefined && { link }),
      ...(source !== undefined && { preferredSource: source }),
      destination: networkOf(target, route.family === 4 ? 32 : 128),
    };
  }

  #findInvalid({
    nextHopId,
    type,
    destination,
    family,
    gateway,
    link,
    nextHops,
    flags,
    preferredSource,
  }: Route): Refusal | undefined {
    for (const name of nextHops ? nextHops.map((hop) => hop.link) : [link]) {
      if (name !== undefined && !this.#around.link(name)) return noLink(name);
    }
    const { bytes, length } = parsed(destination);
    if (family === 4 && networkOf(formatAddress(bytes), length) !== destination) return HOST_BITS;
    if (nextHopId !== undefined) return this.#around.hasNextHop(nextHopId) ? undefined : NO_NEXTHOP_OF_ROUTE;
    if (type !== 'unicast' && type !== 'local') return undefined;
    for (const hop of nextHops ?? [{ gateway, link, flags }]) {
      if (hop.link === undefined && hop.gateway === undefined) return ENODEV;
      if (hop.link !== undefined && !this.#around.link(hop.link)?.up) return REFUSALS[family].linkDown;
      if (
        hop.gateway !== undefined &&
        !this.reaches(hop.gateway, hop.link, hop.flags?.includes('onlink') ?? false)
      ) {
        return REFUSALS[family].noWay;
      }
    }
    const isOurs = ({ address }: LinkAddress) => address === preferredSource;
    if (preferredSource !== undefined && !this.#around.addresses().some(isOurs))
      return REFUSALS[family].notOurs;
    return undefined;
  }

  /** The kernel finds the link of a gateway. */
  #withLinks(route: Route): Route {
    const complete = <Hop extends RouteHop>(hop: Hop): Hop => {
      const link = hop.link ?? (hop.gateway === undefined ? undefined : this.#networkOf(hop.gateway)?.link);
      return link === undefined ? hop : { ...hop, link };
    };
    return route.nextHops ? { ...route, nextHops: route.nextHops.map(complete) } : complete(route);
  }

  /** Whether a gateway is a neighbour. */
  reaches(gateway: string, link: string | undefined, onLink: boolean): boolean {
    if (onLink && link !== undefined) return true;
    if (gateway.startsWith('fe80:')) return link !== undefined;
    return this.#networkOf(gateway, link) !== undefined;
  }

  /** The route by which a gateway is a neighbour. */
  #networkOf(gateway: string, link?: string): Route | undefined {
    return this.list().find(
      (route) =>
        route.type === 'unicast' &&
        route.gateway === undefined &&
        route.nextHops === undefined &&
        (link === undefined || route.link === link) &&
        parsed(route.destination).family === parsed(gateway).family &&
        isIn(gateway, route.destination),
    );
  }

  #kernelHas(route: Route): boolean {
    return this.list().some((each) => each.protocol === 'kernel' && keyOf(each) === keyOf(route));
  }

  #connected({ link, address, prefix, peer, scope, flags, metric }: LinkAddress): Route[] {
    if (!this.#around.link(link)?.up) return [];
    const { family } = parsed(address);
    const whole = family === 4 ? 32 : 128;
    const common = { family, link, protocol: 'kernel', flags: [] } as const;
    const own: Route = {
      ...common,
      destination: networkOf(address, whole),
      type: 'local',
      table: 'local',
      scope: family === 4 ? 'host' : 'global',
      ...(family === 4 ? { preferredSource: address } : { metric: 0 }),
    };
    const needsNetwork =
      (prefix < whole || peer !== undefined || family === 6) && !flags.includes('noprefixroute');
    if (!needsNetwork) return [own];
    const isHost = scope === 'host' && family === 4; // the network of lo is local
    const network: Route = {
      ...common,
      destination: networkOf(peer ?? address, prefix),
      type: isHost ? 'local' : 'unicast',
      table: isHost ? 'local' : 'main',
      scope: family === 6 ? 'global' : isHost ? 'host' : 'link',
      ...(family === 4 ? { preferredSource: address } : { metric: metric ?? 256 }),
      ...(family === 4 && metric !== undefined && { metric }),
    };
    return [own, network];
  }
}

const ERRORS: ReadonlyMap<RouteType, number> = new Map<RouteType, number>([
  ['blackhole', EINVAL],
  ['unreachable', EHOSTUNREACH],
  ['prohibit', EACCES],
]);

function familyOfPrefix(prefix: string | undefined): Family {
  return prefix === undefined ? 4 : parsed(prefix).family;
}

/** A route with the defaults of iproute2 and of the kernel. */
function completed(given: NewRoute): Route {
  const { destination, gateway, nextHops, nextHopId, type = 'unicast' } = given;
  const gatewayFamily = gateway === undefined ? 4 : parsed(gateway).family;
  const prefix = destination === 'default' ? undefined : parsed(destination);
  const family = given.family ?? prefix?.family ?? gatewayFamily;
  const text = prefix
    ? `${formatAddress(prefix.bytes)}/${prefix.length}`
    : family === 4
      ? '0.0.0.0/0'
      : '::/0';
  const local = type === 'local' || type === 'broadcast' || type === 'anycast';
  const hasGateway = gateway !== undefined || nextHops !== undefined || nextHopId !== undefined;
  const scope = family === 6 ? 'global' : defaultScope(type, hasGateway);
  return {
    ...given,
    destination: family === 6 && prefix ? networkOf(formatAddress(prefix.bytes), prefix.length) : text,
    family,
    type,
    table: given.table ?? (local ? 'local' : 'main'),
    protocol: given.protocol ?? 'boot',
    scope: given.scope ?? scope,
    flags: given.flags ?? [],
    ...(family === 6 && { metric: given.metric || 1024, preference: given.preference ?? 'medium' }),
    ...(nextHops && { nextHops: nextHops.map((hop) => ({ weight: 1, flags: [], ...hop })) }),
  } as Route;
}

function defaultScope(type: RouteType, hasGateway: boolean): RouteScope {
  if (type === 'local') return 'host';
  if (type === 'unicast') return hasGateway ? 'global' : 'link';
  return type === 'broadcast' || type === 'multicast' || type === 'anycast' ? 'link' : 'global';
}

/** As sameRoute() has it. */
function keyOf({ family, destination, table, metric = 0, tos = 0, source }: Route): string {
  const rest = family === 4 || source === undefined || source === '::/0' ? '' : source;
  return `${family} ${destination} ${table} ${metric} ${family === 4 ? tos : rest}`;
}

function wayOf({ gateway, link, nextHops, type }: Route): string {
  return JSON.stringify([type, gateway, link, nextHops]);
}

/** Whether a route has all fields that were given. */
function matches(route: Route, completed: Route, given: NewRoute): boolean {
  if (route.destination !== completed.destination || route.table !== completed.table) return false;
  const { gateway, link, metric, type, protocol, scope, tos, preferredSource, nextHops } = given;
  const wanted = { gateway, link, metric, type, protocol, scope, tos, preferredSource };
  const family = route.family === completed.family;
  const hops = nextHops === undefined || wayOf(route) === wayOf(completed);
  return (
    family &&
    hops &&
    Object.entries(wanted).every(
      ([field, value]) => value === undefined || same(route[field as keyof Route], value),
    )
  );
}

function same(a: unknown, b: unknown): boolean {
  return textOf(a) === textOf(b);
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each));
}

function describe({ protocol: _protocol, ...rule }: Rule): string {
  return textOf(Object.entries(rule).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isFor(rule: Rule, target: string, { from, mark = 0, inputLink, outputLink }: RouteQuery): boolean {
  const { value = 0, mask = 0xffff_ffff } = rule.mark ?? {};
  const applies =
    (rule.from === undefined || isIn(from ?? (target.includes(':') ? '::' : '0.0.0.0'), rule.from)) &&
    isIn(target, rule.to) &&
    (rule.mark === undefined || ((mark ^ value) & mask) === 0) &&
    (rule.inputLink === undefined || rule.inputLink === (inputLink ?? 'lo')) &&
    (rule.outputLink === undefined || rule.outputLink === outputLink);
  return applies !== (rule.invert ?? false);
}

/** The longest prefix, and of several the lowest metric. */
function best(routes: readonly Route[], rule: Rule, target: string): Route | undefined {
  const [first] = routes
    .filter((route) => route.table === rule.table && isIn(target, route.destination))
    .filter((route) => parsed(route.destination).length > (rule.suppressPrefixLength ?? -1))
    .sort(
      (a, b) =>
        parsed(b.destination).length - parsed(a.destination).length || (a.metric ?? 0) - (b.metric ?? 0),
    );
  return first;
}
