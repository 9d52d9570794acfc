// ipset in memory: keeps sets and entries, and refuses the same operations as the kernel.
import { constants } from 'node:os';
import { canonicalAddress } from '../../net/address.js';
import { PROTOCOL_NUMBERS, protocolOfNumber } from '../../net/protocol.js';
import { formatEntry } from '../ipset/entry.js';
import { attemptToRead } from '../ipset/names.js';
import { PACKING } from '../ipset/packing.js';
import { checkName } from '../ipset/records.js';
import type {
  Ipset,
  IpsetOperation,
  SetDefinition,
  SetEntry,
  SetHeader,
  SetReference,
  SetState,
} from '../ipset/types.js';
import type { OperationResult } from '../types.js';
import { FakeClient } from './client.js';

const { EBUSY, EEXIST, ENOENT } = constants.errno;
// Numbers of ipset's own: include/uapi/linux/netfilter/ipset/ip_set.h, ip_set_hash.h, ip_set_bitmap.h.
const EXIST_SETNAME2 = 4101;
const TYPE_MISMATCH = 4102;
const HASH_FULL = 4352;
const BITMAP_RANGE = 4352;
const SMALLEST_HASH = 64;

interface Held {
  readonly set: SetDefinition;
  readonly entries: Map<string, SetEntry>;
}

/** A fake of ipset. Lists sets and entries in the order in which they were added. */
export class FakeIpset extends FakeClient<IpsetOperation> implements Ipset {
  /** Rules and sets that refer to a set, by its name, for tests to set; such a set cannot be destroyed. None by default. */
  readonly references = new Map<string, number>();
  readonly #held = new Map<string, Held>();
  readonly #act = (operation: IpsetOperation) => this.#do(operation);

