// Explains packets in ipvs mode: reads the state on which their path depends. Changes nothing.
import { NetlinkError } from '../../../kernel/errors.js';
import type { SavedTables } from '../../../kernel/iptables/types.js';
import type { AddressId, Ipvs } from '../../../kernel/ipvs/types.js';
import { type Family, familyOf } from '../../../kernel/net/address.js';
import { openNftables } from '../../../kernel/nftables/index.js';
import { type Item, TABLE } from '../../../proxy/modes/ipvs/plan/items.js';
import type { IpvsOptions } from '../../../proxy/modes/ipvs/plan/options.js';
import { shortcutsOf } from '../../../proxy/modes/ipvs/plan/rules.js';
import { setOf } from '../../../proxy/modes/ipvs/plan/sets.js';
import { hasTunnelRules } from '../../../proxy/modes/ipvs/plan/tableChains.js';
import { printedTable } from '../../../proxy/modes/ipvs/program/describeTable.js';
import type { TablesKernel } from '../../../proxy/modes/ipvs/program/kernel.js';
import { observeTable } from '../../../proxy/modes/ipvs/program/observeTable.js';
import { ruleText } from '../../../proxy/modes/nftablesRules/program/ruleText.js';
import type { LocalDetector } from '../../../proxy/modes/shared/plan/localDetector.js';
import { openProcNet } from '../../kernel/procNet/index.js';
import { openWithOptions } from '../../modes/ipvs/open.js';
import { hasTable } from '../../modes/nftablesRules/traces.js';
import type { ModeSettings } from '../../modes/shared/definition.js';
import type { Explainer, Explanation, PacketQuestion } from '../explanation.js';
import { explainPacket } from '../ipvs/explainPacket.js';
import { CONNTRACK, type ExplainedServer, type ExplainFacts } from '../ipvs/facts.js';
import { rulesOfTable } from '../ipvs/rulesOfTable.js';
import { candidates, serviceName } from '../ipvs/services.js';
import type { PathFacts } from '../shared/facts.js';
import { type PathKernel, readPathFacts } from './facts.js';
import { openChainReader } from './foreignChains.js';

/** The parts of the kernel that an explanation reads. */
export type ExplainKernel = PathKernel & {
  readonly ipvs: Pick<Ipvs, 'listServices' | 'get'>;
  /** With rules of nf_tables. */
  readonly tables?: TablesKernel['nftables'];
};

/** Opens the kernel. Rejects with the NetlinkError of the part that cannot be opened. */
export async function open(settings: ModeSettings): Promise<Explainer> {
  // Not what the flags of this command say, but what is programmed.
  const ipvsRules = (await hasTable(TABLE, openNftables)) ? 'nftables' : 'iptables';
  const command = { ...settings.command, ipvsRules };
  const { kernel, options } = await openWithOptions({ ...settings, command });
  const nftables = await openChainReader();
  const { nftables: tables, ...parts } = kernel;
  const read = {
    ...parts,
    procNet: openProcNet(),
    ...(nftables && { nftables }),
    ...(tables && { tables }),
  };
  return {
    explain: (question) => explain(read, options, question),
    close: () => {
      kernel.close();
      void nftables?.close();
    },
  };
}

/** Explains a packet, as {@link Explainer.explain}. */
export async function explain(
  kernel: ExplainKernel,
  options: IpvsOptions,
  question: PacketQuestion,
): Promise<Explanation> {
  return explainPacket(await readFacts(kernel, options, question), question, options);
}

/** The facts with the table of the mode, as rules of iptables before those of iptables itself. */
async function readWithTable(
  { ipset: _, ...kernel }: ExplainKernel & { readonly tables: TablesKernel['nftables'] },
  options: IpvsOptions,
  family: Family,
): Promise<PathFacts> {
  const iptables = { saveTables: () => savedIfAny(kernel.iptables, family) };
  const facts = await readPathFacts({ ...kernel, iptables }, family, [CONNTRACK], TABLE);
  const items: Item[] = [];
  for await (const list of observeTable(kernel.tables, family)) items.push(...list);
  const local = programmedDetector(family, items);
  const receivesTunnels = items.some((item) => item.kind === 'tableChain' && hasTunnelRules(family, item));
  const own = rulesOfTable(
    family,
    items,
    { ...options, ...(local && { localDetector: local }) },
    { podNetwork: undefined, receivesTunnels },
  );
  const rules = new Map(facts.tables.rules);
  for (const [place, texts] of own.rules) rules.set(place, [...texts, ...(rules.get(place) ?? [])]);
  return { ...facts, tables: { ...facts.tables, rules }, sets: new Map([...facts.sets, ...own.sets]) };
}

/** The rules of iptables; none on a host without its programs. */
async function savedIfAny(iptables: PathKernel['iptables'], family: Family): Promise<SavedTables> {
  try {
    return await iptables.saveTables(family);
  } catch (error) {
    if (!(error instanceof NetlinkError) || error.code !== 'ENOENT') throw error;
    return { rules: new Map(), policies: new Map() };
  }
}

/** How the rules of a table detect local traffic; undefined if no rule says it. */
function programmedDetector(family: Family, items: readonly Item[]): LocalDetector | undefined {
  const cluster = `@${setOf('KUBE-CLUSTER-IP', family).name} jump nat/KUBE-MARK-MASQ`;
  for (const item of items) {
    if (item.kind !== 'tableChain' || item.name !== 'nat/KUBE-SERVICES') continue;
    for (const { expressions } of item.rules) {
      const text = ruleText(printedTable(family), { expressions });
      if (!text.endsWith(cluster)) continue;
      const [, network] = / saddr != ([0-9a-f.:]+(?:\/\d+)?) /.exec(` ${text}`) ?? [];
      if (network !== undefined) return { by: 'network', networks: { [family]: network } };
      const [, link] = /iifname != "([^"]+)"/.exec(text) ?? [];
      if (link !== undefined) return { by: 'interface', match: link.replace('*', '+') };
      return { by: 'network', networks: {} };
    }
  }
  return undefined;
}

/** Reads the state for packets to an address and port. Rejects with the NetlinkError of the part that cannot be read. */
async function readFacts(
  kernel: ExplainKernel,
  options: IpvsOptions,
  dialled: AddressId,
): Promise<ExplainFacts> {
  const family = familyOf(dialled.address);
  const { tables } = kernel;
  const facts = tables
    ? await readWithTable({ ...kernel, tables }, options, family)
    : await readPathFacts(kernel, family, [CONNTRACK]);
  const services = (await kernel.ipvs.listServices()).filter((service) =>
    'firewallMark' in service ? service.family === family : familyOf(service.address) === family,
  );
  const realServers = new Map<string, readonly ExplainedServer[]>();
  const rules = facts.tables.rules.get('nat/KUBE-SERVICES') ?? [];
  const shortcut = shortcutsOf({ family, table: 'nat', name: 'KUBE-SERVICES', rules }).find(
    ({ address, port, protocol }) =>
      address === dialled.address && port === dialled.port && protocol === dialled.protocol,
  );
  // Clients of the cluster use the cluster IP.
  const inside = shortcut && { ...dialled, address: shortcut.clusterIP, port: shortcut.clusterPort };
  for (const service of [dialled, ...(inside ? [inside] : [])].flatMap((to) => candidates(services, to))) {
    const state = await kernel.ipvs.get(service);
    if (state) realServers.set(serviceName(service), state.realServers);
  }
  return { ...facts, services, realServers };
}
