// Links, addresses, routes, rules and neighbours in memory.
import { constants } from 'node:os';
import type { Family } from '../../net/address.js';
import { checkNameOfLink } from '../rtnetlink/fields.js';
import { encodeGetLink } from '../rtnetlink/links/write.js';
import type { MessageWriter } from '../rtnetlink/message.js';
import { attemptToRead, describeLink, describeNeighbour } from '../rtnetlink/names.js';
import { encodeGetNeighbour, encodeListNeighbours } from '../rtnetlink/neighbours/codec.js';
import { addLinkOperation, PACKING } from '../rtnetlink/packing.js';
import { encodeGetRoute, encodeListRoutes } from '../rtnetlink/routes/query.js';
import { passes } from '../rtnetlink/routes/read.js';
import { encodeListRules } from '../rtnetlink/rules/codec.js';
import type * as types from '../rtnetlink/types.js';
import { findKindsFault } from '../rtnetlink/watch.js';
import { argumentError, checkOptions } from '../shared/arguments.js';
import type { Attempt } from '../shared/failures.js';
import type { CallOptions, EventStream, Listing, OperationResult } from '../shared/types.js';
import { FakeClient, type Refusal, refusalError } from './client.js';
import { FakeEvents } from './events.js';
import { FakeAddresses } from './rtnetlink/addresses.js';
import { dumpAddresses, dumpNeighbour, dumpRoute, dumpRule } from './rtnetlink/dump.js';
import { FakeLinks, KINDS } from './rtnetlink/links.js';
import { FakeNeighbours } from './rtnetlink/neighbours.js';
import { noLink } from './rtnetlink/refusals.js';
import { FakeRoutes } from './rtnetlink/routes.js';

const { ENODEV } = constants.errno;

type Operation = types.RtnetlinkOperation;

/**
 * A fake of a new network namespace, which has `lo` and the rules of every namespace. A link that is moved to another namespace
 * is gone, and one that is created in another is not here.
 */
