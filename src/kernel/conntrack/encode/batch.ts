// A batch of operations on flows: written as messages, and sent with the look-ups that some of them need.
import { constants } from 'node:os';
import { NetlinkError } from '../../errors.js';
import type { NativeFailure, NativeNetlinkClient, NativeStatus } from '../../shared/addon.js';
import type { InvalidValue } from '../../shared/arguments.js';
import type { OperationWriter } from '../../shared/batch.js';
import { isNativeError, reportedBy } from '../../shared/calls.js';
import { Checker } from '../../shared/checker.js';
import { firstFlow } from '../decode/flows.js';
import type { FlowOperation } from '../types.js';
import { MessageWriter } from './message.js';
import { type LookUp, putOperation } from './operations.js';
import { getRequest } from './requests.js';

const { ENOENT } = constants.errno;

/** An update of which something must be known before it is sent. */
interface Waiting extends LookUp {
  /** Its place among the operations. */
  readonly index: number;
  /** Place of its message, and the place behind it. */
  readonly start: number;
  readonly end: number;
}

/** Writes operations as messages. */
export class FlowWriter implements OperationWriter<FlowOperation> {
  #writer = new MessageWriter();
  readonly #check = new Checker();
  #count = 0;
  #waiting: Waiting[] = [];
  #deletions = new Set<number>();

  begin(): void {
    this.#writer = new MessageWriter();
    this.#count = 0;
    this.#waiting = [];
    this.#deletions = new Set();
  }

  write(operation: FlowOperation): InvalidValue | undefined {
    const writer = this.#writer;
    const start = writer.length;
    this.#check.invalid = undefined;
    const lookUp = putOperation(operation, writer, this.#check);
    const { invalid } = this.#check;
    if (invalid) {
      writer.truncate(start);
      return invalid;
    }
    if (lookUp) this.#waiting.push({ ...lookUp, index: this.#count, start, end: writer.length });
    if (operation.do === 'deleteFlow') this.#deletions.add(this.#count);
    this.#count++;
    return undefined;
  }

  get size(): number {
    return this.#writer.length;
  }

  /** The messages so far. */
  bytes(): Buffer {
    return this.#writer.written();
  }

  /** Sends the operations. A deletion of a flow that is gone is done. */
  async send(client: NativeNetlinkClient): Promise<NativeFailure[]> {
    const deletions = this.#deletions;
    const messages = this.#writer.written();
    const failures =
      this.#waiting.length === 0
        ? await client.apply(messages)
        : await new Sending(client, messages, this.#count).send(this.#waiting);
    return failures.filter(({ index, errno }) => errno !== ENOENT || !deletions.has(index));
  }
}

/** The messages of a batch, in parts: an update is looked up when the operations before it, which may be about its flow, were sent. */
class Sending {
  readonly #client: NativeNetlinkClient;
  readonly #messages: Buffer;
  readonly #count: number;
  readonly #failures: NativeFailure[] = [];
  /** The first operation that is not sent yet, and the place of its message. */
  #index = 0;
  #at = 0;
  /** The failure of all operations that are still to be sent. */
  #rest: NativeStatus | undefined;

  constructor(client: NativeNetlinkClient, messages: Buffer, count: number) {
    this.#client = client;
    this.#messages = messages;
    this.#count = count;
  }

  async send(waiting: readonly Waiting[]): Promise<NativeFailure[]> {
    for (const update of waiting) {
      await this.#sendUntil(update.index, update.start);
      const failure = this.#rest ?? (await this.#lookUp(update));
      if (!failure) continue;
      this.#failures.push({ ...failure, index: update.index });
      this.#index = update.index + 1;
      this.#at = update.end;
    }
    await this.#sendUntil(this.#count, this.#messages.length);
    return this.#failures;
  }

  /** Sends the messages before a place. */
  async #sendUntil(index: number, at: number): Promise<void> {
    const messages = this.#messages.subarray(this.#at, at);
    const from = this.#index;
    this.#index = index;
    this.#at = at;
    const rest = this.#rest;
    if (rest) for (let i = from; i < index; i++) this.#failures.push({ ...rest, index: i });
    else if (messages.length > 0) {
      for (const failure of await this.#client.apply(messages)) {
        this.#failures.push({ ...failure, index: from + failure.index });
        this.#rest ??= failure.rest;
      }
    }
  }

  /** Adds the bits of the status that the flow has. Returns the failure of the update if there is no such flow. */
  async #lookUp({ name, statusAt }: Waiting): Promise<NativeStatus | undefined> {
    try {
      const found = firstFlow(await this.#client.query(getRequest(name, false)), 'conntrack.updateFlow');
      if (!found || (name.id !== 0 && found.id !== name.id)) return { errno: ENOENT, code: '', message: '' };
      if (statusAt < 0) return undefined;
      const status = this.#messages.readUInt32BE(statusAt);
      this.#messages.writeUInt32BE((status | found.status) >>> 0, statusAt);
      return undefined;
    } catch (error) {
      if (isNativeError(error)) return reportedBy(error);
      if (!(error instanceof NetlinkError)) throw error;
      return { errno: 0, code: error.code, message: error.kernelMessage ?? '' };
    }
  }
}
