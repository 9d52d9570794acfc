// Settings of tunnels of IP, as attributes. Numbers: include/uapi/linux/if_tunnel.h (IFLA_GRE_, IFLA_IPTUN_, TUNNEL_ENCAP_, GRE_),
// ip6_tunnel.h (IP6_TNL_F_).
import type { AttributeCursor } from '../../../shared/wire/attributeCursor.js';
import { checked, type Fields, field, integer, linkReference, nameOrNumber, toggle } from '../../fields.js';
import { bitsOf } from '../../flags.js';
import type { MessageWriter } from '../../message.js';
import { addressOf, flagSet } from './formats.js';
import type {
  GreHeader,
  GreSettings,
  Ip6GreSettings,
  Ip6TunnelSettings,
  IpipSettings,
  ListedTunnel,
  SitSettings,
  TunnelSettings,
} from './ipTunnelTypes.js';
import { kindOf } from './kind.js';

/** The kernel lists these of every tunnel. */
const WHOLE = ['remote', 'local', 'ttl'] as const satisfies readonly (keyof TunnelSettings)[];
/** The flags that the kernel derives from the addresses: IP6_TNL_F_CAP_XMIT, _RCV and _PER_PACKET. */
const DERIVED = 0x7_0000;

/** What is any address: some kinds refuse it of a new link, and list it. */
const ANY4 = { remote: '0.0.0.0', local: '0.0.0.0' } as const;
const ANY6 = { remote: '::', local: '::' } as const;

const encapsulation = nameOrNumber('u16', { none: 0, fou: 1, gue: 2 });
const encapsulationFlags = flagSet({ checksum: 1, checksum6: 2, remoteChecksum: 4 });
const port = integer('u16be');
const flowInfo = integer('u32be', 0, 0xfff_ffff);
const tunnel6Flags = flagSet(
  {
    ...{ ignoreEncapsulationLimit: 0x1, inheritTrafficClass: 0x2, inheritFlowLabel: 0x4, mobileIPv6: 0x8 },
    ...{ copyDscp: 0x10, inheritMark: 0x20, allowLocalRemote: 0x40 },
  },
  'u32',
  DERIVED,
);

/** IFLA_IPTUN_: what the kinds have in common. */
const IPTUN = {
  link: field(1, linkReference),
  ttl: field(4, integer('u8')),
  protocol: field(9, integer('u8')),
  encapsulation: field(15, encapsulation),
  encapsulationFlags: field(16, encapsulationFlags),
  encapsulationSourcePort: field(17, port),
  encapsulationDestinationPort: field(18, port),
  mark: field(20, integer('u32')),
};
const IPTUN_EXTERNAL = { external: 19 };
const IPTUN4 = {
  ...IPTUN,
  local: field(2, addressOf(4)),
  remote: field(3, addressOf(4)),
  tos: field(5, integer('u8')),
  pathMtuDiscovery: field(10, toggle('u8')),
};
const IPIP_SETTINGS: Fields<Omit<IpipSettings, 'external'>> = IPTUN4;
const SIT_SETTINGS: Fields<Omit<SitSettings, 'external'>> = {
  ...IPTUN4,
  flags: field(8, integer('u16')),
  rapidPrefix: field(11, addressOf(6)),
  rapidRelayPrefix: field(12, addressOf(4)),
  rapidPrefixLength: field(13, integer('u16', 0, 128)),
  rapidRelayPrefixLength: field(14, integer('u16', 0, 32)),
};
const IP6TNL_SETTINGS: Fields<Omit<Ip6TunnelSettings, 'external'>> = {
  ...IPTUN,
  local: field(2, addressOf(6)),
  remote: field(3, addressOf(6)),
  encapsulationLimit: field(6, integer('u8')),
  flowInfo: field(7, flowInfo),
  flags: field(8, tunnel6Flags),
};

/** The kind `ipip`. */
export const IPIP = kindOf<IpipSettings, ListedTunnel<IpipSettings>>('an ipip tunnel', IPIP_SETTINGS, {
  flags: IPTUN_EXTERNAL,
  defaults: ANY4,
  whole: WHOLE,
});
/** The kind `sit`. */
export const SIT = kindOf<SitSettings, ListedTunnel<SitSettings>>('a sit tunnel', SIT_SETTINGS, {
  flags: IPTUN_EXTERNAL,
  defaults: ANY4,
  whole: WHOLE,
});
/** The kind `ip6tnl`. */
export const IP6TNL = kindOf<Ip6TunnelSettings, ListedTunnel<Ip6TunnelSettings>>(
  'an ip6tnl tunnel',
  IP6TNL_SETTINGS,
  { flags: IPTUN_EXTERNAL, defaults: ANY6, whole: WHOLE },
);

