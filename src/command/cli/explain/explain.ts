// The command explain: the path of a packet through this node, as the kernel is programmed now.

import { canonicalAddress, familyOf } from '../../../kernel/net/address.js';
import { PROTOCOL_NUMBERS, type Protocol } from '../../../kernel/net/protocol.js';
import { openLog } from '../../agent/log.js';
import { type KernelCommand, UsageError } from '../../config/commandLine.js';
import { quote, splitHostPort } from '../../config/goSyntax.js';
import { loadConfiguration } from '../../config/load.js';
import type { Explanation, PacketQuestion, Verdict } from '../../explain/explanation.js';
import { readerOf } from '../../explain/read/select.js';
import { checkModeFlags, MODES } from '../../modes/select.js';
import { AnswerLimit } from '../answerLimit.js';
import type { CommandRunner } from '../command.js';
import { modeOfNode } from '../modeOfNode.js';
import { writeReport } from '../output/output.js';
import { findFrontend } from './objects.js';
import { explanationLines, type ServiceOfFrontend } from './text.js';

/** The result of the command: the JSON output. */
export type ExplainReport = Explanation & {
  /** The Service of the destination; absent if it is unknown. */
  readonly service?: ServiceOfFrontend;
  /** The Services that ask for the destination's address and may not have it, with the reason of each. Absent: none. */
  readonly refused?: readonly string[];
};

/** Verdicts with exit status 0: as far as this node decides, the client reaches the Service. */
const SUCCESSFUL: ReadonlySet<Verdict> = new Set(['connects', 'forwarded']);

/** `explain`. */
export const runExplain: CommandRunner = async ({ args: [target = ''], options, flags, output }) => {
  const from = options['from'] as string | undefined;
  const limit = new AnswerLimit(Number(options['timeout']));
  const report = await explain(readQuestion(target, from), flags, limit);
  writeReport(output, report, () => explanationLines(report, report.service, output.columns, report.refused));
  return SUCCESSFUL.has(report.verdict) ? 0 : 1;
};

/**
 * Explains the path of a packet. Changes nothing, and loads no module.
 *
 * Rejects with a NetlinkError if the kernel cannot be read (`ENOENT` without the module ip_vs, `EPERM` without
 * CAP_NET_ADMIN), and with an Error if the configuration or the objects cannot be read, or the mode explains nothing.
 *
 * @param flags the flags of the agent: the configuration, and the objects for the names of Services
 * @param limit of the API server
 */
async function explain(
  question: PacketQuestion,
  flags: KernelCommand,
  limit: AnswerLimit,
): Promise<ExplainReport> {
  checkModeFlags(flags);
  const loaded = loadConfiguration(flags, MODES);
  const { configuration } = loaded;
  const found = await findFrontend(flags, loaded, question, limit);
  const log = openLog(configuration.logging);
  const mode = await modeOfNode(flags, configuration);
  const explainer = await readerOf(mode).open({ configuration, command: flags, loadModules: false, log });
  try {
    const explanation = await explainer.explain(
      found ? { ...question, clusterIP: found.isClusterIP } : question,
    );
    return {
      ...explanation,
      ...(found?.service && { service: found.service }),
      ...(found?.refused && { refused: found.refused }),
    };
  } finally {
    explainer.close();
  }
}

// The arguments of explain: the frontend, and the client.

const PLACES: ReadonlySet<string> = new Set(['pod', 'node', 'outside']);

/**
 * Reads `IP:PORT[/PROTO]`, by default TCP, and `--from`. Throws UsageError.
 *
 * @param from an address, `pod`, `node` or `outside`; undefined: the default of the mode
 */
export function readQuestion(target: string, from: string | undefined): PacketQuestion {
  const [, dialled = '', written = 'tcp'] = /^(.*?)(?:\/([^/]*))?$/s.exec(target) ?? [];
  const protocol = written.toLowerCase();
  if (!Object.hasOwn(PROTOCOL_NUMBERS, protocol)) {
    throw new UsageError(`${quote(target)}: the protocol must be tcp, udp or sctp; found ${quote(written)}`);
  }
  const parts = splitHostPort(dialled);
  if (typeof parts === 'string') {
    throw new UsageError(`${quote(target)} is not IP:PORT[/PROTO], for example 10.96.0.10:53/udp: ${parts}`);
  }
  const address = canonicalAddress(parts.host);
  if (address === undefined)
    throw new UsageError(`${quote(target)}: ${quote(parts.host)} is not an IP address`);
  const port = /^\d{1,5}$/.test(parts.port) ? Number(parts.port) : 0;
  if (port < 1 || port > 65_535) {
    throw new UsageError(
      `${quote(target)}: the port must be a number from 1 to 65535; found ${quote(parts.port)}`,
    );
  }
  const question = { address, port, protocol: protocol as Protocol };
  return from === undefined ? question : { ...question, from: readClient(from, address) };
}

function readClient(from: string, destination: string): string {
  if (PLACES.has(from)) return from;
  const address = canonicalAddress(from);
  if (address === undefined) {
    throw new UsageError(`--from must be an IP address, pod, node or outside; found ${quote(from)}`);
  }
  if (familyOf(address) !== familyOf(destination)) {
    throw new UsageError(
      `--from must be an IPv${familyOf(destination)} address, like the destination; found ${quote(from)}`,
    );
  }
  return address;
}
