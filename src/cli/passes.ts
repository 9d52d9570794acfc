// Commands that make one pass and end: --once, plan, --cleanup.
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
  /** Takes the command's output. */
  readonly print: (text: string) => void;
}

/** Prints what would change, and changes nothing. Status 0: nothing would; 1: something; 2: not everything can be read. */
export async function runPlan(parts: PassParts, output: KernelCommand['output']): Promise<number> {
  const { proxy, unread } = proxyOf(parts);
  const operations = await proxy.plan();
  await proxy.stop();
  parts.print(output === 'json' ? planJson(operations, unread()) : planText(operations, unread()));
  if (unread().length > 0) return 2;
  return operations.length === 0 ? 0 : 1;
}

/** Programs the kernel and prints what was done. Status 1 when something failed, or not everything could be read. */
export async function runOnce(parts: PassParts): Promise<number> {
  const { proxy, unread } = proxyOf(parts);
  const summary = await proxy.once();
  await proxy.stop();
  logFailures(parts.log, summary);
  parts.print(describeSummary(summary, unread()));
  return summary.failures.length === 0 && unread().length === 0 ? 0 : 1;
}

/** Removes everything of ours and prints what is left. Status 1 when something is. */
export async function runCleanUp(mode: Parameters<typeof cleanUp>[0], log: Logger): Promise<number> {
  const result = await cleanUp(mode);
  const { operations, failures, left } = result;
  logFailures(log, result);
  process.stdout.write(describeCleanUp(operations, left));
  return failures.length === 0 && left.length === 0 ? 0 : 1;
}

/** A proxy that is never started, and so watches nothing; and what its source could not read. */
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
