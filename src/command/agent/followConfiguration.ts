// Follows the configuration file of a running agent. Faults in its new contents are reported like those of objects. A change of valid
// contents never ends all agents of a fleet at once: fields that move traffic wait for the next start.
import type { Logger } from 'pino';
import type { Problem } from '../../kernel/errors.js';
import { kept } from '../../proxy/input/fields.js';
import type { ProxyEvents } from '../../proxy/proxy.js';
import { OpenProblems } from '../../proxy/source/openProblems.js';
import { changedFields, withAppliedFields } from '../config/changes.js';
import type { Configuration } from '../config/configuration.js';
import type { KnownModes } from '../config/modes.js';
import {
  type ConfigurationFile,
  type FoundConfiguration,
  hashOf,
  type Reload,
  type ReloadTimes,
  watchConfiguration,
} from '../config/reload.js';
import { KIND } from '../config/schema.js';
import type { ProxyHealth } from '../health/proxyHealth.js';
import type { Metrics } from '../servers/metrics.js';
import type { Announcer } from './announce.js';
import { levelOf } from './log.js';

/** A configuration file to follow. */
export interface FollowedConfiguration extends Pick<Reload, 'read'> {
  /** The file as it was when the agent started. */
  readonly file: ConfigurationFile;
  /** The configuration of the start, with the flags. */
  readonly configuration: Configuration;
  /** End the agent when the contents change: `--exit-on-config-change`. */
  readonly exitsOnChange?: boolean;
  /** Default: the times of {@link watchConfiguration}. */
  readonly times?: ReloadTimes;
}

/** The parts to which the file is reported. */
interface ConfigurationListeners {
  /** Name of this node; events about faults are about its Node. */
  readonly node: string;
  readonly log: Pick<Logger, 'info' | 'warn' | 'level'>;
  readonly modes: KnownModes;
  readonly events: Pick<ProxyEvents, 'problems' | 'mended'>;
  readonly health: Pick<ProxyHealth, 'setUnread'>;
  readonly metrics: Pick<Metrics, 'own'>;
  readonly announcer: Pick<Announcer, 'configurationWaits'>;
  /** The contents have changed, and the agent has to end. */
  readonly exit: () => void;
}

/** The configuration file of a running agent. */
export interface ConfigurationReport {
  /** SHA-256 of the contents in force: those of the start, or later ones of which nothing waits. */
  readonly inForce: string;
  /** SHA-256 of the last valid contents that the file had. */
  readonly found: string;
  /** Paths of the fields that differ, and wait for the next start. */
  readonly waiting: readonly string[];
}

/** A configuration file that is followed until `close` is called. The constructor throws Node.js's error if it cannot be watched. */
export class ConfigurationFollower {
  readonly #listeners: ConfigurationListeners;
  readonly #path: string;
  readonly #exitsOnChange: boolean;
  readonly #problems: OpenProblems;
  readonly #watch: { close(): void };
  #configuration: Configuration;
  #report: ConfigurationReport;

  constructor(
    { file, configuration, read, exitsOnChange = false, times }: FollowedConfiguration,
    listeners: ConfigurationListeners,
  ) {
    this.#listeners = listeners;
    this.#path = file.path;
    this.#exitsOnChange = exitsOnChange;
    this.#problems = new OpenProblems(listeners.events);
    this.#configuration = configuration;
    const hash = hashOf(file.text);
    this.#report = { inForce: hash, found: hash, waiting: [] };
    this.#show();
    const reload: Reload = {
      read,
      updated: (found) => this.#updated(found),
      damaged: (faults) => this.#damaged(faults),
    };
    this.#watch = watchConfiguration(file, reload, times);
  }

  /** The configuration in force. */
  get configuration(): Configuration {
    return this.#configuration;
  }

  /** What is in force, and what waits. */
  get report(): ConfigurationReport {
    return this.#report;
  }

  close(): void {
    this.#watch.close();
  }

  #show(): void {
    const { inForce, found, waiting } = this.#report;
    const { configuration, configurationWaiting } = this.#listeners.metrics.own;
    configuration.reset();
    configuration.set({ in_force: inForce, found }, 1);
    configurationWaiting.set(waiting.length);
  }

  #updated({ text, configuration }: FoundConfiguration): void {
    const { log, modes, announcer, exit } = this.#listeners;
    if (this.#exitsOnChange) {
      this.close();
      exit();
      return;
    }
    const { applied, waiting } = changedFields(this.#configuration, configuration, modes);
    this.#configuration = withAppliedFields(this.#configuration, configuration);
    if (applied.includes('logging.verbosity')) log.level = levelOf(configuration.logging.verbosity);
    const found = hashOf(text);
    const inForce = waiting.length === 0 ? found : this.#report.inForce;
    this.#report = { inForce, found, waiting };
    this.#show();
    const file = this.#path;
    if (waiting.length === 0) {
      log.info({ file, applied }, 'the configuration file has changed; all of it is in force');
      return;
    }
    log.warn(
      { file, waiting, applied, inForce, found },
      'the configuration file has changed; these fields wait for the next start of the agent: replace the pod',
    );
    announcer.configurationWaits(file, waiting);
  }

  #damaged(faults: readonly string[]): void {
    const { node, health } = this.#listeners;
    this.#problems.set(
      this.#path,
      faults.map((fault) => problemOf(this.#path, fault, node)),
    );
    health.setUnread('configuration', faults.length > 0 ? [this.#path] : []);
  }
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
