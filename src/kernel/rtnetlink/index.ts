// Links and addresses over rtnetlink, of one network namespace.
import { loadAddon, type NativeRtnetlinkClient } from '../addon.js';
import { applyAll, applyOne } from '../batch.js';
import { type Calls, openCalls, unless } from '../calls.js';
import { Client } from '../client.js';
import { inSlices } from '../slices.js';
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
export type {
  Batch,
  BatchSource,
  EventStream,
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
  const calls = await openCalls(native, options, { operation: 'rtnetlink.open' });
  return new RtnetlinkClient(calls, options);
}

class RtnetlinkClient extends Client<NativeRtnetlinkClient, RtnetlinkOperation> implements Rtnetlink {
  readonly #opening: OpenOptions;
  readonly #closed = new AbortController();

  constructor(calls: Calls<NativeRtnetlinkClient, RtnetlinkOperation>, opening: OpenOptions) {
    super(calls);
    this.#opening = opening;
  }

  async listLinks(): Promise<Link[]> {
    const attempt = attemptToRead('listLinks');
    return inSlices(readLinks(await this.calls.run(attempt, (client) => client.listLinks())));
  }

  async getLink(name: string): Promise<Link | undefined> {
    const attempt = attemptToRead('getLink', name);
    checkLinkName('name', name, attempt.operation);
    const listing = await unless(
      'ENODEV',
      this.calls.run(attempt, (client) => client.getLink(name)),
    );
    return listing && (await inSlices(readLinks(listing)))[0];
  }

  async listAddresses(link?: string): Promise<LinkAddress[]> {
    const attempt = attemptToRead('listAddresses', link);
    if (link !== undefined) checkLinkName('link', link, attempt.operation);
    const listing = await this.calls.run(attempt, (client) => client.listAddresses(link ?? ''));
    return inSlices(readAddresses(listing));
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
    return watchEvents(RTNETLINK_WATCH, this.#opening, options, this.#closed.signal);
  }

  override close(): void {
    this.#closed.abort();
    super.close();
  }
}
