// ipset that lives in memory: keeps sets and entries, refuses what the kernel refuses.
import { formatEntry } from '../kernel/ipset/entry.js';
import type { IpsetOperation, SetDefinition, SetEntry, SetHeader, SetState } from '../kernel/ipset/types.js';
import type { OperationResult } from '../kernel/ipvs/types.js';
import { attempt, type Fault, type Faults } from './faults.js';

interface Held {
  readonly set: SetDefinition;
  entries: Map<string, SetEntry>;
}

/** A fake of ipset. */
export class FakeIpset implements Faults {
  fault: Fault = () => undefined;
  readonly #held = new Map<string, Held>();

  async list(): Promise<SetHeader[]> {
    return [...this.#held.values()].map(header);
  }

  async get(name: string): Promise<SetState | undefined> {
    const held = this.#held.get(name);
    return held && { set: header(held), entries: [...held.entries.values()] };
  }

  async apply(operations: readonly IpsetOperation[]): Promise<OperationResult[]> {
    return operations.map((operation) =>
      attempt(this, `ipset.${operation.do}`, targetOf(operation), () => this.#do(operation)),
    );
  }

  /** What `ipset save` prints, sorted. */
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

  #do(operation: IpsetOperation): string | undefined {
    switch (operation.do) {
      case 'create':
        return this.#create(operation.set);
      case 'add':
      case 'delete':
        return this.#change(operation);
      case 'flush':
      case 'destroy': {
        const held = this.#held.get(operation.name);
        if (!held) return 'ENOENT';
        if (operation.do === 'flush') held.entries.clear();
        else this.#held.delete(operation.name);
        return undefined;
      }
      case 'swap':
        return this.#swap(operation.name, operation.other);
    }
  }

  #create(set: SetDefinition): string | undefined {
    const held = this.#held.get(set.name)?.set;
    if (!held) {
      this.#held.set(set.name, { set, entries: new Map() });
      return undefined;
    }
    const same = held.type === set.type && held.family === set.family && held.maxElements === set.maxElements;
    return same ? undefined : 'EEXIST';
  }

  #change({ do: verb, set, entry }: Extract<IpsetOperation, { entry: unknown }>): string | undefined {
    const held = this.#held.get(set.name);
    if (!held) return 'ENOENT';
    const key = formatEntry(entry);
    if (verb === 'delete') held.entries.delete(key);
    else if (held.entries.size >= (held.set.maxElements ?? 65_536)) return 'IPSET_ERR_HASH_FULL';
    else held.entries.set(key, entry);
    return undefined;
  }

  #swap(name: string, other: string): string | undefined {
    const a = this.#held.get(name);
    const b = this.#held.get(other);
    if (!a || !b) return 'ENOENT';
    this.#held.set(name, { set: { ...b.set, name }, entries: b.entries });
    this.#held.set(other, { set: { ...a.set, name: other }, entries: a.entries });
    return undefined;
  }
}

function header({ set, entries }: Held): SetHeader {
  return { ...set, revision: 0, references: 0, elements: entries.size, extended: false };
}

function targetOf(operation: IpsetOperation): string {
  if ('entry' in operation) return `${operation.set.name} ${formatEntry(operation.entry)}`;
  return 'set' in operation ? operation.set.name : operation.name;
}
