// ipset in memory: keeps sets and entries, and refuses the same operations as the kernel.
import { constants } from 'node:os';
import { attemptToRead, attemptToTest } from '../ipset/names.js';
import { namedProtocol } from '../ipset/protocolNames.js';
import { checkName, testRecord } from '../ipset/records.js';
import { formatSets } from '../ipset/save.js';
import { SHAPES } from '../ipset/shapes.js';
import type {
  EntryOf,
  Ipset,
  IpsetCapabilities,
  IpsetOperation,
  ListedEntry,
  SetDefinition,
  SetEntry,
  SetHeader,
  SetReference,
  SetState,
  SetType,
  SupportedType,
} from '../ipset/types.js';
import { formatElement } from '../ipset/values/entry.js';
import { IpsetVerbs } from '../ipset/verbs.js';
import type { CallOptions, Listing } from '../shared/types.js';
import { withVerbs } from '../shared/verbs.js';
import { FakeClient, refusalError } from './client.js';
import { areSame, areSwappable, asKept, ERR } from './ipsetRules.js';
import { FakeSet } from './ipsetSet.js';

const { EEXIST, ENOENT } = constants.errno;

/** A fake of ipset. Lists sets and entries in the order in which they were added, and lists of sets last. */
export class FakeIpset extends withVerbs(FakeClient<IpsetOperation>, IpsetVerbs) implements Ipset {
  /** Rules that refer to a set, by its name, for tests to set; such a set cannot be destroyed. None by default. */
  readonly references = new Map<string, number>();
  /** The time by which timeouts pass, in ms; that of the machine by default. */
  now: () => number = () => Date.now();
  readonly #sets = new Map<string, FakeSet>();

  async list(options: CallOptions = {}): Promise<SetHeader[]> {
    return this.read(attemptToRead('list'), () => this.#inOrder().map((set) => this.#header(set)), options);
  }

  async get(name: string, options: CallOptions = {}): Promise<SetState | undefined> {
    checkName(name, 'ipset.get');
    const read = () => {
      const set = this.#sets.get(name);
      return set && { set: this.#header(set), entries: set.entries() as ListedEntry[] };
    };
    return this.read(attemptToRead('get', name), read, options);
  }

  entries(name: string, options: CallOptions = {}): Listing<ListedEntry> {
    checkName(name, 'ipset.entries');
    const attempt = attemptToRead('entries', name);
    const read = () => {
      const set = this.#sets.get(name);
      if (!set) throw refusalError(ENOENT, attempt);
      return set.entries() as ListedEntry[];
    };
    return this.listing(attempt, read, options);
  }

  async test(set: SetReference, entry: EntryOf, options: CallOptions = {}): Promise<boolean> {
    testRecord(set, entry);
    const attempt = attemptToTest(set, entry);
    const read = () => {
      const found = this.#find(set);
      if (typeof found !== 'number') return found.test(entry);
      throw refusalError(found, attempt);
    };
    return this.read(attempt, read, options);
  }

  async types(options: CallOptions = {}): Promise<SupportedType[]> {
    return this.read(attemptToRead('types'), () => TYPES, options);
  }

  async capabilities(options: CallOptions = {}): Promise<IpsetCapabilities> {
    const library = { path: '/usr/lib/libipset.so.13.4.0', version: '13.4.0' };
    const read = () => ({ protocol: [6, 7] as const, types: TYPES, library });
    return this.read(attemptToRead('capabilities'), read, options);
  }

  /** The output of `ipset save`, with the entries sorted, and without the kernel's choice of bucketsize and initval. */
  dump(): string {
    const saved = this.#inOrder().map((held) => {
      const { bucketSize: _, initval: __, ...set } = held.set;
      const text = (entry: SetEntry) => formatElement(entry, namedProtocol);
      const inOrder = (a: SetEntry, b: SetEntry) => (text(a) < text(b) ? -1 : 1);
      const entries = held.entries();
      return { set, entries: set.type === 'list:set' ? entries : [...entries].sort(inOrder) };
    });
    return formatSets(saved);
  }

