// Opens IPVS for the commands that list virtual services.
import type { KernelCommand } from '../../config/commandLine.js';
import { loadConfiguration } from '../../config/load.js';
import { type Ipvs, openIpvs } from '../../kernel/ipvs/index.js';
import { selectMode } from '../../modes/select.js';

/**
 * Opens IPVS. Rejects with an Error if the configured mode has no virtual services, and with the NetlinkError of IPVS.
 *
 * @param flags of the agent: the configuration
 */
export async function openVirtualServices(flags: KernelCommand): Promise<Ipvs> {
  const { mode } = loadConfiguration(flags).configuration;
  if (selectMode(mode).virtualServices) return openIpvs();
  throw new Error(
    `mode: ${mode} has no virtual services of IPVS to list; kube-netlink-proxy explain shows the endpoints of an address`,
  );
}
