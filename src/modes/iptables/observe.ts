// Reads our items from the kernel.
import { NetlinkError } from '../../errors.js';
import type { SavedRules, Table } from '../../kernel/iptables/types.js';
import type { Family } from '../../net/address.js';
import type { Found } from '../mode.js';
import { splitChainId, targetsOfOthers } from '../shared/iptables/targets.js';
import {
  BLOCK_LOCALNET,
  FIREWALL,
  hasTail,
  isOwnChain,
  isTail,
  jumps,
  NODE_CHAINS,
  SHARED_CHAINS,
} from './fixedChains.js';
import {
  chainKey,
  commonPart,
  type Item,
  keyOf,
  type RuleItem,
  type SharedChainItem,
  withTexts,
} from './items.js';
import type { IptablesKernel } from './kernel.js';
import { isPerService } from './names.js';
import type { IptablesOptions } from './options.js';
import { ROUTE_LOCALNET } from './planNode.js';

/** Maximum items in a piece. */
const PIECE = 256;

/** Our items, in pieces. Rules and chains precede the chains to which they jump, so that an audit removes them first. */
export async function* observe(
  kernel: IptablesKernel,
  options: IptablesOptions,
): AsyncGenerator<ReadonlyMap<string, Item>> {
  for (const family of options.families) {
    yield* inPieces(await readSettings(kernel, family, options));
    yield* inPieces(observeRules(family, await kernel.iptables.save(family)));
  }
}

/** The state of these items in the kernel, from one reading of the rules of each family. */
export async function observeAlone(
  kernel: IptablesKernel,
  options: IptablesOptions,
  items: ReadonlyMap<string, Item | undefined>,
): Promise<Found<Item>> {
  const found = new Map<string, Item>();
  const failures = new Map<string, NetlinkError>();
  for (const family of options.families) {
    const ofFamily = (item: Item | undefined) =>
      item === undefined || (item.kind === 'sysctl' ? family === 4 : item.family === family);
    const keys = new Set([...items].filter(([, item]) => ofFamily(item)).map(([key]) => key));
    if (keys.size === 0) continue;
    try {
      const settings = await readSettings(kernel, family, options);
      const saved = await kernel.iptables.save(family);
      for (const item of [...settings, ...observeRules(family, saved, (key) => keys.has(key))]) {
        const key = keyOf(item);
        if (keys.has(key)) found.set(key, item);
      }
    } catch (error) {
      if (!(error instanceof NetlinkError)) throw error;
      for (const key of keys) failures.set(key, error);
    }
  }
  return { items: found, failures };
}

function* inPieces(items: Iterable<Item>): Generator<ReadonlyMap<string, Item>> {
  let piece = new Map<string, Item>();
  for (const item of items) {
    piece.set(keyOf(item), item);
    if (piece.size < PIECE) continue;
    yield piece;
    piece = new Map();
  }
  if (piece.size > 0) yield piece;
}

/** The settings that the plan of a family may have, if this kernel has them. */
async function readSettings(
  { sysctl }: IptablesKernel,
  family: Family,
  options: IptablesOptions,
): Promise<Item[]> {
  if (family !== 4 || !options.localhostNodePorts) return [];
  const value = await sysctl.read(ROUTE_LOCALNET);
  return value === undefined ? [] : [{ kind: 'sysctl', name: ROUTE_LOCALNET, value }];
}

/** The chains of Services, in an order in which each jumps only to later ones. */
const LAYERS = ['KUBE-FW-', 'KUBE-XLB-', 'KUBE-EXT-', 'KUBE-SVL-', 'KUBE-SVC-', 'KUBE-SEP-'];

/**
 * The items of a family. The rules of a chain of a Service are read when its item is taken.
 *
 * @param isWanted whether the chain of a Service with this key is wanted; by default, all are
 */
