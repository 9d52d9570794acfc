// Who listens on an abstract Unix socket: any process of the network namespace may bind a name.
import { NetlinkError } from '../../kernel/errors.js';
import { AttributeReader } from '../../kernel/netlink/attributeReader.js';
import { openNetlink } from '../../kernel/netlink/index.js';

/** `NETLINK_SOCK_DIAG` */
const PROTOCOL = 4;
/** `SOCK_DIAG_BY_FAMILY` */
const BY_FAMILY = 20;
const AF_UNIX = 1;
/** The state `TCP_LISTEN`, as a bit. */
const LISTENING = 1 << 10;
/** `UDIAG_SHOW_NAME` and `UDIAG_SHOW_UID` (Linux 5.3). */
const SHOWN = 0x01 | 0x40;
/** `UNIX_DIAG_NAME` and `UNIX_DIAG_UID` */
const ATTRIBUTES = { name: 0, uid: 7 } as const;
/** `struct unix_diag_req` and `struct unix_diag_msg`, in bytes. */
const SIZES = { request: 24, reply: 16 } as const;

/**
 * The user whose process listens on the abstract socket of this name, which begins with a zero byte. Undefined if nobody does, or if the kernel
 * does not tell: it has no module unix_diag, or is older than 5.3.
 */
export async function ownerOf(name: string): Promise<number | undefined> {
  try {
    const netlink = await openNetlink({ protocol: PROTOCOL });
    try {
      const messages = await netlink.dump({ type: BY_FAMILY, payload: request() }).toArray();
      for (const { payload } of messages) {
        const socket = { name: '', uid: undefined as number | undefined };
        for (const attribute of new AttributeReader(payload, {
          offset: SIZES.reply,
          operation: 'unixDiag.list',
        })) {
          if (attribute.type === ATTRIBUTES.name) socket.name = Buffer.from(attribute.bytes()).toString();
          else if (attribute.type === ATTRIBUTES.uid) socket.uid = attribute.u32();
        }
        // Some versions of Node.js fill a name up with zeros.
        if (socket.name.replace(/\0+$/, '') === name) return socket.uid;
      }
      return undefined;
    } finally {
      await netlink.close();
    }
  } catch (error) {
    if (error instanceof NetlinkError) return undefined;
    throw error;
  }
}

function request(): Uint8Array {
  const bytes = new Uint8Array(SIZES.request);
  bytes[0] = AF_UNIX;
  const words = new Uint32Array(bytes.buffer);
  words[1] = LISTENING;
  words[3] = SHOWN;
  return bytes;
}
