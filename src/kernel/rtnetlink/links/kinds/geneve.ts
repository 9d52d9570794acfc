// Settings of tunnels of Geneve, as attributes. Numbers: include/uapi/linux/if_link.h (IFLA_GENEVE_).
import { type Fields, field, integer, nameOrNumber, toggle } from '../../fields.js';
import { portRange, readTtl, type TtlAttributes, writeTtl } from './formats.js';
import { kindOf } from './kind.js';
import type { GeneveSettings, ListedGeneve } from './tunnelTypes.js';

/** NLA_FLAG. */
const FLAGS = { external: 6, innerProtocolInherit: 14, groHint: 16 } as const;
const TTL: TtlAttributes = { ttl: 3, inherit: 12, writeInherit: (writer) => writer.u8(1) };

const SETTINGS: Fields<Omit<GeneveSettings, keyof typeof FLAGS | 'remote' | 'local' | 'ttl'>> = {
  id: field(1, integer('u32', 0, 0xff_ffff)),
  tos: field(4, integer('u8')),
  port: field(5, integer('u16be')),
  udpChecksum: field(8, toggle('u8')),
  udp6ZeroChecksumTx: field(9, toggle('u8')),
  udp6ZeroChecksumRx: field(10, toggle('u8')),
  flowLabel: field(11, integer('u32be', 0, 0xf_ffff)),
  dontFragment: field(13, nameOrNumber('u8', { unset: 0, set: 1, inherit: 2 })),
  sourcePorts: field(15, portRange),
};

/** The kind `geneve`. */
export const GENEVE = kindOf<GeneveSettings, ListedGeneve>('a tunnel of Geneve', SETTINGS, {
  names: ['ttl'],
  flags: FLAGS,
  addresses: { remote: [2, 7], local: [17, 18] },
  write: (writer, path, { ttl }) => writeTtl(writer, `${path}ttl`, ttl, TTL),
  read: (attribute, geneve) => readTtl(attribute, geneve, TTL),
});
