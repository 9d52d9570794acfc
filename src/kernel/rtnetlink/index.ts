// Links, addresses, routes, rules and neighbours over rtnetlink, of one network namespace.

import type { Family } from '../net/address.js';
import { loadAddon, type NativeRtnetlinkClient } from '../shared/addon.js';
import { checkCallOptions } from '../shared/arguments.js';
import { checkBatch } from '../shared/batch.js';
import { openCalls, unless } from '../shared/calls.js';
import { Client } from '../shared/client.js';
import { type Attempt, toNetlinkError } from '../shared/failures.js';
import { RecordListing, readAll } from '../shared/listing.js';
import type { CallOptions, EventStream, Listing, OpenOptions, OperationResult } from '../shared/types.js';
import { withVerbs } from '../shared/verbs.js';
import { watchEvents } from '../shared/watch.js';
import { portOf } from '../shared/wire/messages.js';
import { TimeSlice } from '../timeSlice.js';
import { encodeListAddresses, readAddress } from './addresses/codec.js';
import { encodeListBridgeVlans, readBridgeVlans } from './bridgeVlans/codec.js';
import { findCapabilities } from './capabilities.js';
import { checkLinkReference, type LinkNames } from './fields.js';
import { encodeListForwardingEntries, readForwardingEntry } from './forwarding/codec.js';
import { indexOf, readLink, readName } from './links/read.js';
import { encodeLinkStatistics, readLinkStatistics } from './links/statistics.js';
import { encodeGetLink, encodeListLinks } from './links/write.js';
import { explained, isRefusedRoute, leadsToLoopback, questionLeadsToLoopback } from './loopback.js';
import { checkedMessage, type Message, type MessageWriter, messagesOf } from './message.js';
import { attemptToAsk, attemptToRead, describeLink, describeNeighbour, describeNextHop } from './names.js';
import {
  describeNamespace,
  encodeGetNamespaceId,
  encodeListNamespaceIds,
  readNamespaceId,
} from './namespaces/codec.js';
import { encodeGetNeighbour, encodeListNeighbours, readNeighbour } from './neighbours/codec.js';
import { encodeGetNextHop, encodeListNextHops, readNextHop } from './nexthops/codec.js';
import { encodeGetRoute, encodeListRoutes } from './routes/query.js';
import { passes, readRoute } from './routes/read.js';
import { encodeListRules, readRule } from './rules/codec.js';
import type * as types from './types.js';
import { PACKING, RtnetlinkVerbs } from './verbs.js';
import { checkWatch, watchOf } from './watch.js';

export * from '../shared/everyClient.js';
export type { EventStream, Resync, WatchOptions } from '../shared/types.js';
export { addNamespace, deleteNamespace, listNamespaces } from './namespaces/named.js';
export { type RouteName, sameAddress, sameRoute } from './same.js';
export * from './types.js';
export {
  type HostEvent,
  type HostWatchOptions,
  type RtnetlinkChange,
  type RtnetlinkWatch,
  watchRtnetlink,
} from './watch.js';

type Operation = types.RtnetlinkOperation;
type Reader<T> = (message: Message, links: LinkNames) => T | undefined;

/** A listing of links that is not needed. */
const NO_LINKS = new Uint8Array();

/**
 * Opens rtnetlink. Rejects with NetlinkError `ENOENT` when `options.netns` is missing, `EINVAL` when it is not a network
 * namespace, and `EPERM` without CAP_SYS_ADMIN, which it needs.
 */
export async function openRtnetlink(options: OpenOptions = {}): Promise<types.Rtnetlink> {
  const native = new (loadAddon().RtnetlinkClient)();
  return new RtnetlinkClient(await openCalls(native, options, { operation: 'rtnetlink.open' }));
}

/** `LOOPBACK_IFINDEX`: the link that every network namespace has. */
const LOOPBACK = 1;

