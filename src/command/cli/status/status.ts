// The command status: the state of the running agent, from its health and metrics ports.
import type { Configuration } from '../../config/configuration.js';
import { loadConfiguration } from '../../config/load.js';
import { MODES } from '../../modes/select.js';
import { askAgent, NoAnswer } from '../agentClient.js';
import type { CommandRunner } from '../command.js';
import { writeReport } from '../output/output.js';
import { decodeAgentReport, decodeHealth, type StatusReport, statusLines, statusReport } from './report.js';

/** `status`. */
export const runStatus: CommandRunner = async ({ options, flags, output }) => {
  const { configuration } = loadConfiguration(flags, MODES);
  const report = await readStatus(configuration, Number(options['timeout']) * 1000);
  writeReport(output, report, (layout) => statusLines(report, Date.now(), layout));
  return report.good ? 0 : 1;
};

/**
 * Asks both servers of the agent. Rejects with {@link NoAnswer} if one of them does not answer as an agent does.
 *
 * @param milliseconds time limit of each request
 */
export async function readStatus(
  {
    healthzBindAddress,
    metricsBindAddress,
  }: Pick<Configuration, 'healthzBindAddress' | 'metricsBindAddress'>,
  milliseconds: number,
): Promise<StatusReport> {
  const [healthz, status] = await Promise.all([
    askAgent(healthzBindAddress, '/healthz', milliseconds),
    askAgent(metricsBindAddress, '/status', milliseconds),
  ]);
  const health = decodeHealth(healthz.status, healthz.text);
  if (!health)
    throw new NoAnswer(
      `the program at ${healthzBindAddress} is not the agent: /healthz is ${healthz.status}`,
    );
  const agent = status.status === 200 ? decodeAgentReport(status.text) : undefined;
  if (!agent) {
    const reason = status.status === 404 ? 'it may be kube-proxy' : `/status is ${status.status}`;
    throw new NoAnswer(`the program at ${metricsBindAddress} is not the agent: ${reason}`);
  }
  return statusReport(health, agent);
}
