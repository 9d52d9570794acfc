// ipset: sets of addresses, networks, ports and others that rules refer to. Written through libipset, which is loaded when a
// set is first written; listed over netlink without it.
import { loadAddon, type NativeIpsetClient } from '../shared/addon.js';
import { checkOptions } from '../shared/arguments.js';
import { applyAll, applyOne } from '../shared/batch.js';
import { openCalls, unless } from '../shared/calls.js';
import { Client } from '../shared/client.js';
import { checkConfirmation } from '../shared/confirmation.js';
import { readAll } from '../shared/listing.js';
import type { CallOptions, Listing, OpenOptions, OperationResult } from '../shared/types.js';
import { capabilitiesOf, readTypes } from './capabilities.js';
import { grow } from './grow.js';
import { readEntries, readListing } from './listing.js';
import { attemptToRead, attemptToTest, hintForOpen } from './names.js';
import { PACKING } from './packing.js';
import { checkName, testRecord } from './records.js';
import {
  type ChangeOptions,
  DESTROY_ALL_CONFIRMATION,
  type DestroyAllOptions,
  type EntryOf,
  FLUSH_ALL_CONFIRMATION,
  type FlushAllOptions,
  type Ipset,
  type IpsetCapabilities,
  type IpsetOperation,
  type LargerSet,
  type ListedEntry,
  type SetDefinition,
  type SetHeader,
  type SetReference,
  type SetState,
  type SupportedType,
} from './types.js';

export type { Family } from '../../net/address.js';
export type { IpProtocol, Protocol } from '../../net/protocol.js';
export * from '../shared/everyClient.js';
export type { TextInput } from '../shared/programs/textLines.js';
export { definitionOf } from './definition.js';
export { formatGivenEntry as formatEntry } from './givenEntry.js';
export {
  type ParsedSets,
  type ParseOptions,
  parseSets,
  parseSetsAsync,
  type SavedOperation,
  type SavedProblem,
} from './restore.js';
export { formatSets, formatSetsAsync, type ListedSet, type SavedSet } from './save.js';
export * from './types.js';

/**
 * Opens ipset. Needs neither libipset nor the kernel's ip_set modules, which the kernel loads when they are first used.
 * Without libipset, the verbs that write reject with `ERR_LIBRARY`, and the hint names the package.
 *
 * Rejects with NetlinkError `ENOENT` when `options.netns` is missing, `EINVAL` when it is not a network namespace, and `EPERM`
 * without CAP_SYS_ADMIN, which it needs. `options.timeout` limits listings only: libipset has no time limit, because the kernel
 * replies within the system call.
 */
export async function openIpset(options: OpenOptions = {}): Promise<Ipset> {
  const native = new (loadAddon().IpsetClient)();
  const attempt = { operation: 'ipset.open', hint: hintForOpen };
  return new IpsetClient(await openCalls(native, options, attempt));
}

class IpsetClient extends Client<NativeIpsetClient, IpsetOperation> implements Ipset {
  async list(options: CallOptions = {}): Promise<SetHeader[]> {
    const listing = await this.calls.run(attemptToRead('list'), (client) => client.list(), options);
    return (await readAll(readListing(listing), options.signal)).map(({ set }) => set);
  }

  async get(name: string, options: CallOptions = {}): Promise<SetState | undefined> {
    checkName(name, 'ipset.get');
    const attempt = attemptToRead('get', name);
    const listing = await unless(
      'ENOENT',
      this.calls.run(attempt, (client) => client.get(name), options),
    );
    return listing && (await readAll(readListing(listing), options.signal))[0];
  }

  entries(name: string, options: CallOptions = {}): Listing<ListedEntry> {
    checkName(name, 'ipset.entries');
    return this.listing(attemptToRead('entries', name), (client) => client.get(name), readEntries, options);
  }

  async test(set: SetReference, entry: EntryOf, options: CallOptions = {}): Promise<boolean> {
    const record = testRecord(set, entry);
    const attempt = attemptToTest(set, entry);
    const [found] = await this.calls.run(attempt, (client) => client.test(record), options);
    return found === 1;
  }

  async types(options: CallOptions = {}): Promise<SupportedType[]> {
    return readTypes(await this.calls.run(attemptToRead('types'), (client) => client.types(), options));
  }

  async capabilities(options: CallOptions = {}): Promise<IpsetCapabilities> {
    return capabilitiesOf(this.calls, options);
  }

  async create(set: SetDefinition, options: ChangeOptions = {}): Promise<void> {
    checkOptions('ipset.create', options);
    const { strict, ...call } = options;
    return applyOne(this.calls, { do: 'create', set, strict }, PACKING, call);
  }

  async add(set: SetReference, entry: EntryOf, options: ChangeOptions = {}): Promise<void> {
    checkOptions('ipset.add', options);
    const { strict, ...call } = options;
    return applyOne(this.calls, { do: 'add', set, entry, strict } as IpsetOperation, PACKING, call);
  }

  async delete(set: SetReference, entry: EntryOf, options: ChangeOptions = {}): Promise<void> {
    checkOptions('ipset.delete', options);
    const { strict, ...call } = options;
    return applyOne(this.calls, { do: 'delete', set, entry, strict } as IpsetOperation, PACKING, call);
  }

  flush(name: string, options: CallOptions = {}): Promise<void> {
    return applyOne(this.calls, { do: 'flush', name }, PACKING, options);
  }

  async flushAll(options: FlushAllOptions): Promise<void> {
    checkConfirmation('ipset.flushAll', FLUSH_ALL_CONFIRMATION, options);
    await applyOne(this.calls, { do: 'flushAll', confirm: FLUSH_ALL_CONFIRMATION }, PACKING, {
      signal: options.signal,
    });
  }

  destroy(name: string, options: CallOptions = {}): Promise<void> {
    return applyOne(this.calls, { do: 'destroy', name }, PACKING, options);
  }

  async destroyAll(options: DestroyAllOptions): Promise<void> {
    checkConfirmation('ipset.destroyAll', DESTROY_ALL_CONFIRMATION, options);
    await applyOne(this.calls, { do: 'destroyAll', confirm: DESTROY_ALL_CONFIRMATION }, PACKING, {
      signal: options.signal,
    });
  }

  rename(name: string, newName: string, options: CallOptions = {}): Promise<void> {
    return applyOne(this.calls, { do: 'rename', name, newName }, PACKING, options);
  }

  swap(name: string, other: string, options: CallOptions = {}): Promise<void> {
    return applyOne(this.calls, { do: 'swap', name, other }, PACKING, options);
  }

  async grow(name: string, larger: LargerSet, options: CallOptions = {}): Promise<void> {
    checkName(name, 'ipset.grow');
    await grow(this, name, larger, options);
  }

  apply(operations: readonly IpsetOperation[], options: CallOptions = {}): Promise<OperationResult[]> {
    return applyAll(this.calls, operations, PACKING, options);
  }
}
