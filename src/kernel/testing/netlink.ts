// Netlink with answers that a test writes: it does not know the families whose messages it is sent.
import { constants } from 'node:os';
import { NLM_F_DUMP } from '../netlink/flags.js';
import { MessageWriter } from '../netlink/messages.js';
import { NAMING, targetOf } from '../netlink/names.js';
import { bytesOf, checkFamilyName, checkGroups, checkNamed, protocolNumber } from '../netlink/rules.js';
import type {
  GenericFamily,
  Netlink,
  NetlinkEvent,
  NetlinkMessage,
  NetlinkProtocol,
  NetlinkRequest,
} from '../netlink/types.js';
import type { Attempt } from '../shared/failures.js';
import type { CallOptions, EventStream, Listing, OperationResult, WatchOptions } from '../shared/types.js';
import { FakeClient, refusalError } from './client.js';
import { FakeEvents } from './events.js';

const { ENOENT, EOPNOTSUPP } = constants.errno;

/** The replies to a request, or the positive number of the kernel's error. A change that succeeds has no replies. */
export type NetlinkAnswer = (request: NetlinkMessage) => readonly NetlinkMessage[] | number;

/**
 * A fake of netlink. It keeps the rules of messages, and their order; it answers each with `answer`. Notifications are those that
 * a test sends through `events`, whatever the groups.
 */
export class FakeNetlink extends FakeClient<NetlinkRequest> implements Netlink {
  /** The families that resolveFamily() finds. */
  readonly families = new Map<string, GenericFamily>();
  /** Every message that reached the fake, in its order, with all of its flags but those that are always added. */
  readonly sent: NetlinkMessage[] = [];
  /** Notifications, for all watches. */
  readonly events = new FakeEvents<NetlinkEvent>();
  /** Answers requests. By default, the fake knows none of them: EOPNOTSUPP. */
  answer: NetlinkAnswer = () => EOPNOTSUPP;
  readonly #protocol: number;

  /** @param protocol as in `openNetlink()` */
  constructor(protocol: NetlinkProtocol = 'generic') {
    super();
    this.#protocol = protocolNumber(protocol, 'netlink.open');
  }

  async resolveFamily(name: string, options?: CallOptions): Promise<GenericFamily> {
    const attempt = { operation: 'netlink.resolveFamily', target: name };
    checkFamilyName(name, attempt.operation);
    checkNamed(this.#protocol, name, attempt.operation);
    const find = () => {
      const family = this.families.get(name);
      if (!family) throw refusalError(ENOENT, attempt);
      return family;
    };
    return this.read(attempt, find, options);
  }

  send(messages: readonly NetlinkRequest[], options?: CallOptions): Promise<OperationResult[]> {
    return this.sendAll(messages, NAMING, new MessageWriter(0, this.#protocol), options);
  }

  async query(request: NetlinkRequest, options?: CallOptions): Promise<NetlinkMessage[]> {
    const attempt = { operation: 'netlink.query', target: targetOf(request) };
    bytesOf(request, 0, attempt.operation); // checks it
    return this.read(attempt, () => [...this.#answer(request, 0, attempt)], options);
  }

  dump(request: NetlinkRequest, options?: CallOptions): Listing<NetlinkMessage> {
    const attempt = { operation: 'netlink.dump', target: targetOf(request) };
    bytesOf(request, NLM_F_DUMP, attempt.operation); // checks it
    return this.listing(attempt, () => this.#answer(request, NLM_F_DUMP, attempt), options);
  }

  watch(groups: readonly number[], options: WatchOptions = {}): EventStream<NetlinkEvent> {
    checkGroups(groups, 'netlink.watch');
    return this.events.stream('netlink.watch', options, this.closed);
  }

  protected act(message: NetlinkRequest): number | undefined {
    const answer = this.#receive(message, 0);
    return typeof answer === 'number' ? answer : undefined;
  }

  #answer(request: NetlinkRequest, flags: number, attempt: Attempt): readonly NetlinkMessage[] {
    const answer = this.#receive(request, flags);
    if (typeof answer === 'number') throw refusalError(answer, attempt);
    return answer;
  }

  #receive(request: NetlinkRequest, added: number): readonly NetlinkMessage[] | number {
    const { type, flags = 0, payload = new Uint8Array() } = request;
    const received = { type, flags: flags | added, payload: new Uint8Array(payload) };
    this.sent.push(received);
    return this.answer(received);
  }
}
