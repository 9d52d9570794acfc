// IPVS over generic netlink: virtual services and real servers of one network namespace.
import { TimeSlice } from '../../timeSlice.js';
import { loadAddon, type NativeIpvsClient } from '../shared/addon.js';
import { checkArray, checkCallOptions } from '../shared/arguments.js';
import { applyAll, applyOne } from '../shared/batch.js';
import { openCalls, unless } from '../shared/calls.js';
import { Client } from '../shared/client.js';
import { checkConfirmation } from '../shared/confirmation.js';
import { readAll } from '../shared/listing.js';
import type { CallOptions, Listing, OpenOptions, OperationResult } from '../shared/types.js';
import { capabilitiesOf } from './capabilities.js';
import { ConnectionListing, packFilter } from './connections.js';
import { applyParts, readServerLists } from './listRecords.js';
import { asking, CONNECTIONS, nameService } from './names.js';
import { packServiceId, packServiceIds, packServiceIdsInSteps } from './operations.js';
import { PACKING } from './packing.js';
import {
  readDaemons,
  readInfo,
  readListing,
  readRealServers,
  readServices,
  readTimeouts,
} from './records.js';
import {
  type AddressId,
  type ConnectionFilter,
  FLUSH_CONFIRMATION,
  type Ipvs,
  type IpvsCapabilities,
  type IpvsConnection,
  type IpvsFlushOptions,
  type IpvsInfo,
  type IpvsOperation,
  type IpvsTimeouts,
  type IpvsTimeoutsInput,
  type RealServer,
  type RealServerIdInput,
  type RealServerInput,
  type SyncDaemon,
  type SyncDaemonInput,
  type SyncDaemonState,
  type VirtualService,
  type VirtualServiceId,
  type VirtualServiceInput,
  type VirtualServiceState,
} from './types.js';
import type { ChangePart, RealServers, ServerLists } from './values/serverLists.js';

export type { Family } from '../../net/address.js';
export type { Protocol } from '../../net/protocol.js';
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
export async function openIpvs(options: OpenOptions = {}): Promise<Ipvs> {
  const native = new (loadAddon().IpvsClient)();
  return new IpvsClient(await openCalls(native, options, asking('open')));
}

class IpvsClient extends Client<NativeIpvsClient, IpvsOperation> implements Ipvs, ServerLists {
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

  add(service: VirtualServiceInput, options?: CallOptions): Promise<void> {
    return this.#change({ do: 'addService', service }, options);
  }

  update(service: VirtualServiceInput, options?: CallOptions): Promise<void> {
    return this.#change({ do: 'updateService', service }, options);
  }

  delete(id: VirtualServiceId, options?: CallOptions): Promise<void> {
    return this.#change({ do: 'deleteService', service: id }, options);
  }

  addRealServer(id: VirtualServiceId, realServer: RealServerInput, options?: CallOptions): Promise<void> {
    return this.#change({ do: 'addRealServer', service: id, realServer }, options);
  }

  updateRealServer(id: VirtualServiceId, realServer: RealServerInput, options?: CallOptions): Promise<void> {
    return this.#change({ do: 'updateRealServer', service: id, realServer }, options);
  }

  deleteRealServer(
    id: VirtualServiceId,
    realServer: RealServerIdInput,
    options?: CallOptions,
  ): Promise<void> {
    return this.#change({ do: 'deleteRealServer', service: id, realServer }, options);
  }

  apply(operations: readonly IpvsOperation[], options?: CallOptions): Promise<OperationResult[]> {
    return applyAll(this.calls, operations, PACKING, options);
  }

  zero(id?: VirtualServiceId, options?: CallOptions): Promise<void> {
    return this.#change({ do: 'zero', service: id }, options);
  }

  async flush(options: IpvsFlushOptions): Promise<void> {
    checkConfirmation('ipvs.flush', FLUSH_CONFIRMATION, options);
    await this.#change({ do: 'flush', confirm: FLUSH_CONFIRMATION }, { signal: options.signal });
  }

  async info(options?: CallOptions): Promise<IpvsInfo> {
    return readInfo(await this.calls.run(asking('info'), (client) => client.info(), options));
  }

  async timeouts(options?: CallOptions): Promise<IpvsTimeouts> {
    return readTimeouts(await this.calls.run(asking('timeouts'), (client) => client.timeouts(), options));
  }

  setTimeouts(timeouts: IpvsTimeoutsInput, options?: CallOptions): Promise<void> {
    return this.#change({ do: 'setTimeouts', timeouts }, options);
  }

  async listDaemons(options?: CallOptions): Promise<SyncDaemon[]> {
    const records = await this.calls.run(asking('listDaemons'), (client) => client.listDaemons(), options);
    return readAll(readDaemons(records), options?.signal);
  }

  startDaemon(daemon: SyncDaemonInput, options?: CallOptions): Promise<void> {
    return this.#change({ do: 'startDaemon', daemon }, options);
  }

  stopDaemon(state: SyncDaemonState, options?: CallOptions): Promise<void> {
    return this.#change({ do: 'stopDaemon', state }, options);
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

  #change(operation: IpvsOperation, options?: CallOptions): Promise<void> {
    return applyOne(this.calls, operation, PACKING, options);
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
