// Opens ipset.
import { loadAddon, type NativeIpsetClient } from '../shared/addon.js';
import { openCalls, unless } from '../shared/calls.js';
import { Client } from '../shared/client.js';
import { readAll } from '../shared/listing.js';
import type { CallOptions, Listing, OpenOptions } from '../shared/types.js';
import { withVerbs } from '../shared/verbs.js';
import { capabilitiesOf, readTypes } from './capabilities.js';
import { readEntries, readListing } from './listing.js';
import { attemptToRead, attemptToTest, hintForOpen } from './names.js';
import { checkName, testRecord } from './records.js';
import type {
  EntryOf,
  Ipset,
  IpsetCapabilities,
  IpsetOperation,
  ListedEntry,
  SetHeader,
  SetReference,
  SetState,
  SupportedType,
} from './types.js';
import { IpsetVerbs } from './verbs.js';

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

class IpsetClient extends withVerbs(Client<NativeIpsetClient, IpsetOperation>, IpsetVerbs) implements Ipset {
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
}
