// Reads the configuration file of a running agent again, and validates it as at a start.

import { connectToApi } from '../../proxy/api/connection.js';
import type { KernelCommand } from '../config/commandLine.js';
import { crossCheck, type NodeSituation } from '../config/crossChecks.js';
import { ConfigurationError, loadConfiguration } from '../config/load.js';
import type { ConfigurationFile, FoundConfiguration } from '../config/reload.js';
import { MODES } from '../modes/select.js';
import type { OpenedMode } from '../modes/shared/definition.js';

/** The parts for the validation of the file. */
interface RecheckParts {
  readonly command: KernelCommand;
  /** The file as it was when the agent started. */
  readonly former: ConfigurationFile;
  readonly mode: Pick<OpenedMode, 'probe'>;
  /** The node, with the families that can be programmed; undefined if the source is manifests. */
  readonly node: NodeSituation | undefined;
}

/**
 * Returns what the file has. Rejects with an Error with one line for each fault that would fail a start. A scheduler that
 * no virtual service uses is probed in the kernel.
 */
export async function recheck({ command, former, mode, node }: RecheckParts): Promise<FoundConfiguration> {
  const { configuration, file } = loadConfiguration(command, MODES);
  const text = file?.text ?? '';
  const found = { text, configuration };
  // A start succeeded with the former contents.
  if (text === former.text) return found;
  if (node !== undefined) {
    const { faults } = crossCheck(configuration, node);
    if (faults.length > 0) throw new ConfigurationError(faults.join('\n'));
    // Sends no request: reads only the kubeconfig and the files that it names.
    await connectToApi({ kubeconfig: configuration.clientConnection.kubeconfig, master: command.master });
  }
  await mode.probe(configuration);
  return found;
}