class RtnetlinkClient
  extends withVerbs(Client<NativeRtnetlinkClient, Operation>, RtnetlinkVerbs)
  implements types.Rtnetlink
{
  async listLinks(options?: CallOptions): Promise<types.Link[]> {
    const attempt = attemptToRead('listLinks');
    const answer = await this.#read(attempt, encodeListLinks(), options);
    return readAll(readEach(answer, attempt, answer, readLink), options?.signal);
  }

  async getLink(link: types.LinkReference, options?: CallOptions): Promise<types.Link | undefined> {
    const attempt = attemptToRead('getLink', describeLink(link));
    const request = checkedMessage(encodeGetLink(link), attempt);
    const all = encodeListLinks().finish();
    const read = this.calls.run(
      attempt,
      async (client) => {
        const answer = await client.read(request);
        // All links are read for the names of those that this one refers to.
        const links = refersToLinks(answer, attempt) ? await client.read(all) : NO_LINKS;
        return { answer, links };
      },
      options,
    );
    const found = await unless('ENODEV', read);
    if (!found) return undefined;
    const [one] = await readAll(readEach(found.answer, attempt, found.links, readLink), options?.signal);
    return one;
  }

  async listLinkStatistics(options?: CallOptions): Promise<types.LinkStatistics[]> {
    const attempt = attemptToRead('listLinkStatistics');
    return this.#list(attempt, encodeLinkStatistics(), readLinkStatistics, options).toArray();
  }

  async getLinkStatistics(
    link: types.LinkReference,
    options?: CallOptions,
  ): Promise<types.LinkStatistics | undefined> {
    const attempt = attemptToRead('getLinkStatistics', describeLink(link));
    const one = checkedMessage(encodeGetLink(link), attempt);
    const read = this.calls.run(
      attempt,
      async (client) => {
        const links = await client.read(one);
        const [found] = messagesOf(links, attempt.operation);
        return { links, answer: await client.read(encodeLinkStatistics(found && indexOf(found)).finish()) };
      },
      options,
    );
    const found = await unless('ENODEV', read);
    if (!found) return undefined;
    const statistics = readEach(found.answer, attempt, found.links, readLinkStatistics);
    return (await readAll(statistics, options?.signal))[0];
  }

  async listAddresses(link?: types.LinkReference, options?: CallOptions): Promise<types.LinkAddress[]> {
    const attempt = attemptToRead('listAddresses', describeLink(link));
    if (link === undefined) return this.#list(attempt, encodeListAddresses(), readAddress, options).toArray();
    checkLinkReference('link', link, attempt.operation);
    const one = encodeGetLink(link).finish();
    const { answer, links } = await this.calls.run(
      attempt,
      async (client) => {
        const links = await client.read(one);
        const [found] = messagesOf(links, attempt.operation);
        return { links, answer: await client.read(encodeListAddresses(found && indexOf(found)).finish()) };
      },
      options,
    );
    return readAll(readEach(answer, attempt, links, readAddress), options?.signal);
  }

  listRoutes(filter: types.RouteFilter = {}, options?: CallOptions): Listing<types.Route> {
    const attempt = attemptToRead('listRoutes', describeLink(filter?.link));
    const read: Reader<types.Route> = (message, links) => {
      const route = readRoute(message, links);
      return route && passes(route, filter) ? route : undefined;
    };
    // The kernel answers a filter with a table that does not exist with ENOENT.
    return this.#list(attempt, encodeListRoutes(filter), read, options, 'ENOENT');
  }

  async getRoute(address: string, query?: types.RouteQuery, options?: CallOptions): Promise<types.Route> {
    const attempt = attemptToAsk(address, query);
    const read: Reader<types.Route> = (message, links) => readRoute(message, links, true);
    const listing = this.#list(attempt, encodeGetRoute(address, query), read, options);
    const [route] = await listing.toArray().catch(async (error: unknown) => {
      throw await explained(error, () => questionLeadsToLoopback(address, query), this.#loopbackIsDown);
    });
    if (!route)
      throw toNetlinkError(
        { errno: 0, code: 'ERR_MALFORMED_REPLY', message: 'no route in the reply' },
        attempt,
      );
    return route;
  }

  async listRules(family?: Family, options?: CallOptions): Promise<types.Rule[]> {
    const attempt = attemptToRead('listRules');
    const answer = await this.#read(attempt, encodeListRules(family), options);
    return readAll(readEach(answer, attempt, NO_LINKS, readRule), options?.signal);
  }

  listNeighbours(filter: types.NeighbourFilter = {}, options?: CallOptions): Listing<types.Neighbour> {
    const attempt = attemptToRead('listNeighbours', describeLink(filter?.link));
    return this.#list(attempt, encodeListNeighbours(filter), readNeighbour, options);
  }

  async getNeighbour(id: types.NeighbourId, options?: CallOptions): Promise<types.Neighbour | undefined> {
    const attempt = attemptToRead('getNeighbour', describeNeighbour(id));
    const listing = this.#list(attempt, encodeGetNeighbour(id), readNeighbour, options, 'ENOENT');
    const [neighbour] = await listing.toArray();
    return neighbour;
  }

  listNextHops(filter: types.NextHopFilter = {}, options?: CallOptions): Listing<types.NextHopObject> {
    const attempt = attemptToRead('listNextHops', describeLink(filter?.link));
    return this.#list(attempt, encodeListNextHops(filter), readNextHop, options);
  }

  async getNextHop(id: number, options?: CallOptions): Promise<types.NextHopObject | undefined> {
    const attempt = attemptToRead('getNextHop', describeNextHop(id));
    const [found] = await this.#list(attempt, encodeGetNextHop(id), readNextHop, options, 'ENOENT').toArray();
    return found;
  }

  async listBridgeVlans(link?: types.LinkReference, options?: CallOptions): Promise<types.BridgeVlan[]> {
    const attempt = attemptToRead('listBridgeVlans', describeLink(link));
    if (link !== undefined) checkLinkReference('link', link, attempt.operation);
    const all = encodeListBridgeVlans().finish();
    const named = link === undefined ? encodeListLinks() : encodeGetLink(link);
    const { answer, links } = await this.calls.run(
      attempt,
      // Of the names, only that of the link that is asked for: the kernel lists all bridges.
      async (client) => ({ links: await client.read(named.finish()), answer: await client.read(all) }),
      options,
    );
    const read: Reader<types.BridgeVlan[]> = (message, names) => [...readBridgeVlans(message, names)];
    return (await readAll(readEach(answer, attempt, links, read), options?.signal)).flat();
  }

  listForwardingEntries(link?: types.LinkReference, options?: CallOptions): Listing<types.ForwardingEntry> {
    const attempt = attemptToRead('listForwardingEntries', describeLink(link));
    return this.#list(attempt, encodeListForwardingEntries(link), readForwardingEntry, options);
  }

  async listNamespaceIds(options?: CallOptions): Promise<number[]> {
    const attempt = attemptToRead('listNamespaceIds');
    const answer = await this.#read(attempt, encodeListNamespaceIds(), options);
    const ids = await readAll(readEach(answer, attempt, NO_LINKS, readNamespaceId), options?.signal);
    return ids.sort((a, b) => a - b);
  }

  async getNamespaceId(netns: types.NetworkNamespace, options?: CallOptions): Promise<number | undefined> {
    const attempt = attemptToRead('getNamespaceId', describeNamespace(netns));
    const answer = await this.#read(attempt, encodeGetNamespaceId(netns), options);
    return (await readAll(readEach(answer, attempt, NO_LINKS, readNamespaceId), options?.signal))[0];
  }

  protected override async send(operation: Operation, options?: CallOptions): Promise<void> {
    try {
      await super.send(operation, options);
    } catch (error) {
      throw await explained(error, () => leadsToLoopback(operation), this.#loopbackIsDown);
    }
  }

  override async apply(operations: readonly Operation[], options?: CallOptions): Promise<OperationResult[]> {
    checkBatch(operations, PACKING);
    const own = operations.slice(); // the caller may change its array meanwhile
    const results = await super.apply(own, options);
    let down: Promise<boolean> | undefined;
    const isDown = () => {
      down ??= this.#loopbackIsDown();
      return down;
    };
    const slice = new TimeSlice();
    for (const [place, result] of results.entries()) {
      if (slice.spend(1)) await slice.yield();
      const operation = own[place] as Operation;
      if (isRefusedRoute(result)) {
        results[place] = await explained(result, () => leadsToLoopback(operation), isDown);
      }
    }
    return results;
  }

  watch(options: types.RtnetlinkWatchOptions = {}): EventStream<types.RtnetlinkEvent> {
    const { kinds, ...watching } = checkWatch(options);
    return watchEvents(watchOf(kinds), this.calls, watching);
  }

  async port(options?: CallOptions): Promise<number> {
    const attempt = attemptToRead('port');
    return portOf(await this.#read(attempt, encodeGetLink(LOOPBACK), options), attempt.operation);
  }

  async capabilities(options?: CallOptions): Promise<types.RtnetlinkCapabilities> {
    return findCapabilities((attempt, message) => this.#read(attempt, message, options));
  }

  /** False also where it cannot be found out: the client may be closed. */
  readonly #loopbackIsDown = async (): Promise<boolean> => {
    const lo = await this.getLink('lo').catch(() => undefined);
    return lo !== undefined && !lo.up;
  };

  #read(attempt: Attempt, message: MessageWriter, options?: CallOptions): Promise<Uint8Array> {
    const request = checkedMessage(message, attempt);
    return this.calls.run(attempt, (client) => client.read(request), options);
  }

  /** A listing of objects that refer to links. `absent` is the code of an error that means that there are none. */
  #list<T>(
    attempt: Attempt,
    message: MessageWriter,
    read: Reader<T>,
    options?: CallOptions,
    absent = '',
  ): Listing<T> {
    checkCallOptions(attempt.operation, options);
    const request = checkedMessage(message, attempt);
    const all = encodeListLinks().finish();
    const start = async () => {
      const call = this.calls.run(
        attempt,
        async (client) => ({ answer: await client.read(request), links: await client.read(all) }),
        options,
      );
      const found = await unless(absent, call);
      return found ? readEach(found.answer, attempt, found.links, read) : [];
    };
    return new RecordListing(start, options?.signal);
  }
}

/** Reads the messages of an answer, with the names of links of a listing of links. Undefined while it reads names. */
function* readEach<T>(
  answer: Uint8Array,
  { operation }: Attempt,
  links: Uint8Array,
  read: Reader<T>,
): Generator<T | undefined, void> {
  const names = new Map<number, string>();
  for (const message of messagesOf(links, operation)) {
    names.set(indexOf(message), readName(message) ?? '');
    yield undefined;
  }
  for (const message of messagesOf(answer, operation)) yield read(message, names);
}

/** Whether the links of an answer have names of other links. */
function refersToLinks(answer: Uint8Array, { operation }: Attempt): boolean {
  let refers = false;
  const asked = {
    get() {
      refers = true;
      return undefined;
    },
  };
  for (const message of messagesOf(answer, operation)) readLink(message, asked);
  return refers;
}
