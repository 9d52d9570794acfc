// The mode of a command that reads the kernel of this node.

import { ErrorWithNextStep } from '../../kernel/errors.js';
import type { KernelCommand } from '../config/commandLine.js';
import type { Configuration } from '../config/configuration.js';
import { loadConfiguration } from '../config/load.js';
import { isMode, MODES, programmedModes } from '../modes/select.js';
import { askAgent, NoAnswer } from './agentClient.js';

/** Reads which modes have programmed the kernel. */
type ReadModes = () => Promise<readonly string[]>;

const SELECT = 'select the mode with --proxy-mode';

/**
 * The mode that the flags select. If they select none, the mode of the agent, or of kube-proxy, that runs on this node; if none
 * answers, the mode that has programmed the kernel. Rejects with an Error if none has, or several have.
 *
 * @param configuration of the flags
 */
export async function modeOfNode(
  flags: Pick<KernelCommand, 'config' | 'given'>,
  configuration: Pick<Configuration, 'mode' | 'metricsBindAddress'>,
  read: ReadModes = readModes,
): Promise<string> {
  const mode = await knownMode(flags, configuration, read);
  if (mode !== undefined) return mode;
  throw new ErrorWithNextStep('no proxy answers on this node, and no mode has programmed its kernel', SELECT);
}

/** As {@link modeOfNode}, but undefined if no mode has programmed the kernel. */
async function knownMode(
  flags: Pick<KernelCommand, 'config' | 'given'>,
  { mode, metricsBindAddress }: Pick<Configuration, 'mode' | 'metricsBindAddress'>,
  read: ReadModes,
): Promise<string | undefined> {
  if (flags.config !== undefined || flags.given.get('proxy-mode')) return mode;
  const [found, ...others] = (await runningMode(metricsBindAddress)) ?? (await read());
  if (others.length === 0) return found;
  const modes = [found, ...others].join(' and ');
  throw new ErrorWithNextStep(
    `no proxy answers on this node, and its kernel has the rules of ${modes} mode`,
    SELECT,
  );
}

/** The mode of the proxy that runs on this node, in a list; undefined if none answers. Any program may listen on the port. */
async function runningMode(metricsBindAddress: string): Promise<readonly string[] | undefined> {
  try {
    const { status, text } = await askAgent(metricsBindAddress, '/proxyMode');
    return status === 200 && /^[a-z]+$/.test(text) ? [text] : undefined;
  } catch (error) {
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}

async function readModes(): Promise<readonly string[]> {
  // Imported late: with an answer of the agent, the kernel is not asked.
  const { withSigns } = await import('../modes/shared/signs.js');
  return withSigns(programmedModes);
}

/**
 * The flags with the mode of the node: if they select none, with that of the proxy that runs on it, or that has programmed its
 * kernel; if there is none, as they are. A mode of kube-proxy that this proxy does not have changes nothing.
 */
export async function withModeOfNode(
  flags: KernelCommand,
  read: ReadModes = readModes,
): Promise<KernelCommand> {
  const { configuration } = loadConfiguration(flags, MODES);
  const mode = (await knownMode(flags, configuration, read)) ?? configuration.mode;
  if (mode === configuration.mode || !isMode(mode)) return flags;
  return { ...flags, given: new Map(flags.given).set('proxy-mode', mode) };
}
