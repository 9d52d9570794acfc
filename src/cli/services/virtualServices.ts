// The mode of the commands that list virtual services.
import type { KernelCommand } from '../../config/commandLine.js';
import { loadConfiguration } from '../../config/load.js';
import { selectMode } from '../../modes/select.js';
import { modeOfNode } from '../modeOfNode.js';

/**
 * Rejects with an Error if the mode of this node has no virtual services.
 *
 * @param flags of the agent: the configuration
 */
export async function requireVirtualServices(flags: KernelCommand): Promise<void> {
  const mode = await modeOfNode(flags, loadConfiguration(flags).configuration);
  if (selectMode(mode).virtualServices) return;
  throw new Error(
    `mode: ${mode} has no virtual services of IPVS to list; kube-netlink-proxy explain shows the endpoints of an address`,
  );
}
