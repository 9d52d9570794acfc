// Reads our items from the kernel.
import { NetlinkError } from '../../../../kernel/errors.js';
import type { Family } from '../../../../kernel/net/address.js';
import type { Found } from '../../mode.js';
import { type Item, keyOf } from '../plan/items.js';
import type { IptablesOptions } from '../plan/options.js';
import { ROUTE_LOCALNET } from '../plan/planNode.js';
import type { IptablesKernel } from './kernel.js';
import { observeRules } from './observeRules.js';

/** Maximum items in a piece. */
const PIECE = 256;

/** Our items, in pieces, in no certain order: see {@link observeRules}. */
export async function* observe(
  kernel: IptablesKernel,
  options: IptablesOptions,
): AsyncGenerator<ReadonlyMap<string, Item>> {
  for (const family of options.families) {
    yield* inPieces(await readSettings(kernel, family, options));
    for await (const items of observeRules(family, kernel.iptables)) yield* inPieces(items);
  }
}

/** A mark of all that {@link observe} reads; undefined if the rules have none. */
export async function mark(kernel: IptablesKernel, options: IptablesOptions): Promise<string | undefined> {
  const rules = await kernel.mark?.();
  if (rules === undefined) return undefined;
  return JSON.stringify([rules, await readSettings(kernel, 4, options)]);
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
      const keep = (items: Iterable<Item>) => {
        for (const item of items) {
          const key = keyOf(item);
          if (keys.has(key)) found.set(key, item);
        }
      };
      keep(await readSettings(kernel, family, options));
      for await (const items of observeRules(family, kernel.iptables, (key) => keys.has(key))) keep(items);
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
