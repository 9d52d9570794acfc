// Netlink itself, for families that have no client of their own: requests, listings and notifications as messages.
import { NetlinkError } from '../../errors.js';
import { loadAddon, type NativeNetlinkClient } from '../addon.js';
import { argumentError, type Fault, integerFault } from '../arguments.js';
import { sendAll } from '../batch.js';
import { type Calls, openCalls } from '../calls.js';
import { Client } from '../client.js';
import type { Attempt } from '../failures.js';
import { readAll } from '../listing.js';
import type { CallOptions, EventStream, Listing, OperationResult, WatchOptions } from '../types.js';
import { watchEvents } from '../watch.js';
import { familyRequest, readFamily } from './generic.js';
import { MessageWriter, readMessages } from './messages.js';
import { NAMING, targetOf } from './names.js';
import type {
  GenericFamily,
  Netlink,
  NetlinkEvent,
  NetlinkMessage,
  NetlinkOptions,
  NetlinkRequest,
} from './types.js';

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
export { Attribute, type AttributePlace, AttributeReader } from './attributeReader.js';
export { AttributeWriter, NLA_F_NESTED, NLA_F_NET_BYTEORDER } from './attributeWriter.js';
export {
  GENERIC_HEADER_SIZE,
  GENL_ID_CTRL,
  genericCommand,
  genericHeader,
  readFamily,
} from './generic.js';
export * from './types.js';

/** `NETLINK_…` */
const PROTOCOLS = { route: 0, netfilter: 12, generic: 16 } as const;
/** `MAX_LINKS` − 1 */
const LAST_PROTOCOL = 31;
const NLM_F_DUMP = 0x300;
/** Most groups of a watch, and the largest number of one: a bound on memory, far above what kernels have. */
const MOST_GROUPS = 1024;
const LARGEST_GROUP = 0x7fff_ffff;

/**
 * Opens netlink. Rejects with NetlinkError `ENOENT` or `EINVAL` for a path that is missing or no network namespace, `EPERM` when
 * CAP_SYS_ADMIN is missing to enter it, `EPROTONOSUPPORT` for a protocol that the kernel does not have.
 */
export async function openNetlink(options: NetlinkOptions): Promise<Netlink> {
  const attempt = { operation: 'netlink.open' };
  const { protocol, ...opening } = options;
  const number = typeof protocol === 'number' ? protocol : PROTOCOLS[protocol];
  const fault = findProtocolFault(protocol, number);
  if (fault) throw argumentError(attempt.operation, fault);
  const native = new (loadAddon().NetlinkClient)(number);
  return new NetlinkClient(await openCalls(native, opening, attempt), number);
}

function findProtocolFault(protocol: unknown, number: number | undefined): Fault | undefined {
  if (typeof protocol === 'number') return integerFault('protocol', protocol, 0, LAST_PROTOCOL);
  if (number !== undefined) return undefined;
  const rule = `must be a number, or one of ${Object.keys(PROTOCOLS).join(', ')}`;
  return { field: 'protocol', value: protocol, rule, wrongType: typeof protocol !== 'string' };
}

class NetlinkClient extends Client<NativeNetlinkClient, NetlinkRequest> implements Netlink {
  readonly #protocol: number;

  constructor(calls: Calls<NativeNetlinkClient, NetlinkRequest>, protocol: number) {
    super(calls);
    this.#protocol = protocol;
  }

  async resolveFamily(name: string, options: CallOptions = {}): Promise<GenericFamily> {
    const operation = 'netlink.resolveFamily';
    checkFamilyName(name, operation);
    if (this.#protocol !== PROTOCOLS.generic) {
      const kernelMessage = 'only the protocol generic has families with names';
      throw new NetlinkError({ code: 'ERR_INVALID_ARGUMENT', operation, target: name, kernelMessage });
    }
    const attempt: Attempt = {
      operation,
      target: name,
      hint: (code) => (code === 'ENOENT' ? 'the kernel has no such family: load its module' : undefined),
    };
    const [reply] = await this.#read(attempt, familyRequest(name), 0, options);
    if (reply) return readFamily(reply, operation);
    throw new NetlinkError({ code: 'ERR_MALFORMED_REPLY', operation, target: name });
  }

  send(messages: readonly NetlinkRequest[], options?: CallOptions): Promise<OperationResult[]> {
    return sendAll(this.calls, messages, NAMING, new MessageWriter(), options);
  }

  async query(request: NetlinkRequest, options: CallOptions = {}): Promise<NetlinkMessage[]> {
    return this.#read({ operation: 'netlink.query', target: targetOf(request) }, request, 0, options);
  }

  dump(request: NetlinkRequest, options: CallOptions = {}): Listing<NetlinkMessage> {
    const attempt = { operation: 'netlink.dump', target: targetOf(request) };
    const bytes = bytesOf(request, NLM_F_DUMP, attempt.operation);
    return this.listing(attempt, (client) => client.query(bytes), readMessages, options);
  }

  watch(groups: readonly number[], options: WatchOptions = {}): EventStream<NetlinkEvent> {
    const operation = 'netlink.watch';
    const fault = findGroupsFault(groups);
    if (fault) throw argumentError(operation, fault);
    const joined = [...groups];
    const create = () => new (loadAddon().NetlinkWatch)(this.#protocol, joined);
    return watchEvents({ operation, create, read: readEvents }, this.calls, options);
  }

  async #read(
    attempt: Attempt,
    request: NetlinkRequest,
    flags: number,
    options: CallOptions,
  ): Promise<NetlinkMessage[]> {
    const bytes = bytesOf(request, flags, attempt.operation);
    const replies = await this.calls.run(attempt, (client) => client.query(bytes), options);
    return readAll(readMessages(replies), options.signal);
  }
}

function bytesOf(request: NetlinkRequest, flags: number, operation: string): Uint8Array {
  const writer = new MessageWriter(flags);
  const fault = writer.write(request);
  if (fault) throw argumentError(operation, fault);
  return writer.bytes();
}

function* readEvents(records: Uint8Array): Generator<NetlinkEvent> {
  for (const message of readMessages(records)) yield { kind: 'message', message };
}

/** `GENL_NAMSIZ` is 16, with the zero. */
function checkFamilyName(name: unknown, operation: string): void {
  if (typeof name === 'string' && /^[^\0]{1,15}$/.test(name)) return;
  const rule = 'must be a name of 1 to 15 bytes';
  throw argumentError(operation, { field: 'name', value: name, rule, wrongType: typeof name !== 'string' });
}

function findGroupsFault(groups: unknown): Fault | undefined {
  if (!Array.isArray(groups) || groups.length === 0 || groups.length > MOST_GROUPS) {
    const rule = `must be an array of 1 to ${MOST_GROUPS} numbers`;
    return { field: 'groups', value: groups, rule, wrongType: !Array.isArray(groups) };
  }
  for (const [place, group] of groups.entries()) {
    const fault = integerFault(`groups[${place}]`, group, 1, LARGEST_GROUP);
    if (fault) return fault;
  }
  return undefined;
}
