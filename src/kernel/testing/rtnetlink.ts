// Links, addresses, routes, rules and neighbours in memory.
import { constants } from 'node:os';
import type { Family } from '../net/address.js';
import { FAMILY } from '../net/shapes.js';
import { checkLinkReference } from '../rtnetlink/fields.js';
import { encodeListForwardingEntries } from '../rtnetlink/forwarding/codec.js';
import { NO_COUNTERS } from '../rtnetlink/links/statistics.js';
import { encodeGetLink } from '../rtnetlink/links/write.js';
import { checkedMessage } from '../rtnetlink/message.js';
import {
  attemptToAsk,
  attemptToRead,
  describeLink,
  describeNeighbour,
  describeNextHop,
} from '../rtnetlink/names.js';
import { describeNamespace, encodeGetNamespaceId } from '../rtnetlink/namespaces/codec.js';
import { encodeGetNeighbour, encodeListNeighbours } from '../rtnetlink/neighbours/codec.js';
import { encodeGetNextHop, encodeListNextHops } from '../rtnetlink/nexthops/codec.js';
import { encodeGetRoute, encodeListRoutes } from '../rtnetlink/routes/query.js';
import { passes } from '../rtnetlink/routes/read.js';
import { encodeListRules } from '../rtnetlink/rules/codec.js';
import type * as types from '../rtnetlink/types.js';
import { RtnetlinkVerbs } from '../rtnetlink/verbs.js';
import { checkWatch } from '../rtnetlink/watch.js';
import { checkArgument, TEXT } from '../shapes.js';
import type { Attempt } from '../shared/failures.js';
import type { CallOptions, EventStream, Listing } from '../shared/types.js';
import { withVerbs } from '../shared/verbs.js';
import { FakeClient, type Refusal, refusalError } from './client.js';
import { FakeEvents } from './events.js';
import { FakeAddresses } from './rtnetlink/addresses.js';
import { FakeBridgeVlans } from './rtnetlink/bridgeVlans.js';
import { dumpAddresses, dumpNeighbour, dumpRoute, dumpRule } from './rtnetlink/dump.js';
import { FakeForwardingEntries } from './rtnetlink/forwarding.js';
import { FakeLinks, KINDS } from './rtnetlink/links.js';
import { copyOf, type Named, namedOperation, verb } from './rtnetlink/named.js';
import { FakeNamespaceIds } from './rtnetlink/namespaceIds.js';
import { FakeNeighbours } from './rtnetlink/neighbours.js';
import { FakeNextHops } from './rtnetlink/nexthops.js';
import { noLink } from './rtnetlink/refusals.js';
import { FakeRoutes } from './rtnetlink/routes.js';

const { ENODEV } = constants.errno;

type Operation = types.RtnetlinkOperation;

/**
 * A fake of a new network namespace, which has `lo` and the rules of every namespace. A link that is moved to another namespace
 * is gone, and one that is created in another is not here.
 */
