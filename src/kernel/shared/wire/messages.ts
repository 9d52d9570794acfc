// The form of netlink messages: include/uapi/linux/netlink.h.
import { endianness } from 'node:os';
import { NetlinkError } from '../../errors.js';

/** Whether numbers in messages are little-endian: they are in the order of the machine. */
export const HOST_IS_LITTLE = endianness() === 'LE';

/** Bytes of struct nlmsghdr. */
export const MESSAGE_HEADER = 16;
/** Bytes of struct nlattr. */
export const ATTRIBUTE_HEADER = 4;
/** The largest `nla_len`, which has 16 bits. */
export const LONGEST_ATTRIBUTE = 0xffff;

/** The length with the padding to 4 bytes (`NLMSG_ALIGN`, `NLA_ALIGN`). */
export function aligned(length: number): number {
  return (length + 3) & ~3;
}

/** A message among others. */
export interface MessagePlace {
  /** `nlmsg_type`. */
  readonly type: number;
  /** `nlmsg_flags`. */
  readonly flags: number;
  /** `nlmsg_pid`: of a reply, the port of the socket; of a notification, that of the request that caused it, 0 for the kernel. */
  readonly port: number;
  /** Offset of the payload, in bytes. */
  readonly start: number;
  /** Offset behind the payload, in bytes. */
  readonly end: number;
}

/** The messages in `view`, one after another: `next()`, then the fields. `operation` names it in the error `ERR_MALFORMED_REPLY`. */
export class MessageCursor implements MessagePlace {
  type = 0;
  flags = 0;
  port = 0;
  start = 0;
  end = 0;
  readonly #view: DataView;
  readonly #operation: string;

  constructor(view: DataView, operation: string) {
    this.#view = view;
    this.#operation = operation;
  }

  /** Moves to the next message; false behind the last one. */
  next(): boolean {
    const view = this.#view;
    const at = aligned(this.end);
    const left = view.byteLength - at;
    if (left <= 0) return false;
    const length = left < MESSAGE_HEADER ? left : view.getUint32(at, HOST_IS_LITTLE);
    if (length < MESSAGE_HEADER || length > left) {
      const kernelMessage = `a message of ${length} bytes, where ${left} are left`;
      throw new NetlinkError({ code: 'ERR_MALFORMED_REPLY', operation: this.#operation, kernelMessage });
    }
    this.type = view.getUint16(at + 4, HOST_IS_LITTLE);
    this.flags = view.getUint16(at + 6, HOST_IS_LITTLE);
    this.port = view.getUint32(at + 12, HOST_IS_LITTLE);
    this.start = at + MESSAGE_HEADER;
    this.end = at + length;
    return true;
  }
}

/** The messages in `view`, see {@link MessageCursor}. */
export function* messagesIn(view: DataView, operation: string): Generator<MessagePlace, void> {
  for (const message = new MessageCursor(view, operation); message.next(); ) {
    const { type, flags, port, start, end } = message;
    yield { type, flags, port, start, end };
  }
}

/** The port of the socket that got these replies, of which there is one at least. */
export function portOf(replies: Uint8Array, operation: string): number {
  const view = new DataView(replies.buffer, replies.byteOffset, replies.length);
  const message = new MessageCursor(view, operation);
  if (message.next()) return message.port;
  throw new NetlinkError({
    code: 'ERR_MALFORMED_REPLY',
    operation,
    kernelMessage: 'the kernel sent no reply',
  });
}
