// Follows the configuration file of a running agent. Faults in its new contents are reported like those of objects.
import {
  type ConfigurationFile,
  type Reload,
  type ReloadTimes,
  watchConfiguration,
} from '../config/reload.js';
import { KIND } from '../config/schema.js';
import type { Problem } from '../errors.js';
import { kept } from '../input/fields.js';
import type { ProxyEvents } from '../proxy.js';
import type { ProxyHealth } from '../servers/health.js';
import { OpenProblems } from '../source/openProblems.js';

/** A configuration file to follow. */
export interface FollowedConfiguration extends Pick<Reload, 'read'> {
  /** The file as it was when the agent started. */
  readonly file: ConfigurationFile;
  /** Default: the times of {@link watchConfiguration}. */
  readonly times?: ReloadTimes;
}

/** Receivers of the reports. */
export interface ConfigurationListeners extends Pick<Reload, 'updated'> {
  /** Name of this node; events about faults are about its Node. */
  readonly node: string;
  readonly events: Pick<ProxyEvents, 'problems' | 'mended'>;
  readonly health: Pick<ProxyHealth, 'setUnread'>;
}

/** Follows the file until `close` or `updated` is called. Throws Node.js's error if it cannot be watched. */
export function followConfiguration(
  { file, read, times }: FollowedConfiguration,
  { node, events, health, updated }: ConfigurationListeners,
): { close(): void } {
  const problems = new OpenProblems(events);
  const damaged = (faults: readonly string[]) => {
    problems.set(
      file.path,
      faults.map((fault) => problemOf(file.path, fault, node)),
    );
    health.setUnread('configuration', faults.length > 0 ? [file.path] : []);
  };
  return watchConfiguration(file, { read, updated, damaged }, times);
}

function problemOf(path: string, fault: string, node: string): Problem {
  return kept({
    source: path,
    object: KIND,
    kind: KIND,
    field: 'contents',
    rule: fault,
    reference: { apiVersion: 'v1', kind: 'Node', name: node },
  });
}
