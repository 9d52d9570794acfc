// Reads the configuration file of a running agent again, and checks it as the next start will.

import { connectToApi } from '../api/connection.js';
import { crossCheck, type NodeSituation } from '../config/crossChecks.js';
import type { KernelCommand } from '../config/flags.js';
import { ConfigurationError, loadConfiguration } from '../config/load.js';
import type { ConfigurationFile } from '../config/reload.js';
import { type IpvsKernel, probeScheduler } from '../modes/ipvs/index.js';
import { schedulerOf } from './options.js';

/** What the file is checked against. */
export interface RecheckParts {
  readonly command: KernelCommand;
  /** The file as it was when the agent started. */
  readonly former: ConfigurationFile;
  readonly kernel: Pick<IpvsKernel, 'ipvs'>;
  /** The node, with the families that can be programmed; undefined where objects come from manifests. */
  readonly node: NodeSituation | undefined;
}

/**
 * Gives the file's text. Rejects with an Error whose message has a line for each fault that would end a start. A scheduler
 * that no virtual service has is probed in the kernel.
 */
export async function recheck({ command, former, kernel, node }: RecheckParts): Promise<string> {
  const { configuration, file } = loadConfiguration(command);
  const text = file?.text ?? '';
  // A start went well with the former contents.
  if (text === former.text) return text;
  if (node !== undefined) {
    const { faults } = crossCheck(configuration, node);
    if (faults.length > 0) throw new ConfigurationError(faults.join('\n'));
    // Sends nothing: only the kubeconfig and the files that it names are read.
    await connectToApi({ kubeconfig: configuration.clientConnection.kubeconfig, master: command.master });
  }
  await probeScheduler(kernel, schedulerOf(configuration));
  return text;
}