export class FakeRtnetlink
  extends withVerbs(FakeClient<types.RtnetlinkOperation>, RtnetlinkVerbs)
  implements types.Rtnetlink
{
  /** Kinds of links that this kernel has; others are refused with EOPNOTSUPP. */
  readonly kinds = new Set<string>(KINDS);
  /** Whether a link that is up can be renamed, as since Linux 6.2; before, EBUSY is the answer. Default true. */
  renamesLinksThatAreUp = true;
  /** Counters of links by their names; those that are not set are 0. */
  readonly counters = new Map<string, Partial<types.LinkCounters>>();
  /** Notifications of changes, for every `watch()`. A test may add others, or lose some. */
  readonly events = new FakeEvents<types.RtnetlinkEvent>();
  readonly #addresses = new Map<number, FakeAddresses>();
  readonly #links = new FakeLinks(
    this,
    (link, deleted) => this.#linkChanged(link, deleted),
    () => this.events.lose(),
  );
  readonly #routes: FakeRoutes = new FakeRoutes(
    {
      link: (reference) => this.#links.get(reference),
      addresses: () => this.#allAddresses(),
      hasNextHop: (id) => this.#nextHops.get(id) !== undefined,
    },
    (change, deleted) =>
      this.#emit(
        'route' in change ? { kind: 'route', deleted, ...change } : { kind: 'rule', deleted, ...change },
      ),
  );
  readonly #nextHops: FakeNextHops = new FakeNextHops({
    link: (name) => this.#links.get(name),
    reaches: (gateway, link, onLink) => this.#routes.reaches(gateway, link, onLink),
    deleted: () => this.#routes.prune(),
  });
  readonly #bridgeVlans = new FakeBridgeVlans((name) => this.#links.get(name));
  readonly #entries = new FakeForwardingEntries(
    {
      find: (name) => this.#links.get(name),
      vlansOf: (link) => this.#bridgeVlans.list(link).map(({ vlan }) => vlan),
    },
    (entry, deleted) => this.#emit({ kind: 'forwardingEntry', deleted, entry }),
  );
  readonly #namespaceIds = new FakeNamespaceIds();
  readonly #neighbours = new FakeNeighbours((neighbour, deleted) =>
    this.#emit({ kind: 'neighbour', deleted, neighbour }),
  );

  listLinks(options?: CallOptions): Promise<types.Link[]> {
    const read = () => this.#links.list().map((link) => ({ ...link }));
    return this.read(attemptToRead('listLinks'), read, options);
  }

  async getLink(link: types.LinkReference, options?: CallOptions): Promise<types.Link | undefined> {
    const attempt = attemptToRead('getLink', describeLink(link));
    checkedMessage(encodeGetLink(link), attempt);
    return this.read(attempt, () => copyOf(this.#links.get(link)), options);
  }

  listLinkStatistics(options?: CallOptions): Promise<types.LinkStatistics[]> {
    const read = () => this.#links.list().map((link) => this.#statisticsOf(link));
    return this.read(attemptToRead('listLinkStatistics'), read, options);
  }

  async getLinkStatistics(
    link: types.LinkReference,
    options?: CallOptions,
  ): Promise<types.LinkStatistics | undefined> {
    const attempt = attemptToRead('getLinkStatistics', describeLink(link));
    checkedMessage(encodeGetLink(link), attempt);
    const read = () => {
      const found = this.#links.get(link);
      return found && this.#statisticsOf(found);
    };
    return this.read(attempt, read, options);
  }

  async listAddresses(link?: types.LinkReference, options?: CallOptions): Promise<types.LinkAddress[]> {
    const attempt = attemptToRead('listAddresses', describeLink(link));
    if (link !== undefined) checkLinkReference('link', link, attempt.operation);
    const read = () => {
      const name = this.#nameOf(link, attempt);
      return this.#allAddresses().filter((address) => name === undefined || address.link === name);
    };
    return this.read(attempt, read, options);
  }

  listRoutes(filter: types.RouteFilter = {}, options?: CallOptions): Listing<types.Route> {
    const attempt = attemptToRead('listRoutes', describeLink(filter?.link));
    checkedMessage(encodeListRoutes(filter), attempt);
    const { link } = filter;
    const read = () => {
      const name = this.#nameOf(link, attempt);
      return this.#routes
        .list()
        .filter((route) => passes(route, filter) && (name === undefined || route.link === name));
    };
    return this.listing(attempt, read, options);
  }

  async getRoute(address: string, query?: types.RouteQuery, options?: CallOptions): Promise<types.Route> {
    const attempt = attemptToAsk(address, query);
    checkedMessage(encodeGetRoute(address, query), attempt);
    const read = () => {
      const inputLink = this.#nameOf(query?.inputLink, attempt);
      const outputLink = this.#nameOf(query?.outputLink, attempt);
      const named = {
        ...(inputLink !== undefined && { inputLink }),
        ...(outputLink !== undefined && { outputLink }),
      };
      const found = this.#routes.lookUp(address, { ...query, ...named });
      if (typeof found === 'number') throw refusalError(found, attempt);
      return found;
    };
    return this.read(attempt, read, options);
  }

  async listRules(family?: Family, options?: CallOptions): Promise<types.Rule[]> {
    const attempt = attemptToRead('listRules');
    checkedMessage(encodeListRules(family), attempt);
    return this.read(attempt, () => this.#routes.rules(family), options);
  }

  listNeighbours(filter: types.NeighbourFilter = {}, options?: CallOptions): Listing<types.Neighbour> {
    const attempt = attemptToRead('listNeighbours', describeLink(filter?.link));
    checkedMessage(encodeListNeighbours(filter), attempt);
    const { link, family, proxy = false } = filter;
    const read = () => {
      const name = this.#nameOf(link, attempt);
      return this.#neighbours
        .list()
        .filter((each) => (each.proxy ?? false) === proxy && (family ?? each.family) === each.family)
        .filter((each) => (name ?? each.link) === each.link);
    };
    return this.listing(attempt, read, options);
  }

  async getNeighbour(id: types.NeighbourId, options?: CallOptions): Promise<types.Neighbour | undefined> {
    const attempt = attemptToRead('getNeighbour', describeNeighbour(id));
    checkedMessage(encodeGetNeighbour(id), attempt);
    const read = () => {
      return this.#neighbours.get({ ...id, link: this.#nameOf(id.link, attempt) ?? '' });
    };
    return this.read(attempt, read, options);
  }

  listNextHops(filter: types.NextHopFilter = {}, options?: CallOptions): Listing<types.NextHopObject> {
    const attempt = attemptToRead('listNextHops', describeLink(filter?.link));
    checkedMessage(encodeListNextHops(filter), attempt);
    const read = () => {
      const name = this.#nameOf(filter.link, attempt);
      return this.#nextHops
        .list()
        .filter(
          (each) => (name ?? each.link) === each.link && (filter.family ?? each.family) === each.family,
        );
    };
    return this.listing(attempt, read, options);
  }

  async getNextHop(id: number, options?: CallOptions): Promise<types.NextHopObject | undefined> {
    const attempt = attemptToRead('getNextHop', describeNextHop(id));
    checkedMessage(encodeGetNextHop(id), attempt);
    return this.read(attempt, () => this.#nextHops.get(id), options);
  }

  async listBridgeVlans(link?: types.LinkReference, options?: CallOptions): Promise<types.BridgeVlan[]> {
    const attempt = attemptToRead('listBridgeVlans', describeLink(link));
    if (link !== undefined) checkLinkReference('link', link, attempt.operation);
    const read = () => {
      const name = this.#nameOf(link, attempt);
      const links = this.#links.list().filter((each) => name === undefined || each.name === name);
      return links.flatMap((each) => this.#bridgeVlans.list(each));
    };
    return this.read(attempt, read, options);
  }

  listForwardingEntries(link?: types.LinkReference, options?: CallOptions): Listing<types.ForwardingEntry> {
    const attempt = attemptToRead('listForwardingEntries', describeLink(link));
    checkedMessage(encodeListForwardingEntries(link), attempt);
    const read = () => {
      const name = this.#nameOf(link, attempt);
      return this.#entries.list().filter((entry) => name === undefined || entry.link === name);
    };
    return this.listing(attempt, read, options);
  }

  listNamespaceIds(options?: CallOptions): Promise<number[]> {
    return this.read(attemptToRead('listNamespaceIds'), () => this.#namespaceIds.list(), options);
  }

  async getNamespaceId(netns: types.NetworkNamespace, options?: CallOptions): Promise<number | undefined> {
    const attempt = attemptToRead('getNamespaceId', describeNamespace(netns));
    checkedMessage(encodeGetNamespaceId(netns), attempt);
    return this.read(attempt, () => this.#namespaceIds.get(netns), options);
  }

  watch(options: types.RtnetlinkWatchOptions = {}): EventStream<types.RtnetlinkEvent> {
    const { kinds, ...watching } = checkWatch(options);
    const wanted = ({ kind }: types.RtnetlinkEvent) => kinds.includes(kind);
    return this.events.stream('rtnetlink.watch', watching, this.closed, wanted);
  }

  /** Every feature, and the kinds of links in `kinds`. */
  capabilities(options?: CallOptions): Promise<types.RtnetlinkCapabilities> {
    const has = (kind: string) => this.kinds.has(kind);
    const linkKinds = { dummy: has('dummy'), veth: has('veth'), bridge: has('bridge'), vlan: has('vlan') };
    return this.read(attemptToRead('capabilities'), () => ({ linkKinds, ipv6: true, rules: true }), options);
  }

  /** The output of `ip addr show dev LINK`, as far as addresses are concerned. */
  dump(name: string): string {
    checkArgument('FakeRtnetlink.dump', 'name', name, TEXT);
    const link = this.#links.get(name);
    return link ? dumpAddresses(link, this.#addressesOf(link).list(name)) : '';
  }

  /** The output of `ip route show table all`, of both families. */
  dumpRoutes(): string {
    return this.#routes.list().map(dumpRoute).join('');
  }

  /** The output of `ip rule`, of one family. */
  dumpRules(family: Family): string {
    checkArgument('FakeRtnetlink.dumpRules', 'family', family, FAMILY);
    return this.#routes.rules(family).map(dumpRule).join('');
  }

  /** The output of `ip neigh`. */
  dumpNeighbours(): string {
    return this.#neighbours.list().map(dumpNeighbour).join('');
  }

  /** Port of the client's socket: the kernel gives that of the first one of a process its id. */
  async port(options?: CallOptions): Promise<number> {
    return this.read(attemptToRead('port'), () => process.pid, options);
  }

  /** Whether an operation of the client is under way, and changes are its own. */
  #isActing = false;

  #emit(event: types.RtnetlinkEvent): void {
    this.events.emit(this.#isActing ? { ...event, sender: process.pid } : event);
  }

  protected act(given: types.RtnetlinkOperation): Refusal | undefined {
    this.#isActing = true;
    try {
      return this.#carryOut(given);
    } finally {
      this.#isActing = false;
    }
  }

  #carryOut(given: types.RtnetlinkOperation): Refusal | undefined {
    const operation = namedOperation(given, (link) => this.#links.get(link));
    if (typeof operation === 'number') return operation;
    if ('route' in operation) return this.#routes.write(verb(operation.do, 'Route'), operation.route);
    if ('nextHop' in operation) {
      if (operation.do === 'deleteNextHop') return this.#nextHops.delete(operation.nextHop);
      return this.#nextHops.write(verb(operation.do, 'NextHop'), operation.nextHop);
    }
    if ('bridgeVlan' in operation) {
      const { bridgeVlan } = operation;
      const link = this.#links.get(bridgeVlan.link);
      if (!link) return noLink(bridgeVlan.link);
      if (operation.do === 'addBridgeVlan') return this.#bridgeVlans.add(link, bridgeVlan);
      return this.#bridgeVlans.delete(link, bridgeVlan);
    }
    if ('entry' in operation) {
      const link = this.#links.get(operation.entry.link);
      if (!link) return noLink(operation.entry.link);
      if (operation.do === 'deleteForwardingEntry') return this.#entries.delete(link, operation.entry);
      return this.#entries.write(verb(operation.do, 'ForwardingEntry'), link, operation.entry);
    }
    if ('namespaceId' in operation) return this.#namespaceIds.set(operation.namespaceId);
    if ('neighbour' in operation) return this.#doNeighbour(operation);
    if ('address' in operation) return this.#doAddress(operation);
    switch (operation.do) {
      case 'addAlternativeName':
        return this.#links.addName(operation.link, operation.name);
      case 'deleteAlternativeName':
        return this.#links.deleteName(operation.link, operation.name);
      case 'addLink':
        return this.#links.add(
          operation.name,
          operation.kind,
          operation.settings as Named<types.NewLinkSettings>,
        );
      case 'setLink':
        return this.#links.set(operation.link, operation.settings as Named<types.LinkSettings>);
      case 'deleteLink':
        return this.#links.delete(operation.link ?? operation.name);
      case 'addRule':
        return this.#routes.addRule(operation.rule);
      case 'deleteRule':
        return this.#routes.deleteRule(operation.rule);
    }
  }

  #doAddress(operation: Extract<Operation, { readonly address: unknown }>): Refusal | undefined {
    const link = this.#links.get(operation.address.link);
    if (!link) return noLink(operation.address.link);
    const addresses = this.#addressesOf(link);
    const address = { ...operation.address, link: link.name };
    if (operation.do !== 'deleteAddress') return addresses.write(verb(operation.do, 'Address'), address);
    const errno = addresses.delete(address);
    this.#routes.prune();
    return errno;
  }

  #doNeighbour(operation: Extract<Operation, { readonly neighbour: unknown }>): Refusal | undefined {
    const link = this.#links.get(operation.neighbour.link);
    if (!link) return noLink(operation.neighbour.link);
    const neighbour = { ...operation.neighbour, link: link.name };
    if (operation.do === 'deleteNeighbour') return this.#neighbours.delete(neighbour);
    return this.#neighbours.write(verb(operation.do, 'Neighbour'), neighbour);
  }

  #linkChanged(link: types.Link, deleted: boolean): void {
    if (deleted) {
      for (const address of this.#addressesOf(link).list(link.name)) {
        this.#emit({ kind: 'address', deleted, address });
      }
      this.#addresses.delete(link.index);
    }
    if (deleted || !link.up) this.#neighbours.forget(link.name, deleted);
    this.#bridgeVlans.follow(link, deleted);
    this.#entries.follow(link, deleted);
    this.#nextHops.prune();
    this.#routes.prune();
    this.#emit({ kind: 'link', deleted, link: { ...link } });
  }

  /** The name of a link; ENODEV if there is none. */
  #nameOf(link: types.LinkReference | undefined, attempt: Attempt): string | undefined {
    if (link === undefined) return undefined;
    const found = this.#links.get(link);
    if (!found) throw refusalError(ENODEV, attempt);
    return found.name;
  }

  #statisticsOf({ name, index }: types.Link): types.LinkStatistics {
    return { link: name, index, ...NO_COUNTERS, ...this.counters.get(name) };
  }

  #addressesOf({ index }: types.Link): FakeAddresses {
    let addresses = this.#addresses.get(index);
    if (!addresses) {
      addresses = new FakeAddresses((address, deleted) => this.#emit({ kind: 'address', deleted, address }));
      this.#addresses.set(index, addresses);
    }
    return addresses;
  }

  #allAddresses(): types.LinkAddress[] {
    return this.#links.list().flatMap((link) => this.#addressesOf(link).list(link.name));
  }
}
