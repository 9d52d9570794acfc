// The parts of the kernel that ipvs mode needs, by what its rules are written with.
import { NetlinkError } from '../../../kernel/errors.js';
import { openIpset } from '../../../kernel/ipset/index.js';
import { openIpvs } from '../../../kernel/ipvs/index.js';
import { openNftables } from '../../../kernel/nftables/index.js';
import type { Nftables } from '../../../kernel/nftables/types.js';
import type { IpvsOptions } from '../../../proxy/modes/ipvs/plan/options.js';
import type { IpvsKernel } from '../../../proxy/modes/ipvs/program/kernel.js';
import { openHostKernel } from '../shared/hostKernel.js';
import { loadModule } from '../shared/loadModules.js';
import { openParts } from '../shared/openParts.js';
import { NO_IPSET } from './absentParts.js';
import { hasIpset } from './loaded.js';

/** The parts of the kernel that ipvs mode needs. */
export type OpenIpvsKernel = Awaited<ReturnType<typeof openIpvsKernel>>;

/**
 * Opens all parts. If one cannot be opened, closes the others and rejects with its NetlinkError.
 *
 * @param load load the module ip_vs if it is missing
 * @param rules with `nftables`, ipset is not opened
 */
export async function openIpvsKernel(load: boolean, rules: IpvsOptions['rules'] = 'iptables') {
  const parts = await openParts({
    ipvs: load ? openIpvsWithModule : () => openIpvs(),
    ipset: async () => (rules === 'iptables' ? openIpset() : NO_IPSET),
    tables: async () => (rules === 'nftables' ? openTables() : NO_TABLES),
    host: openHostKernel,
  });
  const { host, ...own } = withTables(parts);
  return { ...host, ...own };
}

/** The netlink family of IPVS exists only while ip_vs is loaded; the kernel does not load it on demand. */
async function openIpvsWithModule(): ReturnType<typeof openIpvs> {
  try {
    return await openIpvs();
  } catch (error) {
    if (!(error instanceof NetlinkError) || error.code !== 'ENOENT') throw error;
    const said = await loadModule('ip_vs');
    if (said === undefined) return openIpvs();
    throw new NetlinkError({ ...error, kernelMessage: said, hint: 'IPVS needs the kernel module ip_vs' });
  }
}

/** The parts that the rules need. A part whose module is not loaded has nothing. */
export async function openOwnParts(rules: IpvsOptions['rules'], openIpvs: () => Promise<OwnIpvs>) {
  const parts = await openParts({
    ipvs: openIpvs,
    ipset: async () => (rules === 'iptables' && hasIpset() ? openIpset() : NO_IPSET),
    tables: async () => (rules === 'nftables' ? openTables() : NO_TABLES),
  });
  return withTables(parts);
}

type OwnIpvs = IpvsKernel['ipvs'] & { close(): void };

/** nftables as a part that may be absent. */
interface TablesPart {
  readonly nftables?: Nftables;
  close(): void;
}

async function openTables(): Promise<TablesPart> {
  const nftables = await openNftables();
  return { nftables, close: () => void nftables.close() };
}

const NO_TABLES: TablesPart = { close() {} };

function withTables<
  Parts extends { readonly tables: TablesPart } & Readonly<Record<string, { close(): void }>>,
>({ tables, ...parts }: Parts) {
  return {
    ...parts,
    ...(tables.nftables && { nftables: tables.nftables }),
    close: () => {
      for (const part of [...Object.values(parts), tables]) part.close();
    },
  };
}
