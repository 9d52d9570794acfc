// IPVS over generic netlink: virtual services and real servers of one network namespace.

import { loadAddon, type NativeIpvsClient } from '../shared/addon.js';
import { checkArray, checkCallOptions } from '../shared/arguments.js';
import { openCalls, unless } from '../shared/calls.js';
import { Client } from '../shared/client.js';
import { readAll } from '../shared/listing.js';
import type { CallOptions, Listing, OpenOptions, OperationResult } from '../shared/types.js';
import { withVerbs } from '../shared/verbs.js';
import { TimeSlice } from '../timeSlice.js';
import { capabilitiesOf } from './capabilities.js';
import { ConnectionListing, packFilter } from './connections.js';
import { applyParts, readServerLists } from './listRecords.js';
import { asking, CONNECTIONS, nameService } from './names.js';
import { packServiceId, packServiceIds, packServiceIdsInSteps } from './operations.js';
import {
  readDaemons,
  readInfo,
  readListing,
  readRealServers,
  readServices,
  readTimeouts,
} from './records.js';
import type {
  AddressId,
  ConnectionFilter,
  Ipvs,
  IpvsCapabilities,
  IpvsConnection,
  IpvsInfo,
  IpvsOperation,
  IpvsTimeouts,
  RealServer,
  SyncDaemon,
  VirtualService,
  VirtualServiceId,
  VirtualServiceState,
} from './types.js';
import type { ChangePart, RealServers, ServerLists } from './values/serverLists.js';
import { IpvsVerbs } from './verbs.js';

export type { Family } from '../net/address.js';
export type { Protocol } from '../net/protocol.js';
export * from '../shared/everyClient.js';
export type { TextInput } from '../shared/programs/textLines.js';
export { formatRules, formatRulesAsync, type ServiceWithServers } from './formatRules.js';
export { parseRules, parseRulesAsync, RulesError, type RulesOptions } from './rules.js';
export * from './types.js';

/**
 * Opens IPVS.
 *
 * Rejects with NetlinkError `ENOENT` when the module ip_vs is not loaded. Kernels whose ip_vs has the alias
 * `net-pf-16-proto-16-family-IPVS` (Debian's 6.1) load it when it is asked for; this library does not. Also rejects with
 * `ENOENT` when `options.netns` is missing, `EINVAL` when it is not a network namespace, and `EPERM` without CAP_SYS_ADMIN, which
 * it needs. The hint names the reason.
 */
export async function openIpvs(options: OpenOptions = {}): Promise<Ipvs & ServerLists> {
  const native = new (loadAddon().IpvsClient)();
  return new IpvsClient(await openCalls(native, options, asking('open')));
}

class IpvsClient
  extends withVerbs(Client<NativeIpvsClient, IpvsOperation>, IpvsVerbs)
  implements Ipvs, ServerLists
{
  /** Number of the last listing of connections. */
  #listings = 0;

  async list(options?: CallOptions): Promise<VirtualServiceState[]> {
    const records = await this.calls.run(asking('list'), (client) => client.list(), options);
    return readAll(readListing(records), options?.signal);
  }

  async listServices(options?: CallOptions): Promise<VirtualService[]> {
    const records = await this.calls.run(asking('listServices'), (client) => client.listServices(), options);
    return readAll(readServices(records), options?.signal);
  }

  async listRealServers(ids: readonly VirtualServiceId[], options?: CallOptions): Promise<RealServer[][]> {
    const attempt = asking('listRealServers');
    checkArray(attempt.operation, 'ids', ids);
    const packing = new TimeSlice().finish(packServiceIdsInSteps(ids.slice(), attempt.operation));
    packing.catch(() => {}); // awaited by the call
    const call = async (client: NativeIpvsClient) => client.listServers(await packing);
    const listing = await this.calls.run(attempt, call, options);
    return readAll(readRealServers(listing), options?.signal);
  }

  /** As {@link ServerLists.listServers}. */
  async listServers(ids: readonly AddressId[]): Promise<RealServers[]> {
    const records = packServiceIds(ids, 'ipvs.listRealServers');
    const listing = await this.calls.run(asking('listRealServers'), (client) => client.listServers(records));
    return readAll(readServerLists(listing, ids));
  }

  /** As {@link ServerLists.applyChanges}. */
  applyChanges(parts: readonly ChangePart[]): Promise<OperationResult[]> {
    return applyParts(this.calls, parts);
  }

  async get(id: VirtualServiceId, options?: CallOptions): Promise<VirtualServiceState | undefined> {
    const record = packServiceId(id, 'ipvs.get');
    const attempt = asking('get', nameService(id));
    const listing = await unless(
      'ESRCH',
      this.calls.run(attempt, (client) => client.get(record), options),
    );
    return listing && (await readAll(readListing(listing), options?.signal))[0];
  }

  async info(options?: CallOptions): Promise<IpvsInfo> {
    return readInfo(await this.calls.run(asking('info'), (client) => client.info(), options));
  }

  async timeouts(options?: CallOptions): Promise<IpvsTimeouts> {
    return readTimeouts(await this.calls.run(asking('timeouts'), (client) => client.timeouts(), options));
  }

  async listDaemons(options?: CallOptions): Promise<SyncDaemon[]> {
    const records = await this.calls.run(asking('listDaemons'), (client) => client.listDaemons(), options);
    return readAll(readDaemons(records), options?.signal);
  }

  connections(filter: ConnectionFilter = {}, options: CallOptions = {}): Listing<IpvsConnection> {
    const matches = packFilter(filter, CONNECTIONS.operation);
    checkCallOptions(CONNECTIONS.operation, options);
    return new ConnectionListing(() => this.#readConnections(options), matches);
  }

  async capabilities(options?: CallOptions): Promise<IpvsCapabilities> {
    const info = readInfo(await this.calls.run(asking('capabilities'), (client) => client.info(), options));
    return capabilitiesOf(info);
  }

  /** The pieces of /proc/net/ip_vs_conn, as the addon reads them. */
  async *#readConnections(options: CallOptions): AsyncGenerator<Uint8Array, void, undefined> {
    const listing = ++this.#listings;
    try {
      for (;;) {
        const piece = await this.calls.run(CONNECTIONS, (client) => client.readConnections(listing), options);
        if (piece.length === 0) return;
        yield piece;
      }
    } finally {
      // Not awaited: after an abort, the piece that is still being read would delay its error.
      void unless(
        'ERR_CLOSED',
        this.calls.run(CONNECTIONS, (client) => client.endConnections(listing)),
      );
    }
  }
}
