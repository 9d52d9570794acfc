// The table of nf_tables that ipvs mode has in each family with rules of nf_tables, and its sets. A set has the entries of the ipset of its name:
// the items are the same, whatever the rules are written with.
import type { SetEntry, SetType } from '../../../../kernel/ipset/types.js';
import type { Family } from '../../../../kernel/net/address.js';
import { formatAddress, parseAddressAsIs } from '../../../../kernel/net/address.js';
import { parseNetwork } from '../../../../kernel/net/network.js';
import type { Protocol } from '../../../../kernel/net/protocol.js';
import type {
  Element,
  NewElement,
  NewSet,
  SetName,
  SetShape,
  Value,
  ValueType,
} from '../../../../kernel/nftables/types.js';
import { ADDRESS_TYPE, TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import { type Entry, type Item, type NodeDrop, type Shortcut, TABLE } from './items.js';
import { commentOf, SET_ROLES, type SetRole, setNamed, setOf } from './sets.js';

/** The comment of the tables. */
export const TABLE_COMMENT = 'rules for kube-proxy in ipvs mode';

/** The set of the traffic of nodeDrops: source, destination, protocol and port. */
export const NODE_DROPS = 'KUBE-NODE-DROP';
/** The set of shortcuts: address, protocol and port. */
export const SHORTCUTS = 'KUBE-SHORTCUT';
/** The map of shortcuts to cluster IPs and their ports. nft has no notation for a look-up in a map without using what it finds. */
export const SHORTCUT_TARGETS = 'KUBE-SHORTCUT-CLUSTER-IP';

/** An item that is an element of a set of the table. */
export type ElementItem = Entry | NodeDrop | Shortcut;

/** Whether an item is an element of a set of the table. */
export function isElement(item: Item): item is ElementItem {
  return item.kind === 'entry' || item.kind === 'nodeDrop' || item.kind === 'shortcut';
}

type KeyPart = 'address' | 'inet_proto' | 'inet_service';

const DIALLED: readonly KeyPart[] = ['address', 'inet_proto', 'inet_service'];

/** The keys of the ipset types of the mode. */
const KEYS = {
  'hash:ip,port': DIALLED,
  'hash:ip,port,ip': [...DIALLED, 'address'],
  'hash:ip,port,net': [...DIALLED, 'address'],
  'bitmap:port': ['inet_service'],
  'hash:ip': ['address'],
} as const satisfies { readonly [type in SetType]?: readonly KeyPart[] };

function shapeOf(family: Family, parts: readonly KeyPart[], rest: Omit<SetShape, 'key'> = {}): SetShape {
  const [first, ...others] = parts.map(
    (part): ValueType => (part === 'address' ? ADDRESS_TYPE[family] : part),
  );
  const key = others.length === 0 ? (first as ValueType) : ([first, ...others] as unknown as SetShape['key']);
  return { key, ...rest };
}

function setOfRole(family: Family, role: SetRole): NewSet {
  const { name, type } = setOf(role, family);
  const rest = type === 'hash:ip,port,net' ? { flags: ['interval'] as const } : {};
  return {
    ...nameIn(family, name),
    ...shapeOf(family, KEYS[type as keyof typeof KEYS], rest),
    comment: commentOf(role),
  };
}

function setsOf(family: Family): ReadonlyMap<string, NewSet> {
  const sets: NewSet[] = [
    ...SET_ROLES.map((role) => setOfRole(family, role)),
    {
      ...nameIn(family, NODE_DROPS),
      ...shapeOf(family, ['address', ...DIALLED]),
      comment: 'traffic of the node itself that the source ranges exclude',
    },
    {
      ...nameIn(family, SHORTCUTS),
      ...shapeOf(family, DIALLED),
      comment: 'addresses at which clients in the cluster use the cluster IP',
    },
    {
      ...nameIn(family, SHORTCUT_TARGETS),
      ...shapeOf(family, DIALLED, { data: [ADDRESS_TYPE[family], 'inet_service'] }),
      comment: 'the cluster IPs of these addresses',
    },
  ];
  return new Map(sets.map((set) => [set.name, set]));
}

/** The sets of the table of each family, by name. */
export const TABLE_SETS: Readonly<Record<Family, ReadonlyMap<string, NewSet>>> = {
  4: setsOf(4),
  6: setsOf(6),
};

/** The name of a chain or a set of a family's table, as operations name it. */
export function nameIn(family: Family, name: string) {
  return { family: TABLE_FAMILY[family], table: TABLE, name } as const;
}

/** The sets as operations on elements name them. They are frozen: the client then checks each only once. */
const TARGETS: Readonly<Record<Family, ReadonlyMap<string, SetName>>> = {
  4: new Map([...TABLE_SETS[4]].map(([name, set]) => [name, targetOf(set)])),
  6: new Map([...TABLE_SETS[6]].map(([name, set]) => [name, targetOf(set)])),
};

function targetOf({ comment: _, ...set }: NewSet): SetName {
  for (const value of Object.values(set)) if (Array.isArray(value)) Object.freeze(value);
  return Object.freeze(set);
}

/** An element of a set. */
export interface TableElement {
  readonly set: SetName;
  readonly element: NewElement;
}

/** The elements of an item: one, or two of a shortcut. */
export function elementsOf(item: ElementItem): TableElement[] {
  const family = familyOfElement(item);
  const set = (name: string) => TARGETS[family].get(name) as SetName;
  switch (item.kind) {
    case 'entry':
      return [{ set: set(item.set.name), element: elementOfEntry(item) }];
    case 'nodeDrop': {
      const { address, protocol, port } = item;
      return [{ set: set(NODE_DROPS), element: { key: [address, address, protocol, port] } }];
    }
    case 'shortcut': {
      const { address, protocol, port, clusterIP, clusterPort } = item;
      const key = [address, protocol, port];
      return [
        { set: set(SHORTCUTS), element: { key } },
        { set: set(SHORTCUT_TARGETS), element: { key, data: [clusterIP, clusterPort] } },
      ];
    }
  }
}

/** The family of the table that has an item. */
export function familyOfElement(item: ElementItem): Family {
  return item.kind === 'entry' ? (setNamed(item.set.name)?.family ?? 4) : item.family;
}

function elementOfEntry({ set: { type }, entry }: Entry): NewElement {
  const { address = '', protocol = '', port = 0, address2 = '', prefix2 } = entry;
  if (type === 'bitmap:port') return { key: port };
  if (type === 'hash:ip') return { key: address };
  const dialled: readonly Value[] = [address, protocol, port];
  if (type === 'hash:ip,port') return { key: dialled };
  const key = [...dialled, address2];
  if (type !== 'hash:ip,port,net') return { key };
  return { key, keyEnd: [...dialled, prefix2 === undefined ? address2 : lastOf(address2, prefix2)] };
}

/** The last address of a network. */
function lastOf(address: string, prefix: number): string {
  const bytes = parseNetwork(`${address}/${prefix}`)?.bytes.slice() ?? new Uint8Array();
  for (let i = 0; i < bytes.length; i++) {
    const kept = Math.min(8, Math.max(0, prefix - 8 * i));
    bytes[i] = (bytes[i] as number) | (0xff >> kept);
  }
  return formatAddress(bytes);
}

/** The length of the network from one address to another; undefined if that is no network. */
function prefixOf(first: string, last: string): number | undefined {
  const [low, high] = [parseAddressAsIs(first), parseAddressAsIs(last)];
  if (!low || low.length !== high?.length) return undefined;
  const different = low.findIndex((byte, i) => byte !== high[i]);
  if (different < 0) return 8 * low.length;
  const bits = Math.clz32((low[different] as number) ^ (high[different] as number)) - 24;
  // Behind the common bits, the first address has zeros only, and the last one ones only.
  const isNetwork = low.every((byte, i) => {
    const host = i < different ? 0 : i > different ? 0xff : 0xff >> bits;
    return (byte & host) === 0 && ((high[i] as number) & host) === host;
  });
  return isNetwork ? 8 * different + bits : undefined;
}

/** The item of an element as the kernel lists it; undefined if ours have no such element, or if it is one of {@link SHORTCUTS}. */
export function itemOfElement(family: Family, name: string, element: Element): ElementItem | undefined {
  const { timeout, expressions, attributes, comment, data } = element;
  if (timeout !== undefined || comment !== undefined || expressions?.length || attributes?.length)
    return undefined;
  const key = (Array.isArray(element.key) ? element.key : [element.key]) as readonly Value[];
  if (name === NODE_DROPS) return nodeDropOf(family, key);
  if (name === SHORTCUT_TARGETS) return shortcutOf(family, key, data);
  const set = setNamed(name)?.set;
  const entry = set && entryOf(set.type, key, element.keyEnd);
  return set && entry && { kind: 'entry', set, entry };
}

function entryOf(type: SetType, key: readonly Value[], keyEnd: Element['keyEnd']): SetEntry | undefined {
  const [address, protocol, port, address2] = key;
  if (type === 'bitmap:port') return { port: Number(address) };
  if (typeof address !== 'string') return undefined;
  if (type === 'hash:ip') return { address };
  if (!isProtocol(protocol)) return undefined;
  const dialled = { address, protocol, port: Number(port) };
  if (type === 'hash:ip,port') return dialled;
  if (typeof address2 !== 'string') return undefined;
  if (type === 'hash:ip,port,ip') return { ...dialled, address2 };
  const last = Array.isArray(keyEnd) ? keyEnd[3] : address2;
  const prefix2 = typeof last === 'string' ? prefixOf(address2, last) : undefined;
  if (prefix2 === undefined) return undefined;
  const isHost = last === address2;
  return { ...dialled, address2, ...(!isHost && { prefix2 }) };
}

function nodeDropOf(
  family: Family,
  [source, address, protocol, port]: readonly Value[],
): NodeDrop | undefined {
  if (source !== address || typeof address !== 'string' || !isProtocol(protocol)) return undefined;
  return { kind: 'nodeDrop', family, address, protocol, port: Number(port) };
}

function shortcutOf(
  family: Family,
  [address, protocol, port]: readonly Value[],
  data: Element['data'],
): Shortcut | undefined {
  const [clusterIP, clusterPort] = Array.isArray(data) ? (data as readonly Value[]) : [];
  if (typeof address !== 'string' || typeof clusterIP !== 'string' || !isProtocol(protocol)) return undefined;
  const dialled = { address, protocol, port: Number(port) };
  return { kind: 'shortcut', family, ...dialled, clusterIP, clusterPort: Number(clusterPort) };
}

function isProtocol(value: Value | undefined): value is Protocol {
  return value === 'tcp' || value === 'udp' || value === 'sctp';
}
