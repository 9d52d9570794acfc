// Explains packets in ipvs mode: reads the state on which their path depends. Changes nothing.
import type { AddressId, Ipvs } from '../../../kernel/ipvs/types.js';
import { familyOf } from '../../../kernel/net/address.js';
import type { IpvsOptions } from '../../../proxy/modes/ipvs/plan/options.js';
import { shortcutsOf } from '../../../proxy/modes/ipvs/plan/rules.js';
import { openProcNet } from '../../kernel/procNet/index.js';
import { openWithOptions } from '../../modes/ipvs/open.js';
import type { ModeSettings } from '../../modes/shared/definition.js';
import type { Explainer, Explanation, PacketQuestion } from '../explanation.js';
import { explainPacket } from '../ipvs/explainPacket.js';
import { CONNTRACK, type ExplainedServer, type ExplainFacts } from '../ipvs/facts.js';
import { candidates, serviceName } from '../ipvs/services.js';
import { type PathKernel, readPathFacts } from './facts.js';
import { openChainReader } from './foreignChains.js';

/** The parts of the kernel that an explanation reads. */
export type ExplainKernel = PathKernel & { readonly ipvs: Pick<Ipvs, 'listServices' | 'get'> };

/** Opens the kernel. Rejects with the NetlinkError of the part that cannot be opened. */
export async function open(settings: ModeSettings): Promise<Explainer> {
  const { kernel, options } = await openWithOptions(settings);
  const nftables = await openChainReader();
  const read = { ...kernel, procNet: openProcNet(), ...(nftables && { nftables }) };
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
  return explainPacket(await readFacts(kernel, question), question, options);
}

/** Reads the state for packets to an address and port. Rejects with the NetlinkError of the part that cannot be read. */
async function readFacts(kernel: ExplainKernel, dialled: AddressId): Promise<ExplainFacts> {
  const family = familyOf(dialled.address);
  const facts = await readPathFacts(kernel, family, [CONNTRACK]);
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
