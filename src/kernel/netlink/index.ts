// Netlink itself, for families that have no client of their own: requests, listings and notifications as messages.
import { NetlinkError } from '../errors.js';
import { loadAddon, type NativeNetlinkClient } from '../shared/addon.js';
import { checkObject } from '../shared/arguments.js';
import { checkBatch, sendAll } from '../shared/batch.js';
import { type Calls, openCalls } from '../shared/calls.js';
import { Client } from '../shared/client.js';
import type { Attempt } from '../shared/failures.js';
import { readAll } from '../shared/listing.js';
import type { CallOptions, EventStream, Listing, OperationResult, WatchOptions } from '../shared/types.js';
import { watchEvents } from '../shared/watch.js';
import { NLM_F_DUMP } from './flags.js';
import { familyRequest, readFamily } from './generic.js';
import { MessageWriter, readMessages } from './messages.js';
import { NAMING, targetOf } from './names.js';
import {
  bytesOf,
  checkFamilyName,
  checkGroups,
  checkNamed,
  checkStrictChecking,
  protocolNumber,
} from './rules.js';
import type {
  GenericFamily,
  Netlink,
  NetlinkEvent,
  NetlinkMessage,
  NetlinkOptions,
  NetlinkRequest,
} from './types.js';

export * from '../shared/everyClient.js';
export type { EventStream, Resync, WatchOptions } from '../shared/types.js';
export { Attribute, type AttributePlace, AttributeReader } from './attributeReader.js';
export { AttributeWriter, NLA_F_NESTED, NLA_F_NET_BYTEORDER } from './attributeWriter.js';
export * from './flags.js';
export {
  GENERIC_HEADER_SIZE,
  GENL_ID_CTRL,
  genericCommand,
  genericHeader,
  readFamily,
} from './generic.js';
export * from './headers.js';
export * from './types.js';

/**
 * Opens netlink. Rejects with NetlinkError `EPROTONOSUPPORT` for a protocol that the kernel does not have, `ENOENT` when
 * `options.netns` is missing, `EINVAL` when it is not a network namespace, and `EPERM` without CAP_SYS_ADMIN, which it needs.
 */
export async function openNetlink(options: NetlinkOptions): Promise<Netlink> {
  const attempt = { operation: 'netlink.open' };
  checkObject(attempt.operation, 'options', options);
  const { protocol, strictChecking = true, ...opening } = options;
  const number = protocolNumber(protocol, attempt.operation);
  checkStrictChecking(strictChecking, attempt.operation);
  const native = new (loadAddon().NetlinkClient)(number, strictChecking);
  return new NetlinkClient(await openCalls(native, opening, attempt), number);
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
    checkNamed(this.#protocol, name, operation);
    const attempt: Attempt = {
      operation,
      target: name,
      hint: (code) => (code === 'ENOENT' ? 'the kernel has no such family: load its module' : undefined),
    };
    const [reply] = await this.#read(attempt, familyRequest(name), 0, options);
    if (reply) return readFamily(reply, operation);
    throw new NetlinkError({ code: 'ERR_MALFORMED_REPLY', operation, target: name });
  }

  async send(messages: readonly NetlinkRequest[], options?: CallOptions): Promise<OperationResult[]> {
    checkBatch(messages, NAMING);
    return sendAll(this.calls, messages, NAMING, new MessageWriter(0, this.#protocol), options);
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
    checkGroups(groups, operation);
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

function* readEvents(records: Uint8Array): Generator<NetlinkEvent> {
  for (const message of readMessages(records)) yield { kind: 'message', message };
}
