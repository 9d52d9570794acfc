// IPVS over generic netlink: virtual services and real servers of one network namespace.
import { loadAddon, type NativeIpvsClient } from '../addon.js';
import { applyAll, applyOne } from '../batch.js';
import { openCalls, unless } from '../calls.js';
import { Client } from '../client.js';
import { readAll } from '../listing.js';
import { changed } from '../reported.js';
import type { OpenOptions, OperationResult } from '../types.js';
import { asking, nameService } from './names.js';
import { PACKING } from './packing.js';
import {
  packServiceId,
  packServiceIds,
  packTimeouts,
  readInfo,
  readListing,
  readRealServers,
  readServices,
  readTimeouts,
} from './records.js';
import type {
  Ipvs,
  IpvsChange,
  IpvsInfo,
  IpvsOperation,
  IpvsTimeouts,
  RealServer,
  RealServerId,
  VirtualService,
  VirtualServiceId,
  VirtualServiceState,
} from './types.js';

export { NetlinkError } from '../../errors.js';
export type { Family } from '../../net/address.js';
export type { Protocol } from '../../net/protocol.js';
export { throwOnFailure } from '../failures.js';
export type {
  Batch,
  BatchSource,
  CallOptions,
  KernelClient,
  Listing,
  OpenOptions,
  OperationResult,
} from '../types.js';
export * from './types.js';

/**
 * Opens IPVS.
 *
 * Rejects with NetlinkError `ENOENT` when the module ip_vs is not loaded. Kernels whose ip_vs has the alias
 * `net-pf-16-proto-16-family-IPVS` (Debian's 6.1) load it when it is asked for; this library does not. `ENOENT` and
 * `EINVAL` also stand for a path that is missing or no network namespace, `EPERM` for a missing CAP_SYS_ADMIN: see
 * the hint.
 */
export async function openIpvs(options: OpenOptions = {}): Promise<Ipvs> {
  const native = new (loadAddon().IpvsClient)();
  return new IpvsClient(await openCalls(native, options, asking('open')));
}

class IpvsClient extends Client<NativeIpvsClient, IpvsChange> implements Ipvs {
  async list(): Promise<VirtualServiceState[]> {
    return readAll(readListing(await this.calls.run(asking('list'), (client) => client.list())));
  }

  async listServices(): Promise<VirtualService[]> {
    const attempt = asking('listServices');
    return readAll(readServices(await this.calls.run(attempt, (client) => client.listServices())));
  }

  async listRealServers(ids: readonly VirtualServiceId[]): Promise<RealServer[][]> {
    const records = packServiceIds(ids, 'ipvs.listRealServers');
    const attempt = asking('listRealServers');
    return readAll(readRealServers(await this.calls.run(attempt, (client) => client.listServers(records))));
  }

  async get(id: VirtualServiceId): Promise<VirtualServiceState | undefined> {
    const record = packServiceId(id, 'ipvs.get');
    const attempt = asking('get', nameService(id));
    const listing = await unless(
      'ESRCH',
      this.calls.run(attempt, (client) => client.get(record)),
    );
    return listing && (await readAll(readListing(listing)))[0];
  }

  add(service: VirtualService): Promise<void> {
    return applyOne(this.calls, { do: 'addService', service }, PACKING);
  }

  update(service: VirtualService): Promise<void> {
    return applyOne(this.calls, { do: 'updateService', service }, PACKING);
  }

  delete(id: VirtualServiceId): Promise<void> {
    return applyOne(this.calls, { do: 'deleteService', service: id }, PACKING);
  }

  addRealServer(id: VirtualServiceId, realServer: RealServer): Promise<void> {
    return applyOne(this.calls, { do: 'addRealServer', service: id, realServer }, PACKING);
  }

  updateRealServer(id: VirtualServiceId, realServer: RealServer): Promise<void> {
    return applyOne(this.calls, { do: 'updateRealServer', service: id, realServer }, PACKING);
  }

  deleteRealServer(id: VirtualServiceId, realServer: RealServerId): Promise<void> {
    return applyOne(this.calls, { do: 'deleteRealServer', service: id, realServer }, PACKING);
  }

  apply(operations: readonly IpvsOperation[]): Promise<OperationResult[]> {
    return applyAll(this.calls, operations, PACKING);
  }

  async flush(): Promise<void> {
    await changed(this, { do: 'flush' }, async () => {
      await this.calls.run(asking('flush'), (client) => client.flush());
    });
  }

  async info(): Promise<IpvsInfo> {
    return readInfo(await this.calls.run(asking('info'), (client) => client.info()));
  }

  async timeouts(): Promise<IpvsTimeouts> {
    return readTimeouts(await this.calls.run(asking('timeouts'), (client) => client.timeouts()));
  }

  async setTimeouts(timeouts: IpvsTimeouts): Promise<void> {
    const record = packTimeouts(timeouts);
    await changed(this, { do: 'setTimeouts', timeouts }, async () => {
      await this.calls.run(asking('setTimeouts'), (client) => client.setTimeouts(record));
    });
  }
}
