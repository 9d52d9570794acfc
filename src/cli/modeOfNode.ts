// The mode of a command that reads the kernel of this node.
import type { KernelCommand } from '../config/commandLine.js';
import type { Configuration } from '../config/configuration.js';
import { loadConfiguration } from '../config/load.js';
import { isMode, MODES } from '../modes/select/select.js';
import { askAgent, NoAnswer } from './agentClient.js';

/**
 * The mode that the flags select. If they select none, the mode of the agent, or of kube-proxy, that runs on this node; if none
 * answers, the default.
 *
 * @param configuration of the flags
 */
export async function modeOfNode(
  flags: Pick<KernelCommand, 'config' | 'given'>,
  configuration: Pick<Configuration, 'mode' | 'metricsBindAddress'>,
): Promise<string> {
  if (flags.config !== undefined || flags.given.get('proxy-mode')) return configuration.mode;
  try {
    const { status, text } = await askAgent(configuration.metricsBindAddress, '/proxyMode');
    // Any program may listen on the port.
    return status === 200 && /^[a-z]+$/.test(text) ? text : configuration.mode;
  } catch (error) {
    if (error instanceof NoAnswer) return configuration.mode;
    throw error;
  }
}

/**
 * The flags with the mode of the node: if they select none, with that of the proxy that runs on it. A mode of kube-proxy
 * that this proxy does not have changes nothing.
 */
export async function withModeOfNode(flags: KernelCommand): Promise<KernelCommand> {
  const { configuration } = loadConfiguration(flags, MODES);
  const mode = await modeOfNode(flags, configuration);
  if (mode === configuration.mode || !isMode(mode)) return flags;
  return { ...flags, given: new Map(flags.given).set('proxy-mode', mode) };
}
