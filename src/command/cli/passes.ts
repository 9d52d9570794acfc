// One pass, and then an exit: --once, --cleanup, and the preview of plan and diff.
import type { Logger } from 'pino';
import type { Problem } from '../../kernel/errors.js';
import type { FormerMode, KeyedOperation } from '../../proxy/modes/mode.js';
import { createProxy, type ProxyEvents, type ProxyParts, type ServiceProxy } from '../../proxy/proxy.js';
import { type CleanUpSummary, cleanUp } from '../../proxy/reconcile/cleanUp.js';
import type { FormerModeEvents } from '../../proxy/reconcile/formerModes.js';
import type { PlannedOperation } from '../../proxy/reconcile/plannedOperation.js';
import type { AgentParts } from '../agent/agent.js';
import { inOrder } from '../agent/listeners.js';
import { logEvents, logFailures } from '../agent/logEvents.js';
import { servedAddresses } from '../config/servedAddresses.js';
import { settingRulesOf, settingRulesOn } from '../config/serviceSettings.js';
import type { UnusableFamily } from '../modes/iptablesRules/families.js';
import { MODES } from '../modes/select.js';
import type { OpenedMode } from '../modes/shared/definition.js';
import { FAILED } from './command.js';
import { describeCleanUp, describeSummary } from './summary.js';

/** The parts of a pass. */
export interface PassParts
  extends Pick<AgentParts, 'formerModes' | 'drainBound' | 'source' | 'node' | 'configuration' | 'log'> {
  readonly opened: {
    readonly mode: OpenedMode['mode'];
    readonly kernel: Pick<ProxyParts<unknown, KeyedOperation>, 'rtnetlink' | 'conntrack'>;
    readonly refusedSettings?: OpenedMode['refusedSettings'];
    readonly foreignChains?: OpenedMode['foreignChains'];
  };
  /** Prints the command's output. */
  readonly print: (text: string) => void;
  /** What clients notice when the mode follows these. Absent: nothing. */
  readonly changesAfter?: (former: ReadonlySet<string>) => readonly string[];
}

/** A full pass that was not applied. */
export interface Preview {
  /** In the order of their execution. */
  readonly operations: readonly PlannedOperation[];
  /** Names of the unreadable inputs. */
  readonly unread: readonly string[];
  /** What clients notice of the change of the mode. Absent: nothing. */
  readonly changes?: readonly string[];
  /** Addresses of Services that the configuration leaves out, each with the reason. Absent: none. */
  readonly refused?: readonly Problem[];
  /** Base chains of other programs in the tables of the mode, which stay. Absent: none. */
  readonly foreignChains?: readonly string[];
}

/**
 * Computes the operations of a full pass, and applies none. Status 0: none; 1: some; 2: an input or the state of a former
 * mode is unreadable.
 */
export async function runPreview(parts: PassParts, show: (preview: Preview) => void): Promise<number> {
  let unreadMode = false;
  const refused: Problem[] = [];
  const { proxy, unread } = proxyOf(parts, {
    refused: (addresses) => refused.push(...addresses),
    unswitched(mode, error) {
      unreadMode = true;
      parts.log.error({ mode, err: String(error) }, 'cannot read the items of another mode');
    },
  });
  const operations = await proxy.plan().finally(() => proxy.stop());
  const former = new Set(operations.flatMap(({ formerMode }) => formerMode ?? []));
  const foreignChains = parts.opened.foreignChains?.() ?? [];
  const changes = parts.changesAfter?.(former) ?? [];
  show({ operations, unread: unread(), changes, foreignChains, refused });
  if (unread().length > 0 || unreadMode) return FAILED;
  return operations.length === 0 ? 0 : 1;
}

/**
 * Programs the kernel and prints a summary. Status 1 if an operation failed, the state of a former mode could not be
 * removed, or an input is unreadable.
 */
export async function runOnce(parts: PassParts): Promise<number> {
  let unremoved = false;
  const { proxy, unread } = proxyOf(parts, {
    switched(_mode, summary) {
      unremoved ||= summary.failures.length > 0;
    },
    unswitched() {
      unremoved = true;
    },
  });
  const summary = await proxy.once();
  await proxy.stop();
  logFailures(parts.log, summary);
  parts.print(describeSummary(summary, unread()));
  return summary.failures.length === 0 && !unremoved && unread().length === 0 ? 0 : 1;
}

/** The parts of a clean-up. */
interface CleanUpParts {
  /** All modes. */
  readonly modes: readonly FormerMode[];
  /** Families that cannot be programmed. */
  readonly unusable: readonly UnusableFamily[];
  readonly log: Logger;
  /** Prints the command's output. */
  readonly print: (text: string) => void;
}

/**
 * Removes the items of all modes and prints the remaining ones. A mode or a family that cannot be read does not prevent
 * the removal of the others. Status 1 if items remain or something failed.
 */
export async function runCleanUp({ modes, unusable, log, print }: CleanUpParts): Promise<number> {
  let operations = 0;
  let failed = false;
  for (const { family, inKernel, reason } of unusable) {
    if (!inKernel) continue;
    failed = true;
    log.error({ err: reason }, `cannot remove the rules of IPv${family}`);
  }
  const summaries = new Map<string, Pick<CleanUpSummary, 'left' | 'used'>>();
  const remove = async ({ name, open }: FormerMode) => {
    try {
      summaries.delete(name);
      const state = await open();
      // `later`: the mode before it has failed.
      if (!state || state === 'later') return;
      const result = await cleanUp(state.mode).finally(() => state.close());
      logFailures(log, result);
      operations += result.operations;
      summaries.set(name, result);
      failed ||= result.failures.length > 0;
    } catch (error) {
      failed = true;
      log.error({ mode: name, err: String(error) }, 'cannot remove the items of a mode');
    }
  };
  for (const mode of modes) await remove(mode);
  // A mode leaves what rules of another mode use, which are gone now.
  for (const mode of modes) if (summaries.get(mode.name)?.used.length) await remove(mode);
  const all = [...summaries.values()];
  const left = all.flatMap((each) => each.left);
  const used = [...new Set(all.flatMap((each) => each.used))];
  print(describeCleanUp(operations, { left, used, failed }));
  return failed || left.length > 0 ? 1 : 0;
}

/**
 * A proxy for one pass, without watches, and the unreadable inputs of its source.
 *
 * @param special handlers of events; by default, all events are logged
 */
function proxyOf(
  { opened, formerModes = [], drainBound, source, node, configuration, log }: PassParts,
  special: FormerModeEvents & Pick<ProxyEvents, 'refused'> = {},
): {
  readonly proxy: ServiceProxy;
  readonly unread: () => readonly string[];
} {
  let unread: readonly string[] = [];
  const events = {
    ...inOrder([logEvents(log), special]),
    incomplete: (names: readonly string[]) => {
      unread = names;
    },
  };
  const proxy = createProxy({
    source,
    mode: opened.mode,
    formerModes,
    drainBound,
    rtnetlink: opened.kernel.rtnetlink,
    conntrack: opened.kernel.conntrack,
    watchHost: async () => ({ close() {} }),
    nodeName: node.name,
    bindAddress: configuration.bindAddress,
    ...servedAddresses(configuration),
    settingRules: settingRulesOn(settingRulesOf(configuration, MODES), opened.refusedSettings),
    events,
  });
  return { proxy, unread: () => unread };
}