  #inOrder(): FakeSet[] {
    const isList = ({ set }: FakeSet) => (set.type === 'list:set' ? 1 : 0);
    return [...this.#sets.values()].sort((a, b) => isList(a) - isList(b));
  }

  #header(held: FakeSet): SetHeader {
    const { set } = held;
    const { timeout, counters, comment, skbInfo } = set;
    const extended = timeout !== undefined || (counters ?? comment ?? skbInfo) !== undefined;
    const elements = held.entries().length;
    return { ...set, revision: 0, references: this.#referencesTo(set.name), elements, extended };
  }

  /** The references of rules, and those of lists. */
  #referencesTo(name: string): number {
    const lists = [...this.#sets.values()].filter((held) => held.hasMember(name));
    return (this.references.get(name) ?? 0) + lists.length;
  }

  protected act(operation: IpsetOperation): number | undefined {
    switch (operation.do) {
      case 'create':
        return this.#create(operation.set, operation.strict === true);
      case 'add':
      case 'delete':
        return this.#change(operation);
      case 'swap':
        return this.#swap(operation.name, operation.other);
      case 'rename':
        return this.#rename(operation.name, operation.newName);
      case 'flushAll':
        for (const set of this.#sets.values()) set.flush();
        return undefined;
      case 'destroyAll':
        if ([...this.#sets.keys()].some((name) => this.#referencesTo(name) > 0)) return ERR.busy;
        this.#sets.clear();
        return undefined;
      case 'flush': {
        const set = this.#sets.get(operation.name);
        set?.flush();
        return set ? undefined : ENOENT;
      }
      case 'destroy':
        if (!this.#sets.has(operation.name)) return ENOENT;
        if (this.#referencesTo(operation.name) > 0) return ERR.busy;
        this.#sets.delete(operation.name);
        return undefined;
    }
  }

  #create(definition: SetDefinition, isStrict: boolean): number | undefined {
    const set = asKept(definition);
    if (typeof set === 'number') return set;
    const held = this.#sets.get(set.name)?.set;
    if (held) return !isStrict && areSame(held, set) ? undefined : EEXIST;
    const typeOf = (name: string) => this.#sets.get(name)?.set.type;
    this.#sets.set(set.name, new FakeSet({ set, now: () => this.now(), typeOf }));
    return undefined;
  }

  #change({ do: verb, set, entry, strict }: Extract<IpsetOperation, { entry: unknown }>): number | undefined {
    const found = this.#find(set);
    if (typeof found === 'number') return found;
    return verb === 'add' ? found.add(entry, strict === true) : found.delete(entry, strict === true);
  }

  /** The set that a reference names, or the number of the error. */
  #find({ name, type, family }: SetReference): FakeSet | number {
    const found = this.#sets.get(name);
    if (!found) return ENOENT;
    const own = family ?? SHAPES[type].families[0];
    return found.set.type === type && found.set.family === own ? found : ERR.typeMismatch;
  }

  #swap(name: string, other: string): number | undefined {
    const [a, b] = [this.#sets.get(name), this.#sets.get(other)];
    if (!a) return ENOENT;
    if (!b) return ERR.existSetName2;
    if (!areSwappable(a.set, b.set)) return ERR.typeMismatch;
    this.#sets.set(name, b.renamed(name));
    this.#sets.set(other, a.renamed(other));
    return undefined;
  }

  #rename(name: string, newName: string): number | undefined {
    const set = this.#sets.get(name);
    if (!set) return ENOENT;
    if (this.#referencesTo(name) > 0) return ERR.referenced;
    if (this.#sets.has(newName)) return ERR.existSetName2;
    this.#sets.delete(name);
    this.#sets.set(newName, set.renamed(newName));
    return undefined;
  }
}

const TYPES: SupportedType[] = (Object.keys(SHAPES) as SetType[]).map((name) => ({
  name,
  revisions: [0, 0],
}));
