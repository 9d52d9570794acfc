// Builds the configuration of a command from its flags and its configuration file.

import { hostname } from 'node:os';
import { ErrorWithNextStep } from '../../kernel/errors.js';
import type { KernelCommand } from './commandLine.js';
import {
  blankModeWarning,
  completed,
  configurationErrors,
  DEFAULT_PORTS,
  defaultConfiguration,
  withPort,
} from './configuration.js';
import { DecodingError, decodeFile } from './file.js';
import { FLAGS, type FlagValue, type VerbosityPattern } from './flags.js';
import { fileError } from './goSyntax.js';
import { flagWarnings, ignoredFields } from './ignored.js';
import { behaviourOf, provisionalVersionWarning } from './mirroredVersion.js';
import { type KnownModes, modeNamed } from './modes.js';
import { type ConfigurationFile, readConfigurationFile } from './reload.js';
import type { Configuration } from './schema.js';

/** An invalid configuration; the message has a line for each error. */
export class ConfigurationError extends ErrorWithNextStep {}

/** A validated configuration. */
export interface Loaded {
  readonly configuration: Configuration;
  /** The node's name: hostnameOverride, or the hostname. */
  readonly nodeName: string;
  /** The file that it was read from; undefined if it consists of flags alone. */
  readonly file: ConfigurationFile | undefined;
  /** Warnings about the configuration, to log at the start. */
  readonly notices: readonly string[];
}

/**
 * The configuration of a command: from the file if there is one, otherwise from the flags. With a file, only the flags
 * about the process and its log take effect. Throws {@link ConfigurationError}.
 */
export function loadConfiguration(command: KernelCommand, modes: KnownModes): Loaded {
  const { given } = command;
  const {
    configuration: source,
    warnings,
    file,
  } = command.config === undefined
    ? { configuration: fromFlags(given, modes), warnings: [], file: undefined }
    : readFile(command.config, given);
  const override = hostnameOverride(given);
  const mirroredVersion = command.mirroredVersion || source.mirroredVersion;
  const configuration = completed(
    {
      ...source,
      mirroredVersion,
      serviceSettings: command.serviceSettings ?? source.serviceSettings,
      serviceExternalIPRange: command.serviceExternalIPRange ?? source.serviceExternalIPRange,
      loadBalancerIPRange: command.loadBalancerIPRange ?? source.loadBalancerIPRange,
      ...(override === undefined ? {} : { hostnameOverride: override }),
    },
    modes,
  );
  const nodeName = (configuration.hostnameOverride || hostname()).trim().toLowerCase();
  const errors = configurationErrors(configuration, modes);
  if (nodeName === '') errors.push('empty hostname is invalid');
  if (errors.length > 0) throw new ConfigurationError(errors.join('\n'));
  const behaviour = behaviourOf(configuration);
  const isCleanUp = command.do === 'cleanup';
  const blankMode = source.mode === '' && !isCleanUp ? [`mode ${blankModeWarning(modes, behaviour)}`] : [];
  const provisional = provisionalVersionWarning(behaviour);
  const ofVersion = provisional === undefined ? [] : [`mirroredVersion ${provisional}`];
  const withManifests = command.manifests !== '' && !command.initOnly;
  const notices = [
    ...warnings,
    ...flagWarnings(given, configuration.mode, modes),
    ...blankMode,
    ...(isCleanUp ? [] : ofVersion),
    ...ignoredFields(configuration, withManifests, modes),
  ];
  return { configuration, nodeName, file, notices };
}

function readFile(path: string, given: ReadonlyMap<string, FlagValue>) {
  let file: ConfigurationFile;
  try {
    file = readConfigurationFile(path);
  } catch (error) {
    throw new ConfigurationError(`failed complete: ${fileError(error, path)}`);
  }
  try {
    const { configuration, warnings } = decodeFile(file.text);
    return { configuration: withLoggingFlags(configuration, given), warnings, file };
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    const lines = error.message.split('\n').map((line) => `failed complete: ${line}`);
    throw new ConfigurationError(lines.join('\n'));
  }
}

/** The defaults, overridden by the flags, including flags with a zero value. */
function fromFlags(given: ReadonlyMap<string, FlagValue>, modes: KnownModes): Configuration {
  const flagged = apply(defaultConfiguration(), given, () => true);
  const configuration = modeNamed(flagged.mode || modes.blank, modes)?.withFlags?.(flagged) ?? flagged;
  // kube-proxy ignores these two flags when it writes the configuration to a file.
  if (given.get('write-config-to')) return configuration;
  const address = (field: 'healthz' | 'metrics') => {
    const port = (given.get(`${field}-port`) as number | undefined) ?? DEFAULT_PORTS[field];
    return port === 0 ? '' : withPort(configuration[`${field}BindAddress`], port);
  };
  return { ...configuration, healthzBindAddress: address('healthz'), metricsBindAddress: address('metrics') };
}

/** Flags about logging override the file. The patterns of --vmodule are put before those of the file. */
function withLoggingFlags(
  configuration: Configuration,
  given: ReadonlyMap<string, FlagValue>,
): Configuration {
  const logged = apply(configuration, given, (field) => field.startsWith('logging.'));
  const patterns = given.get('vmodule') as readonly VerbosityPattern[] | undefined;
  if (patterns === undefined) return logged;
  const vmodule = [...patterns, ...configuration.logging.vmodule];
  return { ...logged, logging: { ...logged.logging, vmodule } };
}

/** The configuration, overridden by those flags whose field is wanted. */
function apply(
  configuration: Configuration,
  given: ReadonlyMap<string, FlagValue>,
  wanted: (field: string) => boolean,
): Configuration {
  const changed = structuredClone(configuration) as unknown as Record<string, unknown>;
  for (const [name, value] of given) {
    const field = FLAGS.get(name)?.field;
    if (field === undefined || !wanted(field) || isBlank(name, value)) continue;
    const steps = field.split('.');
    const last = steps.pop() as string;
    const holder = steps.reduce((object, step) => object[step] as Record<string, unknown>, changed);
    holder[last] = value;
  }
  return changed as unknown as Configuration;
}

/** Whether the value is empty text that changes nothing: that of an address or of --detect-local-mode. */
function isBlank(name: string, value: FlagValue): boolean {
  return value === '' && (name.endsWith('bind-address') || name === 'detect-local-mode');
}

/** The value of --hostname-override; undefined if the flag is not given or is empty. */
function hostnameOverride(given: ReadonlyMap<string, FlagValue>): string | undefined {
  const text = given.get('hostname-override') as string | undefined;
  if (text === undefined || text === '') return undefined;
  const name = text.trim().toLowerCase();
  if (name === '') throw new ConfigurationError('failed complete: empty hostname-override is invalid');
  return name;
}