  async list(): Promise<SetHeader[]> {
    return this.read(attemptToRead('list'), () => [...this.#held.values()].map((held) => this.#header(held)));
  }

  async get(name: string): Promise<SetState | undefined> {
    checkName(name, 'ipset.get');
    return this.read(attemptToRead('get', name), () => {
      const held = this.#held.get(name);
      return held && { set: this.#header(held), entries: [...held.entries.values()] };
    });
  }

  create(set: SetDefinition): Promise<void> {
    return this.applyOne({ do: 'create', set }, PACKING, this.#act);
  }

  add(set: SetReference, entry: SetEntry): Promise<void> {
    return this.applyOne({ do: 'add', set, entry }, PACKING, this.#act);
  }

  delete(set: SetReference, entry: SetEntry): Promise<void> {
    return this.applyOne({ do: 'delete', set, entry }, PACKING, this.#act);
  }

  flush(name: string): Promise<void> {
    return this.applyOne({ do: 'flush', name }, PACKING, this.#act);
  }

  destroy(name: string): Promise<void> {
    return this.applyOne({ do: 'destroy', name }, PACKING, this.#act);
  }

  swap(name: string, other: string): Promise<void> {
    return this.applyOne({ do: 'swap', name, other }, PACKING, this.#act);
  }

  apply(operations: readonly IpsetOperation[]): Promise<OperationResult[]> {
    return this.applyAll(operations, PACKING, this.#act);
  }

  /** The output of `ipset save`, sorted. */
  dump(): string {
    const lines = [...this.#held.values()].flatMap(({ set, entries }) => {
      const options =
        set.type === 'bitmap:port'
          ? `range ${set.range?.join('-')}`
          : `family inet${set.family === 6 ? '6' : ''} hashsize ${set.hashSize} maxelem ${set.maxElements}`;
      return [
        `create ${set.name} ${set.type} ${options}`,
        ...[...entries.keys()].sort().map((entry) => `add ${set.name} ${entry}`),
      ];
    });
    return lines.map((line) => `${line}\n`).join('');
  }

  #header({ set, entries }: Held): SetHeader {
    const references = this.references.get(set.name) ?? 0;
    return { ...set, revision: 0, references, elements: entries.size, extended: false };
  }

  #do(operation: IpsetOperation): number | undefined {
    switch (operation.do) {
      case 'create':
        return this.#create(definitionOf(operation.set));
      case 'add':
      case 'delete':
        return this.#change(operation);
      case 'swap':
        return this.#swap(operation.name, operation.other);
      default: {
        const held = this.#held.get(operation.name);
        if (!held) return ENOENT;
        if (operation.do === 'flush') held.entries.clear();
        else if (this.references.get(operation.name)) return EBUSY;
        else this.#held.delete(operation.name);
        return undefined;
      }
    }
  }

  #create(set: SetDefinition): number | undefined {
    const held = this.#held.get(set.name)?.set;
    if (!held) {
      this.#held.set(set.name, { set, entries: new Map() });
      return undefined;
    }
    const same =
      isOfType(held, set) && held.maxElements === set.maxElements && `${held.range}` === `${set.range}`;
    return same ? undefined : EEXIST;
  }

  #change({ do: verb, set, entry }: Extract<IpsetOperation, { entry: unknown }>): number | undefined {
    const held = this.#held.get(set.name);
    if (!held) return ENOENT;
    if (!isOfType(held.set, set)) return TYPE_MISMATCH;
    const listed = asListed(entry, set);
    const key = formatEntry(listed);
    const { range = [0, 65535], maxElements } = held.set;
    const { port = 0 } = listed;
    if (set.type === 'bitmap:port' && (port < range[0] || port > range[1])) return BITMAP_RANGE;
    if (verb === 'delete') held.entries.delete(key);
    else if (held.entries.has(key)) return undefined;
    else if (maxElements !== undefined && held.entries.size >= maxElements) return HASH_FULL;
    else held.entries.set(key, listed);
    return undefined;
  }

  #swap(name: string, other: string): number | undefined {
    const a = this.#held.get(name);
    const b = this.#held.get(other);
    if (!a) return ENOENT;
    if (!b) return EXIST_SETNAME2;
    if (!isOfType(a.set, b.set)) return TYPE_MISMATCH;
    this.#held.set(name, { set: { ...b.set, name }, entries: b.entries });
    this.#held.set(other, { set: { ...a.set, name: other }, entries: a.entries });
    return undefined;
  }
}

function isOfType(a: SetReference, b: SetReference): boolean {
  return a.type === b.type && a.family === b.family;
}

/** A definition with the defaults that the library fills in; the kernel rounds the size of a hash up. */
function definitionOf({
  name,
  type,
  family,
  hashSize = 1024,
  maxElements,
  range,
}: SetDefinition): SetDefinition {
  if (type === 'bitmap:port') return { name, type, range: range ?? [0, 65535] };
  const rounded = Math.max(SMALLEST_HASH, 2 ** Math.ceil(Math.log2(hashSize)));
  return {
    ...{ name, type, hashSize: rounded, maxElements: maxElements ?? 65536 },
    ...(family !== undefined && { family }),
  };
}

/** A valid entry, as the kernel lists it. */
function asListed(entry: SetEntry, set: SetReference): SetEntry {
  const { address, prefix, protocol, port, icmp, address2, prefix2 } = entry;
  const full = set.family === 6 ? 128 : 32;
  const number = typeof protocol === 'string' ? PROTOCOL_NUMBERS[protocol] : protocol;
  return {
    ...(address !== undefined && { address: canonicalAddress(address) ?? address }),
    ...(prefix !== undefined && prefix !== full && { prefix }),
    ...(number !== undefined && { protocol: protocolOfNumber(number) ?? number }),
    ...(port !== undefined && { port }),
    ...(icmp !== undefined && { icmp: { ...icmp } }),
    ...(address2 !== undefined && { address2: canonicalAddress(address2) ?? address2 }),
    ...(prefix2 !== undefined && prefix2 !== full && { prefix2 }),
  };
}
