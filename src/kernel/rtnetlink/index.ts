// Links and addresses over rtnetlink, of one network namespace.
import { loadAddon, type NativeRtnetlinkClient } from '../addon.js';
import { applyAll, applyOne } from '../batch.js';
import { openCalls, unless } from '../calls.js';
import { Client } from '../client.js';
import { readAll } from '../listing.js';
import type { EventStream, OpenOptions, OperationResult, WatchOptions } from '../types.js';
import { watchEvents } from '../watch.js';
import { attemptToRead } from './names.js';
import { PACKING } from './packing.js';
import { checkLinkName, readAddresses, readLinks } from './records.js';
import type {
  Link,
  LinkAddress,
  LinkAddressId,
  Rtnetlink,
  RtnetlinkEvent,
  RtnetlinkOperation,
} from './types.js';
import { RTNETLINK_WATCH } from './watch.js';

export { NetlinkError } from '../../errors.js';
export { throwOnFailure } from '../failures.js';
export type {
  Batch,
  BatchSource,
  CallOptions,
  EventStream,
  KernelClient,
  Listing,
  OpenOptions,
  OperationResult,
  Resync,
  WatchOptions,
} from '../types.js';
export * from './types.js';
export {
  type RtnetlinkChange,
  type RtnetlinkWatch,
  type RtnetlinkWatchOptions,
  watchRtnetlink,
} from './watch.js';

/**
 * Opens rtnetlink. Rejects with NetlinkError `ENOENT` or `EINVAL` for a path that is missing or no network namespace,
 * `EPERM` when CAP_SYS_ADMIN is missing to enter it.
 */
export async function openRtnetlink(options: OpenOptions = {}): Promise<Rtnetlink> {
  const native = new (loadAddon().RtnetlinkClient)();
  return new RtnetlinkClient(await openCalls(native, options, { operation: 'rtnetlink.open' }));
}

class RtnetlinkClient extends Client<NativeRtnetlinkClient, RtnetlinkOperation> implements Rtnetlink {
  async listLinks(): Promise<Link[]> {
    const attempt = attemptToRead('listLinks');
    return readAll(readLinks(await this.calls.run(attempt, (client) => client.listLinks())));
  }

  async getLink(name: string): Promise<Link | undefined> {
    const attempt = attemptToRead('getLink', name);
    checkLinkName('name', name, attempt.operation);
    const listing = await unless(
      'ENODEV',
      this.calls.run(attempt, (client) => client.getLink(name)),
    );
    return listing && (await readAll(readLinks(listing)))[0];
  }

  async listAddresses(link?: string): Promise<LinkAddress[]> {
    const attempt = attemptToRead('listAddresses', link);
    if (link !== undefined) checkLinkName('link', link, attempt.operation);
    const listing = await this.calls.run(attempt, (client) => client.listAddresses(link ?? ''));
    return readAll(readAddresses(listing));
  }

  addLink(name: string, kind: string): Promise<void> {
    return applyOne(this.calls, { do: 'addLink', name, kind }, PACKING);
  }

  deleteLink(name: string): Promise<void> {
    return applyOne(this.calls, { do: 'deleteLink', name }, PACKING);
  }

  addAddress(address: LinkAddressId): Promise<void> {
    return applyOne(this.calls, { do: 'addAddress', address }, PACKING);
  }

  deleteAddress(address: LinkAddressId): Promise<void> {
    return applyOne(this.calls, { do: 'deleteAddress', address }, PACKING);
  }

  apply(operations: readonly RtnetlinkOperation[]): Promise<OperationResult[]> {
    return applyAll(this.calls, operations, PACKING);
  }

  watch(options: WatchOptions = {}): EventStream<RtnetlinkEvent> {
    return watchEvents(RTNETLINK_WATCH, this.calls, options);
  }
}
