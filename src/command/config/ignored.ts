// Finds fields and flags that are set but have no effect. The log has a warning for each, once, at the start: no setting
// is ignored silently.
import { defaultConfiguration } from './configuration.js';
import { EFFECTIVE_GATES, LOCALHOST_NODE_PORTS, stageGate } from './featureGates.js';
import { FLAGS, type FlagValue } from './flags.js';
import { behaviourOf } from './mirroredVersion.js';
import { type KnownModes, modeNamed } from './modes.js';
import type { Configuration } from './schema.js';

const WINDOWS = 'it is only for Windows';
const UNBUFFERED = 'every log line is written at once, to standard error';

/** Fields and sections without effect in every mode, and the reason. */
const REASONS: Readonly<Record<string, string>> = {
  'clientConnection.acceptContentTypes': 'requests to the API server use JSON',
  'clientConnection.contentType': 'requests to the API server use JSON',
  configSyncPeriod: 'objects are not resynced, because audits read the kernel itself',
  featureGates: `the only gates with an effect are ${EFFECTIVE_GATES.join(', ')}`,
  'logging.flushFrequency': UNBUFFERED,
  'logging.options.json': UNBUFFERED,
  'logging.options.text': UNBUFFERED,
  'logging.vmodule': 'one verbosity applies to the whole program',
  portRange: 'it is unused, as in kube-proxy',
  showHiddenMetricsForVersion: 'there are no hidden metrics',
  windowsRunAsService: WINDOWS,
  winkernel: WINDOWS,
};

/** Flags without effect that set no field, and the reason. */
const FLAG_REASONS: Readonly<Record<string, string>> = {
  'boot-id-file': 'it is unused, as in kube-proxy',
  'machine-id-file': 'it is unused, as in kube-proxy',
};

const NO_API_SERVER = '--manifests is the source of objects';
const NO_AGENT = 'with --manifests, settings of the node are not changed';

/** Fields and sections without effect with `--manifests`, and the reason. */
const REASONS_WITH_MANIFESTS: Readonly<Record<string, string>> = {
  clientConnection: NO_API_SERVER,
  conntrack: NO_AGENT,
  oomScoreAdj: NO_AGENT,
};

const EFFECTIVE: ReadonlySet<string> = new Set(EFFECTIVE_GATES.map((gate) => `featureGates.${gate}`));

/** The reason why a field has no effect in any mode; undefined if it has one. */
export function whyIgnored(path: string, { definitions }: KnownModes): string | undefined {
  if (EFFECTIVE.has(path)) return undefined;
  const inModes = new Map(
    Object.entries(definitions).map(([mode, { unused }]) => [mode, reasonAmong(unused, path)]),
  );
  const reasons = [...inModes.values()];
  if (reasons.includes(undefined)) return reasonAmong(REASONS, path);
  // The mode that has a section of this name knows why: others say only that they do not use it.
  return reasonAmong(REASONS, path) ?? inModes.get(path.split('.', 1)[0] as string) ?? reasons[0];
}

function reasonAmong(reasons: Readonly<Record<string, string>>, path: string): string | undefined {
  return Object.entries(reasons).find(([prefix]) => path === prefix || path.startsWith(`${prefix}.`))?.[1];
}

/**
 * A warning for each field that differs from its default and has no effect.
 *
 * @param withManifests objects are read from manifests, and settings of the node are not changed
 */
export function ignoredFields(
  configuration: Configuration,
  withManifests: boolean,
  modes: KnownModes,
): string[] {
  const defaults = leaves(defaultConfiguration());
  const reasons = {
    ...modeNamed(configuration.mode, modes)?.unused,
    ...(withManifests ? REASONS_WITH_MANIFESTS : {}),
  };
  const byStage = `featureGates.${stageGate(LOCALHOST_NODE_PORTS, behaviourOf(configuration))}`;
  return [...leaves(configuration)].flatMap(([path, value]) => {
    const reason = whyIgnored(path, modes) ?? reasonAmong(reasons, path);
    if (reason === undefined || value === defaults.get(path) || path === byStage) return [];
    return [`${path} has no effect: ${reason}`];
  });
}

/**
 * A warning for each given flag that has no effect or is deprecated.
 *
 * @param mode `mode` of the configuration; undefined if it is unknown
 */
export function flagWarnings(
  given: ReadonlyMap<string, FlagValue>,
  mode: string | undefined,
  modes: KnownModes,
): string[] {
  const withConfig = Boolean(given.get('config'));
  return [...given.keys()].flatMap((name) => {
    const flag = FLAGS.get(name);
    const reason = FLAG_REASONS[name];
    if (reason !== undefined) return [`--${name} has no effect: ${reason}`];
    if ((name === 'master' || name === 'object-events') && given.get('manifests')) {
      return [`--${name} has no effect: ${NO_API_SERVER}`];
    }
    if (name === 'exit-on-config-change' && !withConfig)
      return [`--${name} has no effect: no --config is given`];
    // A clean-up removes the state of every mode.
    const others = given.get('cleanup') ? [] : modesThatUse(name, mode, modes);
    if (others.length > 0) return [`--${name} has no effect: only ${others.join(' and ')} mode uses it`];
    if (withConfig && !flag?.withConfig) return [`--${name} has no effect: --config is given`];
    return flag?.deprecated === undefined ? [] : [`Flag --${name} has been deprecated, ${flag.deprecated}`];
  });
}

/** The modes that have a flag of their own, if this one does not. An unknown mode is an error, without warnings. */
function modesThatUse(flag: string, mode: string | undefined, modes: KnownModes): string[] {
  if (mode === undefined || !modeNamed(mode, modes)) return [];
  const { definitions } = modes;
  const users = Object.keys(definitions).filter((name) => definitions[name]?.ownFlags.includes(flag));
  return users.includes(mode) ? [] : users;
}

/** Every value of a configuration as JSON, by its path; a list is one value. */
export function leaves(value: unknown, path = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return new Map([[path, JSON.stringify(value)]]);
  }
  return new Map(
    Object.entries(value).flatMap(([name, below]) => [
      ...leaves(below, path === '' ? name : `${path}.${name}`),
    ]),
  );
}