export function* observeRules(
  family: Family,
  saved: SavedRules,
  isWanted: (key: string) => boolean = () => true,
): Generator<Item> {
  const foreign = foreignChains(family, saved);
  yield* ownJumps(family, saved, foreign);
  const layers = new Map(LAYERS.map((prefix) => [prefix, [] as string[]]));
  for (const id of saved.keys()) {
    const [table, name] = splitChainId(id) as [Table, string];
    if (isPerService(table, name)) {
      if (isWanted(chainKey(family, table, name)))
        layers.get(name.slice(0, name.lastIndexOf('-') + 1))?.push(id);
      continue;
    }
    const chain = { family, table, name, ...mark(foreign.has(id)) };
    if (isShared(table, name)) yield* sharedItems(chain, saved.get(id) ?? []);
    else if (NODE_CHAINS[table]?.includes(name))
      yield { kind: 'chain', ...chain, rules: saved.get(id) ?? [] };
  }
  for (const layer of layers.values()) {
    for (const id of layer) {
      const [table, name] = splitChainId(id) as [Table, string];
      yield { kind: 'chain', family, table, name, ...mark(foreign.has(id)), rules: saved.get(id) ?? [] };
    }
  }
}

/**
 * Chains that a clean-up must not delete: those to which rules of other programs jump, and KUBE-FIREWALL if it has rules.
 * They are kubelet's, or protect loopback addresses, which stay reachable: no mode resets route_localnet.
 */
function foreignChains(family: Family, saved: SavedRules): Set<string> {
  const own = new Set(jumps(family).map(({ text }) => text));
  const foreign = targetsOfOthers(saved, isOwnChain, own);
  const firewall = `filter/${FIREWALL}`;
  if ((saved.get(firewall) ?? []).length > 0) foreign.add(firewall);
  return foreign;
}

function mark(foreign: boolean): { readonly foreign?: true } {
  return foreign ? { foreign } : {};
}

function isShared(table: Table, name: string): boolean {
  return SHARED_CHAINS[table]?.includes(name) || (table === 'filter' && name === FIREWALL);
}

/** The rules in built-in chains. Those to a foreign KUBE-FIREWALL are foreign too: kubelet inserts the same ones. */
function* ownJumps(family: Family, saved: SavedRules, foreign: ReadonlySet<string>): Generator<RuleItem> {
  const kubelet = foreign.has(`filter/${FIREWALL}`);
  for (const jump of jumps(family)) {
    const texts = saved.get(`${jump.table}/${jump.chain}`)?.filter((rule) => rule === jump.text) ?? [];
    const marked = kubelet && jump.text.endsWith(FIREWALL) ? ({ foreign: true } as const) : {};
    const item = withTexts({ kind: 'rule', ...jump, ...marked }, texts);
    if (item) yield item;
  }
}

/** A shared chain and its rules. In KUBE-FIREWALL, only one rule may be ours, or kubelet's: it is never deleted. */
function* sharedItems(
  { name, ...where }: Omit<SharedChainItem, 'kind' | 'tail'>,
  rules: readonly string[],
): Generator<Item> {
  const { family, table, foreign } = where;
  const { tail, strays, rest } = splitTail(hasTail(table, name), rules);
  const marked = foreign ? ({ foreign } as const) : {};
  yield { kind: 'sharedChain', family, table, name, tail, ...(strays.length > 0 && { strays }), ...marked };
  const groups = new Map<string, RuleItem>();
  const kept = name === FIREWALL ? ({ foreign: true } as const) : {};
  for (const text of rest) {
    if (name === FIREWALL && (family === 6 || text !== BLOCK_LOCALNET.text)) continue;
    const common = commonPart({ table, chain: name, text });
    const first = groups.get(common);
    const item: RuleItem = first
      ? { ...first, next: [...(first.next ?? []), text] }
      : { kind: 'rule', family, table, chain: name, text, ...kept };
    groups.set(common, item);
  }
  yield* groups.values();
}

/** The last rules of a chain that belong to its tail, each once; the same kind of rules before others; and the rest. */
function splitTail(has: boolean, rules: readonly string[]) {
  if (!has) return { tail: [], strays: [], rest: rules };
  const lastOther = rules.findLastIndex((rule) => !isTail(rule));
  const last = rules.slice(lastOther + 1);
  const tail = [...new Set(last)];
  const repeated = last.filter((rule, i) => last.indexOf(rule) !== i);
  const before = rules.slice(0, lastOther + 1);
  return {
    tail,
    strays: [...before.filter(isTail), ...repeated],
    rest: before.filter((rule) => !isTail(rule)),
  };
}
