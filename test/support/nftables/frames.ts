// Random Ethernet frames with packets of both families, over few values, so that the conditions of random rules tell them apart.

/** Addresses of the packets; the first of each family is one of the host. */
export const ADDRESSES = {
  4: ['10.0.0.1', '10.0.0.2', '10.0.1.7', '192.0.2.5'],
  6: ['fd00::1', 'fd00::2', 'fd00:0:0:1::7', '2001:db8::5'],
} as const;
/** Networks that have some of them. */
export const NETWORKS = {
  4: ['10.0.0.0/8', '10.0.0.0/24', '10.0.1.0/24', '192.0.2.0/25'],
  6: ['fd00::/16', 'fd00::/64', 'fd00:0:0:1::/64', '2001:db8::/33'],
} as const;
/** Ports. */
export const PORTS = [22, 53, 80, 443, 1024, 1500, 2048, 5353, 8080] as const;
/** TTLs and hop limits. */
export const TTLS = [1, 5, 64, 255] as const;
/** Marks that rules set. */
export const MARKS = [0, 1, 2, 0x10, 0x21] as const;

const TCP = 6;
const UDP = 17;
const SCTP = 132;
const ECHO = { 4: [8, 0, 3], 6: [128, 129, 1] } as const;
/** Ways of a TCP connection: SYN, SYN and ACK, ACK, FIN and ACK, RST, PSH and ACK. */
const TCP_FLAGS = [2, 0x12, 0x10, 0x11, 4, 0x18] as const;
/** Options of a SYN: none, the greatest segment (500 or 1400), SACK. */
const TCP_OPTIONS = ['', '020401f4', '02040578', '04020101'] as const;

/** Draws one of a list. */
type One = <T>(list: readonly T[]) => T;

/** Frames as hexadecimal digits. */
export function randomFrames(count: number, random: () => number): string[] {
  const one: One = (list) => list[Math.floor(random() * list.length)] as never;
  return Array.from({ length: count }, () => frame(one, one([4, 6])).toString('hex'));
}

function frame(one: One, family: 4 | 6): Buffer {
  const [source, destination] = [one(ADDRESSES[family]), one([ADDRESSES[family][0], ...ADDRESSES[family]])];
  const protocol = one([TCP, TCP, UDP, UDP, family === 4 ? 1 : 58, SCTP]);
  const [from, to] = [bytesOf(source), bytesOf(destination)];
  const payload = Buffer.alloc(one([0, 4, 12, 32]), 0x61);
  const segment = SEGMENTS[protocol as keyof typeof SEGMENTS](one, payload, family);
  const pseudo = Buffer.concat([
    from,
    to,
    Buffer.from([0, protocol, segment.length >> 8, segment.length & 255]),
  ]);
  const place = { [TCP]: 16, [UDP]: 6, 1: 2, 58: 2 }[protocol];
  if (place !== undefined)
    segment.writeUInt16BE(checksum(protocol === 1 ? segment : Buffer.concat([pseudo, segment])), place);
  const packet =
    family === 4 ? ipv4(one, protocol, from, to, segment) : ipv6(one, protocol, from, to, segment);
  const macs = `${one(['020000000002', '020000000002', 'ffffffffffff'])}${one(['020000000001', '020000000009'])}`;
  return Buffer.concat([Buffer.from(`${macs}${family === 4 ? '0800' : '86dd'}`, 'hex'), packet]);
}

const SEGMENTS = {
  [TCP]: (one: One, payload: Buffer) => {
    const flags = one(TCP_FLAGS);
    const options = Buffer.from(flags & 2 ? one(TCP_OPTIONS) : '', 'hex');
    const header = Buffer.alloc(20);
    header.writeUInt16BE(one(PORTS), 0);
    header.writeUInt16BE(one(PORTS), 2);
    header.writeUInt32BE(one([1, 1000, 0xffff_0000]), 4);
    header[12] = ((20 + options.length) / 4) << 4;
    header[13] = flags;
    header.writeUInt16BE(one([100, 1000, 65_535]), 14);
    return Buffer.concat([header, options, flags & 2 ? Buffer.alloc(0) : payload]);
  },
  [UDP]: (one: One, payload: Buffer) => {
    const header = Buffer.alloc(8);
    header.writeUInt16BE(one(PORTS), 0);
    header.writeUInt16BE(one(PORTS), 2);
    header.writeUInt16BE(8 + payload.length, 4);
    return Buffer.concat([header, payload]);
  },
  [SCTP]: (one: One) => {
    // The chunk INIT. Its checksum is wrong, which no rule here sees.
    const header = Buffer.from('00000000000000000000000001000014000000050000ffff0001000100000001', 'hex');
    header.writeUInt16BE(one(PORTS), 0);
    header.writeUInt16BE(one(PORTS), 2);
    header.writeUInt32BE(one([5, 77]), 4);
    return header;
  },
  1: (one: One, payload: Buffer, family: 4 | 6) => echo(one, payload, family),
  58: (one: One, payload: Buffer, family: 4 | 6) => echo(one, payload, family),
};

function echo(one: One, payload: Buffer, family: 4 | 6): Buffer {
  const type = one(ECHO[family]);
  const header = Buffer.alloc(8);
  header[0] = type;
  header[1] = type === ECHO[family][2] ? one([0, 3, 4]) : 0;
  header.writeUInt16BE(one([1, 77, 0xff00]), 4);
  header.writeUInt16BE(one([1, 77, 0xff00]), 6);
  return Buffer.concat([header, payload]);
}

function ipv4(one: One, protocol: number, from: Buffer, to: Buffer, segment: Buffer): Buffer {
  const header = Buffer.alloc(20);
  header[0] = 0x45;
  header[1] = one([0, 0x20, 0x28]);
  header.writeUInt16BE(20 + segment.length, 2);
  header.writeUInt16BE(one([1, 77, 0xff00]), 4);
  header[8] = one(TTLS);
  header[9] = protocol;
  from.copy(header, 12);
  to.copy(header, 16);
  header.writeUInt16BE(checksum(header), 10);
  return Buffer.concat([header, segment]);
}

function ipv6(one: One, protocol: number, from: Buffer, to: Buffer, segment: Buffer): Buffer {
  const hopByHop = Buffer.from(
    one(['', '', '', `${protocol.toString(16).padStart(2, '0')}00010400000000`]),
    'hex',
  );
  const header = Buffer.alloc(8);
  header.writeUInt32BE(0x6000_0000 + (one([0, 0x20, 0x28]) << 20), 0);
  header.writeUInt16BE(hopByHop.length + segment.length, 4);
  header[6] = hopByHop.length > 0 ? 0 : protocol;
  header[7] = one(TTLS);
  return Buffer.concat([header, from, to, hopByHop, segment]);
}

/** The bytes of an address of {@link ADDRESSES}. */
function bytesOf(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::').map((part) =>
    part
      .split(':')
      .map((group) => group.padStart(4, '0'))
      .join(''),
  );
  return Buffer.from(head + tail.padStart(32 - head.length, '0'), 'hex');
}

/** The checksum of the Internet. */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let i = 0; i < bytes.length; i += 2) sum += (bytes[i] as number) * 256 + (bytes[i + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