/** IFLA_GRE_: what the kinds have in common. */
const GRE_COMMON = {
  link: field(1, linkReference),
  ttl: field(8, integer('u8')),
  encapsulation: field(14, encapsulation),
  encapsulationFlags: field(15, encapsulationFlags),
  encapsulationSourcePort: field(16, port),
  encapsulationDestinationPort: field(17, port),
  mark: field(20, integer('u32')),
};
const GRE_SETTINGS: Fields<Omit<GreSettings, 'external' | keyof GreHeader>> = {
  ...GRE_COMMON,
  local: field(6, addressOf(4)),
  remote: field(7, addressOf(4)),
  tos: field(9, integer('u8')),
  pathMtuDiscovery: field(10, toggle('u8')),
  ignoreDontFragment: field(19, toggle('u8')),
};
const IP6GRE_SETTINGS: Fields<Omit<Ip6GreSettings, 'external' | keyof GreHeader>> = {
  ...GRE_COMMON,
  local: field(6, addressOf(6)),
  remote: field(7, addressOf(6)),
  encapsulationLimit: field(11, integer('u8')),
  flowInfo: field(12, flowInfo),
  flags: field(13, tunnel6Flags),
};

/** GRE_KEY, GRE_SEQ and GRE_CSUM, in network order. */
const HAS_KEY = 0x2000;
const HAS_SEQUENCE = 0x1000;
const HAS_CHECKSUM = 0x8000;
/** The attributes of the flags and of the key, of packets that are received and of those that are sent. */
const DIRECTIONS = [
  { flags: 2, key: 4, names: ['inputKey', 'inputSequence', 'inputChecksum'] },
  { flags: 3, key: 5, names: ['outputKey', 'outputSequence', 'outputChecksum'] },
] as const;
const keyFormat = integer('u32be');

/** A key has a flag beside it, without which the kernel ignores it. */
const GRE_HEADER = {
  names: DIRECTIONS.flatMap(({ names }) => names),
  flags: { external: 18 },
  whole: WHOLE,
  write(writer: MessageWriter, path: string, header: GreHeader): void {
    for (const { flags, key, names } of DIRECTIONS) {
      const [keyName, sequence, checksum] = names;
      const { value, mask } = bitsOf<Record<string, boolean>>(writer, path, header as never, {
        [sequence]: { bit: HAS_SEQUENCE },
        [checksum]: { bit: HAS_CHECKSUM },
      });
      const given = header[keyName];
      const hasKey = given !== undefined && checked(writer, `${path}${keyName}`, given, keyFormat);
      if (mask || hasKey) writer.attribute(flags, () => writer.u16be(value | (hasKey ? HAS_KEY : 0)));
      if (hasKey) writer.attribute(key, () => keyFormat.write(writer, given));
    }
  },
  /** The kernel lists a key after its flag, also one that is not used. */
  read(attribute: AttributeCursor, header: Record<string, unknown>): boolean {
    for (const { flags, key, names } of DIRECTIONS) {
      const [keyName, sequence, checksum] = names;
      if (attribute.type === key) {
        if (header[keyName] !== undefined) header[keyName] = attribute.u32be();
        return true;
      }
      if (attribute.type !== flags) continue;
      const sum = attribute.u16be();
      if (sum & ~(HAS_KEY | HAS_SEQUENCE | HAS_CHECKSUM)) return false;
      Object.assign(header, {
        [sequence]: (sum & HAS_SEQUENCE) !== 0,
        [checksum]: (sum & HAS_CHECKSUM) !== 0,
      });
      if (sum & HAS_KEY) header[keyName] = 0;
      return true;
    }
    return false;
  },
};

/** The kinds `gre` and `gretap`. */
export const GRE = kindOf<GreSettings, ListedTunnel<GreSettings>>('a tunnel of GRE', GRE_SETTINGS, {
  ...GRE_HEADER,
  defaults: ANY4,
});
/** The kinds `ip6gre` and `ip6gretap`. */
export const IP6GRE = kindOf<Ip6GreSettings, ListedTunnel<Ip6GreSettings>>(
  'a tunnel of GRE over IPv6',
  IP6GRE_SETTINGS,
  { ...GRE_HEADER, defaults: ANY6 },
);
