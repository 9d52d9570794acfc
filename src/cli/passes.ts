// Commands that run one pass and exit: --once, plan, --cleanup.
import type { Logger } from 'pino';
import { logEvents, logFailures } from '../agent/logEvents.js';
import type { KernelCommand } from '../config/commandLine.js';
import type { Configuration } from '../config/configuration.js';
import type { OpenedMode } from '../modes/definition.js';
import type { KeyedOperation } from '../modes/mode.js';
import { createProxy, type ProxyParts, type ServiceProxy } from '../proxy.js';
import { cleanUp } from '../reconcile/cleanUp.js';
import type { NodeFacts } from '../services/types.js';
import type { Source } from '../source/source.js';
import { planJson, planText } from './plan.js';
import { describeCleanUp, describeSummary } from './summary.js';

/** The parts of a pass. */
export interface PassParts {
  readonly opened: {
    readonly mode: OpenedMode['mode'];
    readonly kernel: Pick<ProxyParts<unknown, KeyedOperation>, 'rtnetlink' | 'conntrack'>;
  };
  readonly source: Source;
  readonly node: NodeFacts;
  readonly configuration: Configuration;
  readonly log: Logger;
  /** Prints the command's output. */
  readonly print: (text: string) => void;
}

/** Prints the planned operations without applying them. Status 0: none; 1: some; 2: an input is unreadable. */
export async function runPlan(parts: PassParts, output: KernelCommand['output']): Promise<number> {
  const { proxy, unread } = proxyOf(parts);
  const operations = await proxy.plan();
  await proxy.stop();
  parts.print(output === 'json' ? planJson(operations, unread()) : planText(operations, unread()));
  if (unread().length > 0) return 2;
  return operations.length === 0 ? 0 : 1;
}

/** Programs the kernel and prints a summary. Status 1 if an operation failed or an input is unreadable. */
export async function runOnce(parts: PassParts): Promise<number> {
  const { proxy, unread } = proxyOf(parts);
  const summary = await proxy.once();
  await proxy.stop();
  logFailures(parts.log, summary);
  parts.print(describeSummary(summary, unread()));
  return summary.failures.length === 0 && unread().length === 0 ? 0 : 1;
}

/** Removes all our items and prints the remaining ones. Status 1 if items remain or an operation failed. */
export async function runCleanUp(mode: Parameters<typeof cleanUp>[0], log: Logger): Promise<number> {
  const result = await cleanUp(mode);
  const { operations, failures, left } = result;
  logFailures(log, result);
  process.stdout.write(describeCleanUp(operations, left));
  return failures.length === 0 && left.length === 0 ? 0 : 1;
}

/** A proxy for one pass, without watches, and the unreadable inputs of its source. */
function proxyOf({ opened, source, node, configuration, log }: PassParts): {
  readonly proxy: ServiceProxy;
  readonly unread: () => readonly string[];
} {
  let unread: readonly string[] = [];
  const events = {
    ...logEvents(log),
    incomplete: (names: readonly string[]) => {
      unread = names;
    },
  };
  const proxy = createProxy({
    source,
    mode: opened.mode,
    rtnetlink: opened.kernel.rtnetlink,
    conntrack: opened.kernel.conntrack,
    watchHost: async () => ({ close() {} }),
    nodeName: node.name,
    bindAddress: configuration.bindAddress,
    events,
  });
  return { proxy, unread: () => unread };
}
