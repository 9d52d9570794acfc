// The user data of objects, which nft reads and the kernel keeps: a type byte, a length byte and a value, one after another
// (include/libnftnl/udata.h of libnftnl 1.2.4).

/** Types in the user data of sets (`NFTNL_UDATA_SET_`). */
export const SET_UDATA = {
  keyByteOrder: 0,
  dataByteOrder: 1,
  mergeElements: 2,
  keyTypeof: 3,
  dataTypeof: 4,
  expression: 5,
  dataInterval: 6,
  comment: 7,
} as const;

/** The type of the comment of tables, chains, rules, elements and objects (`NFTNL_UDATA_TABLE_COMMENT` and its like). */
export const COMMENT = 0;

/** Most bytes of a comment that nft writes and reads: `NFTNL_UDATA_COMMENT_MAXLEN`. */
export const LONGEST_COMMENT = 128;
/** Most bytes of the comment of an element: it has type, length and a zero, and the kernel keeps 255 bytes beside the key. */
export const LONGEST_ELEMENT_COMMENT = 252;

/** `NFT_USERDATA_MAXLEN`: most bytes of user data. */
export const LONGEST_USER_DATA = 256;

/** One value of user data. */
export interface UserDatum {
  readonly type: number;
  readonly value: Uint8Array;
}

/** The bytes of user data. Each value has at most 255 bytes. */
export function writeUserData(data: readonly UserDatum[]): Uint8Array {
  const bytes = new Uint8Array(data.reduce((length, { value }) => length + 2 + value.length, 0));
  let at = 0;
  for (const { type, value } of data) {
    bytes[at] = type;
    bytes[at + 1] = value.length;
    bytes.set(value, at + 2);
    at += 2 + value.length;
  }
  return bytes;
}

/** The values of user data; undefined if the bytes are not such. Their values share the memory of `bytes`. */
export function readUserData(bytes: Uint8Array): UserDatum[] | undefined {
  const data: UserDatum[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [type, length] = [bytes[at], bytes[at + 1]];
    if (type === undefined || length === undefined || at + 2 + length > bytes.length) return undefined;
    data.push({ type, value: bytes.subarray(at + 2, at + 2 + length) });
    at += 2 + length;
  }
  return data;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A text with a zero at its end. */
export function textDatum(type: number, text: string): UserDatum {
  return { type, value: encoder.encode(`${text}\0`) };
}

/** The text of such a value; undefined if it is not one. */
export function textOfDatum({ value }: UserDatum): string | undefined {
  const end = value.length - 1;
  if (end < 0 || value.indexOf(0) !== end) return undefined;
  try {
    return decoder.decode(value.subarray(0, end));
  } catch {
    return undefined;
  }
}

/** A number of 32 bits in the machine's byte order. */
export function numberDatum(type: number, number: number): UserDatum {
  return { type, value: new Uint8Array(Uint32Array.of(number).buffer) };
}

/** The number of such a value; undefined if it is not one. */
export function numberOfDatum({ value }: UserDatum): number | undefined {
  return value.length === 4 ? new Uint32Array(Uint8Array.from(value).buffer)[0] : undefined;
}

/** What is in user data: a comment, and what has no field here. */
interface Described {
  readonly comment?: string;
  readonly userData?: Uint8Array;
}

/** The comment in user data, and the rest of them, without those of the type `told`, which other fields tell. */
export function commentIn(bytes: Uint8Array, told?: number): Described {
  let comment: string | undefined;
  const rest: UserDatum[] = [];
  const data = readUserData(bytes);
  if (!data) return { userData: new Uint8Array(bytes) };
  for (const datum of data) {
    const text = datum.type === COMMENT && comment === undefined ? textOfDatum(datum) : undefined;
    if (text !== undefined) comment = text;
    else if (datum.type !== told) rest.push(datum);
  }
  return {
    ...(comment !== undefined && { comment }),
    ...(rest.length > 0 && { userData: writeUserData(rest) }),
  };
}
