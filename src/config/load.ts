// The command line, and the file it may name → the configuration to run with.
import { hostname } from 'node:os';
import { completed, DEFAULT_PORTS, defaultConfiguration, faultsOf, withPort } from './configuration.js';
import { DecodingError, decodeFile } from './file.js';
import type { KernelCommand } from './flags.js';
import { FLAGS } from './flagTable.js';
import type { FlagValue, VerbosityPattern } from './flagTypes.js';
import { fileFault } from './goSyntax.js';
import { ineffectiveFields, ineffectiveFlags } from './ineffective.js';
import { type ConfigurationFile, readConfigurationFile } from './reload.js';
import type { Configuration } from './schema.js';

/** A configuration that cannot be used: its message has a line for each thing that is wrong. */
export class ConfigurationError extends Error {}

/** A configuration, and what is logged at the start. */
export interface Loaded {
  readonly configuration: Configuration;
  /** The node's name, settled. */
  readonly nodeName: string;
  /** The file that it was read from, if it was. */
  readonly file: ConfigurationFile | undefined;
  /** What an operator should know of the configuration, a sentence each. */
  readonly notices: readonly string[];
}

/**
 * The configuration that a command runs with: the file's, where one is named, and that of the flags else. Of flags beside
 * a file, only those that are about the process itself count. Throws ConfigurationError.
 */
export function loadConfiguration(command: KernelCommand): Loaded {
  const { given } = command;
  const {
    configuration: said,
    warnings,
    file,
  } = command.config === undefined
    ? { configuration: fromFlags(given), warnings: [], file: undefined }
    : readFile(command.config, given);
  const override = hostnameOverride(given);
  const configuration = completed({
    ...said,
    mode: modeFor(command, said),
    ...(override === undefined ? {} : { hostnameOverride: override }),
  });
  const nodeName = (configuration.hostnameOverride || hostname()).trim().toLowerCase();
  const faults = faultsOf(configuration);
  if (nodeName === '') faults.push('empty hostname is invalid');
  if (faults.length > 0) throw new ConfigurationError(faults.join('\n'));
  const blank =
    said.mode === '' && command.do !== 'cleanup'
      ? ["mode is blank: ipvs mode is used; kube-proxy's blank means iptables mode"]
      : [];
  const besideManifests = command.manifests !== '' && !command.initOnly;
  const notices = [
    ...warnings,
    ...ineffectiveFlags(given),
    ...blank,
    ...ineffectiveFields(configuration, besideManifests),
  ];
  return { configuration, nodeName, file, notices };
}

/** A clean-up is one and the same for each of kube-proxy's modes, and so runs with the configuration of any of them. */
function modeFor(command: KernelCommand, { mode }: Configuration): string {
  return command.do === 'cleanup' && ['iptables', 'nftables'].includes(mode) ? 'ipvs' : mode;
}

function readFile(path: string, given: ReadonlyMap<string, FlagValue>) {
  let file: ConfigurationFile;
  try {
    file = readConfigurationFile(path);
  } catch (error) {
    throw new ConfigurationError(`failed complete: ${fileFault(error, path)}`);
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

/** The configuration of the flags alone: defaults, and above them what the flags say, zeros too. */
function fromFlags(given: ReadonlyMap<string, FlagValue>): Configuration {
  const configuration = apply(defaultConfiguration(), given, () => true);
  // kube-proxy heeds these two flags in no configuration that it writes to a file.
  if (given.get('write-config-to')) return configuration;
  const address = (field: 'healthz' | 'metrics') => {
    const port = (given.get(`${field}-port`) as number | undefined) ?? DEFAULT_PORTS[field];
    return port === 0 ? '' : withPort(configuration[`${field}BindAddress`], port);
  };
  return { ...configuration, healthzBindAddress: address('healthz'), metricsBindAddress: address('metrics') };
}

/** Flags about logging are above the file; patterns of both count, the flags' first. */
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

/** A configuration with the fields that flags set, of those that are asked for. */
function apply(
  configuration: Configuration,
  given: ReadonlyMap<string, FlagValue>,
  wanted: (field: string) => boolean,
): Configuration {
  const changed = structuredClone(configuration) as unknown as Record<string, unknown>;
  for (const [name, value] of given) {
    const field = FLAGS.get(name)?.sets;
    if (field === undefined || !wanted(field) || isBlank(name, value)) continue;
    const steps = field.split('.');
    const last = steps.pop() as string;
    const holder = steps.reduce((object, step) => object[step] as Record<string, unknown>, changed);
    holder[last] = value;
  }
  return changed as unknown as Configuration;
}

/** Whether a flag was given without saying anything: an address without text, or a mode without a name. */
function isBlank(name: string, value: FlagValue): boolean {
  return value === '' && (name.endsWith('bind-address') || name === 'detect-local-mode');
}

/** What --hostname-override says; undefined when it is not given or has no text. */
function hostnameOverride(given: ReadonlyMap<string, FlagValue>): string | undefined {
  const text = given.get('hostname-override') as string | undefined;
  if (text === undefined || text === '') return undefined;
  const name = text.trim().toLowerCase();
  if (name === '') throw new ConfigurationError('failed complete: empty hostname-override is invalid');
  return name;
}