export class FakeRtnetlink extends FakeClient<types.RtnetlinkOperation> implements types.Rtnetlink {
  /** Kinds of links that this kernel has; others are refused with EOPNOTSUPP. */
  readonly kinds = new Set<string>(KINDS);
  /** Notifications of changes, for every `watch()`. A test may add others, or lose some. */
  readonly events = new FakeEvents<types.RtnetlinkEvent>();
  readonly #addresses = new Map<number, FakeAddresses>();
  readonly #links = new FakeLinks(
    this.kinds,
    (link, deleted) => this.#linkChanged(link, deleted),
    () => this.events.lose(),
  );
  readonly #routes = new FakeRoutes(
    { link: (reference) => this.#links.get(reference), addresses: () => this.#allAddresses() },
    (change, deleted) =>
      this.events.emit(
        'route' in change ? { kind: 'route', deleted, ...change } : { kind: 'rule', deleted, ...change },
      ),
  );
  readonly #neighbours = new FakeNeighbours((neighbour, deleted) =>
    this.events.emit({ kind: 'neighbour', deleted, neighbour }),
  );
  readonly #act = (operation: Operation) => this.#do(operation);

  listLinks(options?: CallOptions): Promise<types.Link[]> {
    return this.read(
      attemptToRead('listLinks'),
      () => this.#links.list().map((link) => ({ ...link })),
      options,
    );
  }

  async getLink(link: types.LinkReference, options?: CallOptions): Promise<types.Link | undefined> {
    const attempt = attemptToRead('getLink', describeLink(link));
    check(encodeGetLink(link), attempt);
    return this.read(attempt, () => copyOf(this.#links.get(link)), options);
  }

  addLink(
    name: string,
    kind: string,
    settings?: types.NewLinkSettings,
    options?: CallOptions,
  ): Promise<void> {
    return this.#apply(addLinkOperation(name, kind, settings), options);
  }

  setLink(link: types.LinkReference, settings: types.LinkSettings, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'setLink', link, settings }, options);
  }

  deleteLink(link: types.LinkReference, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'deleteLink', link }, options);
  }

  async listAddresses(link?: string, options?: CallOptions): Promise<types.LinkAddress[]> {
    const attempt = attemptToRead('listAddresses', describeLink(link));
    if (link !== undefined) checkNameOfLink('link', link, attempt.operation);
    const read = () => {
      if (link !== undefined && !this.#links.get(link)) throw refusalError(ENODEV, attempt);
      return this.#allAddresses().filter((address) => link === undefined || address.link === link);
    };
    return this.read(attempt, read, options);
  }

  addAddress(address: types.NewLinkAddress, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'addAddress', address }, options);
  }

  replaceAddress(address: types.NewLinkAddress, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'replaceAddress', address }, options);
  }

  deleteAddress(address: types.LinkAddressId, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'deleteAddress', address }, options);
  }

  listRoutes(filter: types.RouteFilter = {}, options?: CallOptions): Listing<types.Route> {
    const attempt = attemptToRead('listRoutes', describeLink(filter?.link));
    check(encodeListRoutes(filter), attempt);
    const { link } = filter;
    const read = () => {
      if (link !== undefined && !this.#links.get(link)) throw refusalError(ENODEV, attempt);
      return this.#routes
        .list()
        .filter((route) => passes(route, filter) && (link === undefined || route.link === link));
    };
    return this.listing(attempt, read, options);
  }

  async getRoute(address: string, query?: types.RouteQuery, options?: CallOptions): Promise<types.Route> {
    const attempt = attemptToRead('getRoute', address);
    check(encodeGetRoute(address, query), attempt);
    const read = () => {
      for (const link of [query?.inputLink, query?.outputLink]) {
        if (link !== undefined && !this.#links.get(link)) throw refusalError(ENODEV, attempt);
      }
      const found = this.#routes.lookUp(address, query);
      if (typeof found === 'number') throw refusalError(found, attempt);
      return found;
    };
    return this.read(attempt, read, options);
  }

  addRoute(route: types.NewRoute, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'addRoute', route }, options);
  }

  changeRoute(route: types.NewRoute, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'changeRoute', route }, options);
  }

  replaceRoute(route: types.NewRoute, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'replaceRoute', route }, options);
  }

  appendRoute(route: types.NewRoute, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'appendRoute', route }, options);
  }

  deleteRoute(route: types.NewRoute, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'deleteRoute', route }, options);
  }

  async listRules(family?: Family, options?: CallOptions): Promise<types.Rule[]> {
    const attempt = attemptToRead('listRules');
    check(encodeListRules(family), attempt);
    return this.read(attempt, () => this.#routes.rules(family), options);
  }

  addRule(rule: types.NewRule, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'addRule', rule }, options);
  }

  deleteRule(rule: types.RuleName, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'deleteRule', rule }, options);
  }

  listNeighbours(filter: types.NeighbourFilter = {}, options?: CallOptions): Listing<types.Neighbour> {
    const attempt = attemptToRead('listNeighbours', describeLink(filter?.link));
    check(encodeListNeighbours(filter), attempt);
    const { link, family, proxy = false } = filter;
    const read = () => {
      if (link !== undefined && !this.#links.get(link)) throw refusalError(ENODEV, attempt);
      return this.#neighbours
        .list()
        .filter((each) => (each.proxy ?? false) === proxy && (family ?? each.family) === each.family)
        .filter((each) => (link ?? each.link) === each.link);
    };
    return this.listing(attempt, read, options);
  }

  async getNeighbour(id: types.NeighbourId, options?: CallOptions): Promise<types.Neighbour | undefined> {
    const attempt = attemptToRead('getNeighbour', describeNeighbour(id));
    check(encodeGetNeighbour(id), attempt);
    const read = () => {
      if (!this.#links.get(id.link)) throw refusalError(ENODEV, attempt);
      return this.#neighbours.get(id);
    };
    return this.read(attempt, read, options);
  }

  addNeighbour(neighbour: types.NewNeighbour, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'addNeighbour', neighbour }, options);
  }

  changeNeighbour(neighbour: types.NewNeighbour, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'changeNeighbour', neighbour }, options);
  }

  replaceNeighbour(neighbour: types.NewNeighbour, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'replaceNeighbour', neighbour }, options);
  }

  deleteNeighbour(neighbour: types.NeighbourId, options?: CallOptions): Promise<void> {
    return this.#apply({ do: 'deleteNeighbour', neighbour }, options);
  }

  apply(operations: readonly types.RtnetlinkOperation[], options?: CallOptions): Promise<OperationResult[]> {
    return this.applyAll(operations, PACKING, this.#act, options);
  }

  watch(options: types.RtnetlinkWatchOptions = {}): EventStream<types.RtnetlinkEvent> {
    checkOptions('rtnetlink.watch', options);
    const { kinds, ...watching } = options;
    const fault = kinds === undefined ? undefined : findKindsFault(kinds);
    if (fault) throw argumentError('rtnetlink.watch', fault);
    const wanted = (event: types.RtnetlinkEvent) => kinds?.includes(event.kind) ?? true;
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
    const link = this.#links.get(name);
    return link ? dumpAddresses(link, this.#addressesOf(link).list(name)) : '';
  }

  /** The output of `ip route show table all`, of both families. */
  dumpRoutes(): string {
    return this.#routes.list().map(dumpRoute).join('');
  }

  /** The output of `ip rule`, of one family. */
  dumpRules(family: Family): string {
    return this.#routes.rules(family).map(dumpRule).join('');
  }

  /** The output of `ip neigh`. */
  dumpNeighbours(): string {
    return this.#neighbours.list().map(dumpNeighbour).join('');
  }

  #apply(operation: Operation, options?: CallOptions): Promise<void> {
    return this.applyOne(operation, PACKING, this.#act, options);
  }

  #do(operation: Operation): Refusal | undefined {
    switch (operation.do) {
      case 'addLink':
        return this.#links.add(operation.name, operation.kind, operation.settings);
      case 'setLink':
        return this.#links.set(operation.link, operation.settings);
      case 'deleteLink':
        return this.#links.delete(operation.link ?? operation.name);
      case 'addAddress':
      case 'replaceAddress':
      case 'deleteAddress':
        return this.#doAddress(operation);
      case 'addRule':
        return this.#routes.addRule(operation.rule);
      case 'deleteRule':
        return this.#routes.deleteRule(operation.rule);
      case 'addRoute':
        return this.#routes.write('add', operation.route);
      case 'changeRoute':
        return this.#routes.write('change', operation.route);
      case 'replaceRoute':
        return this.#routes.write('replace', operation.route);
      case 'appendRoute':
        return this.#routes.write('append', operation.route);
      case 'deleteRoute':
        return this.#routes.write('delete', operation.route);
      default:
        return this.#doNeighbour(operation);
    }
  }

  #doAddress(operation: Extract<Operation, { readonly do: `${string}Address` }>): Refusal | undefined {
    const link = this.#links.get(operation.address.link);
    if (!link) return noLink(operation.address.link);
    const addresses = this.#addressesOf(link);
    switch (operation.do) {
      case 'addAddress':
        return addresses.write('add', operation.address);
      case 'replaceAddress':
        return addresses.write('replace', operation.address);
      case 'deleteAddress': {
        const errno = addresses.delete(operation.address);
        this.#routes.prune();
        return errno;
      }
    }
  }

  #doNeighbour(operation: Extract<Operation, { readonly do: `${string}Neighbour` }>): Refusal | undefined {
    const { link } = operation.neighbour;
    if (!this.#links.get(link)) return noLink(link);
    switch (operation.do) {
      case 'addNeighbour':
        return this.#neighbours.write('add', operation.neighbour);
      case 'changeNeighbour':
        return this.#neighbours.write('change', operation.neighbour);
      case 'replaceNeighbour':
        return this.#neighbours.write('replace', operation.neighbour);
      case 'deleteNeighbour':
        return this.#neighbours.delete(operation.neighbour);
    }
  }

  #linkChanged(link: types.Link, deleted: boolean): void {
    if (deleted) {
      for (const address of this.#addressesOf(link).list(link.name)) {
        this.events.emit({ kind: 'address', deleted, address });
      }
      this.#addresses.delete(link.index);
    }
    if (deleted || !link.up) this.#neighbours.forget(link.name, deleted);
    this.#routes.prune();
    this.events.emit({ kind: 'link', deleted, link: { ...link } });
  }

  #addressesOf({ index }: types.Link): FakeAddresses {
    let addresses = this.#addresses.get(index);
    if (!addresses) {
      addresses = new FakeAddresses((address, deleted) =>
        this.events.emit({ kind: 'address', deleted, address }),
      );
      this.#addresses.set(index, addresses);
    }
    return addresses;
  }

  #allAddresses(): types.LinkAddress[] {
    return this.#links.list().flatMap((link) => this.#addressesOf(link).list(link.name));
  }
}

/** Throws the error of an invalid argument, as the real client does. */
function check({ check: { fault } }: MessageWriter, { operation }: Attempt): void {
  if (fault) throw argumentError(operation, fault);
}

function copyOf(link: types.Link | undefined): types.Link | undefined {
  return link && { ...link };
}
