// The state that ipvs mode, or kube-proxy in its ipvs mode, left on a node where another mode runs now.
import type { Conntrack, FlowSelection } from '../../../kernel/conntrack/types.js';
import type { AddressId, Ipvs } from '../../../kernel/ipvs/types.js';
import { familyOf } from '../../../kernel/net/address.js';
import { createIpvsMode } from '../../../proxy/modes/ipvs/index.js';
import type { IpvsOptions } from '../../../proxy/modes/ipvs/plan/options.js';
import { CHAINS, jumps } from '../../../proxy/modes/ipvs/plan/rules.js';
import type { IpvsKernel } from '../../../proxy/modes/ipvs/program/kernel.js';
import type { FormerState } from '../../../proxy/modes/mode.js';
import type { RulesInUse } from '../shared/definition.js';
import { NO_IPVS, NO_LINKS, NO_SETTINGS } from './absentParts.js';

/** The chains, and the rules in built-in chains. */
export const RULES: RulesInUse = { chains: CHAINS, jumps };

/** The parts of the kernel that have the state. After a change of the rules that was interrupted, the entries of both kinds record which virtual services are ours. */
export type FormerKernel = IpvsKernel &
  Required<Pick<IpvsKernel, 'otherEntries'>> & {
    readonly conntrack: Pick<Conntrack, 'list' | 'deleteFlows'>;
  };

/** The state that the mode left, and its connections. Close it together with the kernel. */
export function formerState(kernel: FormerKernel, options: IpvsOptions): Omit<FormerState, 'close'> {
  const mode = createIpvsMode(kernel, options);
  /** Virtual services that were found, by key. */
  const found = new Map<string, AddressId>();
  async function* observe() {
    for await (const piece of mode.observe()) {
      for (const [key, item] of piece) {
        if (item.kind === 'virtualService' && mode.items.isOurs(item)) found.set(key, item.service);
      }
      yield piece;
    }
  }
  return {
    mode: { ...mode, observe },
    async connections() {
      for await (const _ of observe());
      return countConnections(kernel.ipvs, found.values());
    },
    finish: () => deleteFlows(kernel.conntrack, found.values()),
  };
}

/** Number of connections of virtual services, with idle ones. */
async function countConnections(ipvs: Pick<Ipvs, 'get'>, services: Iterable<AddressId>): Promise<number> {
  let count = 0;
  for (const service of services) {
    for (const { activeConnections, inactiveConnections } of (await ipvs.get(service))?.realServers ?? []) {
      count += activeConnections + inactiveConnections;
    }
  }
  return count;
}

/**
 * Deletes the UDP flows to virtual services, if IPVS has translated them and not a rule: their packets have a flow, so
 * that no rule translates them, and a client that sends often would keep such a flow. Rejects with the NetlinkError of a
 * flow.
 */
async function deleteFlows(
  conntrack: FormerKernel['conntrack'],
  services: Iterable<AddressId>,
): Promise<void> {
  const selections = [...services]
    .filter(({ protocol }) => protocol === 'udp')
    .map(({ address, port }): FlowSelection => {
      const original = { destination: address, destinationPort: port };
      return { family: familyOf(address), protocol: 'udp', original };
    });
  if (selections.length === 0) return;
  const flows = await conntrack.list(selections).toArray();
  const untranslated = flows.filter(({ status }) => !status.includes('DST_NAT'));
  for (const error of await conntrack.deleteFlows(untranslated)) if (error) throw error;
}

/** The mode that sees the rules and sets alone: no virtual service, link or setting. */
export function openRulesOn(
  parts: Pick<IpvsKernel, 'ipset' | 'iptables' | 'nftables'>,
  options: IpvsOptions,
): ReturnType<typeof createIpvsMode> {
  const { ipset, iptables, nftables } = parts;
  const own = { ipset, iptables, ...(nftables && { nftables }) };
  return createIpvsMode({ ...own, ipvs: NO_IPVS, rtnetlink: NO_LINKS, sysctl: NO_SETTINGS }, options);
}
