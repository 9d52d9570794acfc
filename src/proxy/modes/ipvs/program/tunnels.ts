// Reads the devices, rules and routes by which a node receives tunnels.
import { type Family, familyOf } from '../../../../kernel/net/address.js';
import type { Item } from '../plan/items.js';
import type { IpvsOptions } from '../plan/options.js';
import { TUNNEL_LINKS, TUNNEL_TABLE, tunnelLinkOf, tunnelRouteOf, tunnelRuleOf } from '../plan/tunnels.js';
import type { IpvsKernel } from './kernel.js';

type Parts = Pick<IpvsKernel, 'rtnetlink'>;

/** All of them. The rules are added first, and deleted last: without a rule, there are no devices and routes of ours. */
export async function observeTunnels(kernel: Parts, { families }: IpvsOptions): Promise<Item[]> {
  const rules = await readTunnelRules(kernel, families);
  if (rules.length === 0) return [];
  const links = await Promise.all(families.map((family) => readTunnelLink(kernel, family)));
  const routes: Item[] = [];
  for await (const route of kernel.rtnetlink.listRoutes({ table: TUNNEL_TABLE, type: 'local' })) {
    const item = tunnelRouteOf(route);
    if (item && families.includes(familyOf(item.address))) routes.push(item);
  }
  return [...rules, ...links.flat(), ...routes];
}

/** The rules of the families that are ours. */
export async function readTunnelRules({ rtnetlink }: Parts, families: readonly Family[]): Promise<Item[]> {
  const lists = await Promise.all(families.map((family) => rtnetlink.listRules(family)));
  return lists.flat().flatMap((rule) => tunnelRuleOf(rule) ?? []);
}

/** The device of a family, if the proxy has set it up. */
export async function readTunnelLink({ rtnetlink }: Parts, family: Family): Promise<Item[]> {
  const name = TUNNEL_LINKS[family];
  const link = await rtnetlink.getLink(name);
  if (!link) return [];
  const item = tunnelLinkOf(family, link, family === 4 ? await rtnetlink.listAddresses(name) : []);
  return item ? [item] : [];
}
