// ipset: sets of addresses, networks and ports that rules refer to. Written through libipset, which is loaded when a set
// is first written; listed over netlink without it.
import { loadAddon, type NativeIpsetClient } from '../addon.js';
import { applyAll, applyOne } from '../batch.js';
import { openCalls, unless } from '../calls.js';
import { Client } from '../client.js';
import { readAll } from '../listing.js';
import type { OpenOptions, OperationResult } from '../types.js';
import { readListing } from './listing.js';
import { attemptToRead, hintForOpen } from './names.js';
import { PACKING } from './packing.js';
import { checkName } from './records.js';
import type {
  Ipset,
  IpsetOperation,
  SetDefinition,
  SetEntry,
  SetHeader,
  SetReference,
  SetState,
} from './types.js';

export { NetlinkError } from '../../errors.js';
export type { Family } from '../../net/address.js';
export type { IpProtocol, Protocol } from '../../net/protocol.js';
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
export { formatEntry } from './entry.js';
export * from './types.js';

/**
 * Opens ipset. Needs neither libipset nor the kernel's ip_set modules, which the kernel loads by itself when they are
 * asked for; without libipset the verbs that write reject with `ERR_LIBRARY`, and the hint names the package.
 *
 * Rejects with NetlinkError: `ENOENT` and `EINVAL` for a path that is missing or no network namespace, `EPERM` for a
 * missing CAP_SYS_ADMIN. `options.timeout` bounds listings; libipset has no limit, and needs none: the kernel answers
 * within the call that asks.
 */
export async function openIpset(options: OpenOptions = {}): Promise<Ipset> {
  const native = new (loadAddon().IpsetClient)();
  const attempt = { operation: 'ipset.open', hint: hintForOpen };
  return new IpsetClient(await openCalls(native, options, attempt));
}

class IpsetClient extends Client<NativeIpsetClient, IpsetOperation> implements Ipset {
  async list(): Promise<SetHeader[]> {
    const listing = await this.calls.run(attemptToRead('list'), (client) => client.list());
    return (await readAll(readListing(listing))).map(({ set }) => set);
  }

  async get(name: string): Promise<SetState | undefined> {
    checkName(name, 'ipset.get');
    const attempt = attemptToRead('get', name);
    const listing = await unless(
      'ENOENT',
      this.calls.run(attempt, (client) => client.get(name)),
    );
    return listing && (await readAll(readListing(listing)))[0];
  }

  create(set: SetDefinition): Promise<void> {
    return applyOne(this.calls, { do: 'create', set }, PACKING);
  }

  add(set: SetReference, entry: SetEntry): Promise<void> {
    return applyOne(this.calls, { do: 'add', set, entry }, PACKING);
  }

  delete(set: SetReference, entry: SetEntry): Promise<void> {
    return applyOne(this.calls, { do: 'delete', set, entry }, PACKING);
  }

  flush(name: string): Promise<void> {
    return applyOne(this.calls, { do: 'flush', name }, PACKING);
  }

  destroy(name: string): Promise<void> {
    return applyOne(this.calls, { do: 'destroy', name }, PACKING);
  }

  swap(name: string, other: string): Promise<void> {
    return applyOne(this.calls, { do: 'swap', name, other }, PACKING);
  }

  apply(operations: readonly IpsetOperation[]): Promise<OperationResult[]> {
    return applyAll(this.calls, operations, PACKING);
  }
}
