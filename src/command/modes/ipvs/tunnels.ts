// Whether Services may have tunnels on this node (`forwarding: tunnel`).

import type { Family } from '../../../kernel/net/address.js';
import { moduleHint, stateOfModule } from '../../../kernel/shared/hints.js';
import type { IpvsOptions } from '../../../proxy/modes/ipvs/plan/options.js';
import { TUNNEL_LINKS } from '../../../proxy/modes/ipvs/plan/tunnels.js';
import type { IpvsKernel } from '../../../proxy/modes/ipvs/program/kernel.js';
import { loadModules } from '../shared/loadModules.js';

/** The modules that add the devices. */
const MODULES: Readonly<Record<Family, string>> = { 4: 'ip_gre', 6: 'ip6_gre' };

/**
 * Why Services cannot have tunnels on this node; undefined: they can.
 *
 * @param load load the modules that are missing
 */
export async function obstacleOfTunnels(
  { rtnetlink }: Pick<IpvsKernel, 'rtnetlink'>,
  { families, cures, localDetector }: Pick<IpvsOptions, 'families' | 'cures' | 'localDetector'>,
  load: boolean,
): Promise<string | undefined> {
  if (!cures.has('node-failover')) return 'has an effect only with --cures=node-failover';
  const isDetected = (family: Family) => localDetector.by !== 'network' || localDetector.networks[family];
  if (!families.every(isDetected)) {
    return 'has an effect only if the pods of the node are known in all families: --cluster-cidr, or another --detect-local-mode';
  }
  if (stateOfModule('ip_vs_mh') === 'missing') return `has no effect: ${moduleHint('ip_vs_mh')}`;
  if (load) await loadModules(families.map((family) => MODULES[family]));
  for (const family of families) {
    const name = TUNNEL_LINKS[family];
    if (!(await rtnetlink.getLink(name)))
      return `has no effect: there is no link ${name}; ${moduleHint(MODULES[family])}`;
  }
  return undefined;
}
