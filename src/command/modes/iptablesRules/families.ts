// The families that can be programmed on this host: those whose programs run, and whose tables the kernel has.
import type { Logger } from 'pino';
import { NetlinkError, ROLLED_BACK } from '../../../kernel/errors.js';
import type { Iptables } from '../../../kernel/iptables/types.js';
import type { Family } from '../../../kernel/net/address.js';
import { HOST, type Machine, moduleHint, stateOfModule } from '../../../kernel/shared/hints.js';
import { isNftables } from './backend.js';

/**
 * The tables without which no mode can serve a Service. Table mangle is not among them: it has only kube-proxy's canary, through
 * which no packet passes.
 */
const TABLES = ['nat', 'filter'] as const;
type NeededTable = (typeof TABLES)[number];

/** With 1, no interface has an IPv6 address, though the family's tables exist. kube-proxy leaves the family out too. */
const DISABLE_IPV6 = 'net.ipv6.conf.all.disable_ipv6';

/** A chain that is added and deleted in one restore, which both backends refuse without the table. */
const TRIAL = 'KUBE-PROXY-PROBE';

/** A family that cannot be programmed. */
export interface UnusableFamily {
  readonly family: Family;
  /** The kernel has the family: the iptables programs failed, a table is missing, or a setting disables IPv6. */
  readonly inKernel: boolean;
  readonly reason: string;
}

/** The families of a host. */
interface Families {
  /** Those that can be programmed, with the chains that they have, as `table/chain`. */
  readonly usable: ReadonlyMap<Family, ReadonlySet<string>>;
  readonly unusable: readonly UnusableFamily[];
}

/** Rejects with a NetlinkError if the kernel lacks one of the tables, none of which has a chain now. */
type TableTest = (family: Family, tables: readonly NeededTable[]) => Promise<void>;

/**
 * Families for which the host has an enabled IP stack, the iptables programs and the tables nat and filter, with their chains. Logs
 * the other families. On a node that was programmed before, the chains show the tables, and nothing is tested.
 *
 * @param mayChange test a table that has no chain by a restore, which loads its kernel module; otherwise, its module is looked for
 */
export async function usableFamilies(
  iptables: Pick<Iptables, 'chains' | 'restore'>,
  { log, mayChange }: { readonly log: Pick<Logger, 'warn'>; readonly mayChange: boolean },
  machine: Machine = HOST,
): Promise<Families['usable']> {
  const test: TableTest = mayChange
    ? (family, tables) => testTables(iptables, family, tables, machine)
    : async (family, tables) => checkTables(family, tables, machine);
  const { usable, unusable } = await findFamilies(iptables, test, machine);
  for (const { family, reason } of unusable) log.warn({ err: reason }, `IPv${family} is left out`);
  return usable;
}

/**
 * The families that can be programmed on this host, and the others.
 *
 * @param test tests the tables of a family that is to be programmed; without it, a family without tables is usable, because it
 *   has nothing to remove, and so is disabled IPv6, because its rules may be older than the setting
 */
export async function findFamilies(
  iptables: Pick<Iptables, 'chains'>,
  test?: TableTest,
  machine: Machine = HOST,
): Promise<Families> {
  const usable = new Map<Family, ReadonlySet<string>>();
  const unusable: UnusableFamily[] = [];
  const families = [4, 6] as const;
  const found = await Promise.all(families.map((family) => examine(iptables, family, { test, machine })));
  for (const result of found) {
    if ('chains' in result) usable.set(result.family, result.chains);
    else unusable.push(result);
  }
  return { usable, unusable };
}

async function examine(
  iptables: Pick<Iptables, 'chains'>,
  family: Family,
  { test, machine }: { readonly test: TableTest | undefined; readonly machine: Machine },
): Promise<{ readonly family: Family; readonly chains: ReadonlySet<string> } | UnusableFamily> {
  if (family === 6 && !machine.exists('/proc/net/if_inet6'))
    return { family, inKernel: false, reason: 'the kernel runs without IPv6' };
  if (family === 6 && test && isDisabled(machine))
    return { family, inKernel: true, reason: `IPv6 is disabled: ${DISABLE_IPV6} = 1` };
  try {
    const chains = new Set<string>();
    for await (const piece of iptables.chains(family))
      for (const { table, name } of piece) chains.add(`${table}/${name}`);
    const hidden = hiddenTables(chains);
    if (hidden.length > 0) await test?.(family, hidden);
    return { family, chains };
  } catch (error) {
    return { family, inKernel: true, reason: String(error) };
  }
}

function isDisabled(machine: Machine): boolean {
  return machine.read(`/proc/sys/${DISABLE_IPV6.replaceAll('.', '/')}`)?.trim() === '1';
}

/** The tables that have no chain: they are missing, or nothing has used them yet. */
function hiddenTables(chains: ReadonlySet<string>): NeededTable[] {
  const hidden = new Set<NeededTable>(TABLES);
  for (const id of chains) {
    if (hidden.size === 0) break;
    hidden.delete(id.slice(0, id.indexOf('/')) as NeededTable);
  }
  return [...hidden];
}

/** Tests the tables by one restore, which leaves no chain. */
async function testTables(
  iptables: Pick<Iptables, 'restore'>,
  family: Family,
  tables: readonly NeededTable[],
  machine: Machine,
): Promise<void> {
  const trial = tables.map(
    (table) => ({ do: 'deleteChain', chain: { family, table, name: TRIAL } }) as const,
  );
  const results = await iptables.restore(family, trial);
  const first = results.findIndex((result) => result !== undefined && result.code !== ROLLED_BACK);
  const [error, table] = [results[first], tables[first]];
  // Another program holds the lock of iptables, which says nothing about the table. The first pass waits for the lock again.
  if (error === undefined || table === undefined || error.code === 'ERR_UNKNOWN_OUTCOME') return;
  const { code, kernelMessage } = error;
  if (code !== 'ERR_PROCESS') throw error;
  const module = isNftables(kernelMessage) ? nftablesModule(table) : xtablesModule(family, table);
  throw missingTable(family, table, { code, kernelMessage, hint: moduleHint(module, machine) });
}

/** Looks for the modules of the tables. The backend of iptables is unknown: a table is missing if neither backend can have it. */
function checkTables(family: Family, tables: readonly NeededTable[], machine: Machine): void {
  for (const table of tables) {
    const modules = [xtablesModule(family, table), nftablesModule(table)];
    if (modules.some((module) => stateOfModule(module, machine) !== 'missing')) continue;
    const hint = `the kernel ${machine.release} has neither module ${modules.join(' nor ')}`;
    throw missingTable(family, table, { code: 'ENOENT', hint });
  }
}

function missingTable(
  family: Family,
  table: NeededTable,
  facts: { readonly code: string; readonly kernelMessage?: string | undefined; readonly hint: string },
): NetlinkError {
  return new NetlinkError({
    operation: 'iptables.findTable',
    target: `IPv${family} table ${table}`,
    ...facts,
  });
}

function xtablesModule(family: Family, table: NeededTable): string {
  return `${family === 4 ? 'ip' : 'ip6'}table_${table}`;
}

function nftablesModule(table: NeededTable): string {
  return table === 'nat' ? 'nft_chain_nat' : 'nf_tables';
}
