// What is set and has no effect here. Each is told once, at the start: nothing that an operator writes is passed over in
// silence.
import { defaultConfiguration } from './configuration.js';
import { EFFECTIVE_GATES } from './featureGates.js';
import { FLAGS } from './flagTable.js';
import type { FlagValue } from './flagTypes.js';
import type { Configuration } from './schema.js';

const WINDOWS = 'it is for Windows';
const OTHER_MODE = 'it is for another mode than ipvs';
const UNBUFFERED = 'every line of the log is written at once, to standard error';

/** Fields, or whole sections, without effect, and why. */
const REASONS: Readonly<Record<string, string>> = {
  'clientConnection.acceptContentTypes': 'the API server is spoken to in JSON',
  'clientConnection.contentType': 'the API server is spoken to in JSON',
  configSyncPeriod: 'objects are not handed out again, because a pass looks at the kernel itself',
  featureGates: `the only gates that change something here are ${EFFECTIVE_GATES.join(', ')}`,
  'iptables.localhostNodePorts': 'in ipvs mode node ports never stand on loopback',
  'iptables.minSyncPeriod': OTHER_MODE,
  'iptables.syncPeriod': OTHER_MODE,
  'logging.flushFrequency': UNBUFFERED,
  'logging.options.json': UNBUFFERED,
  'logging.options.text': UNBUFFERED,
  'logging.vmodule': 'one verbosity counts for the whole program',
  nftables: OTHER_MODE,
  portRange: 'nothing uses it, in kube-proxy neither',
  showHiddenMetricsForVersion: 'there are no hidden metrics',
  windowsRunAsService: WINDOWS,
  winkernel: WINDOWS,
};

/** Flags without effect that set no field, and why. */
const FLAG_REASONS: Readonly<Record<string, string>> = {
  'boot-id-file': 'nothing uses it, in kube-proxy neither',
  'machine-id-file': 'nothing uses it, in kube-proxy neither',
};

const BY_MANIFESTS = 'objects come from --manifests';
const NO_AGENT = 'with --manifests, settings of the node are left alone';

/** Fields, or whole sections, without effect where objects come from manifests, and why. */
const REASONS_BESIDE_MANIFESTS: Readonly<Record<string, string>> = {
  clientConnection: BY_MANIFESTS,
  conntrack: NO_AGENT,
  oomScoreAdj: NO_AGENT,
};

const EFFECTIVE: ReadonlySet<string> = new Set(EFFECTIVE_GATES.map((gate) => `featureGates.${gate}`));

/** Why a field has no effect here; undefined when it has. */
export function whyIneffective(path: string): string | undefined {
  return EFFECTIVE.has(path) ? undefined : reasonAmong(REASONS, path);
}

function reasonAmong(reasons: Readonly<Record<string, string>>, path: string): string | undefined {
  return Object.entries(reasons).find(([prefix]) => path === prefix || path.startsWith(`${prefix}.`))?.[1];
}

/**
 * A sentence for each field that is set to other than its default and has no effect.
 *
 * @param besideManifests objects come from manifests, and the node's settings are not made
 */
export function ineffectiveFields(configuration: Configuration, besideManifests: boolean): string[] {
  const defaults = leaves(defaultConfiguration());
  const reasons = besideManifests ? REASONS_BESIDE_MANIFESTS : {};
  return [...leaves(configuration)].flatMap(([path, value]) => {
    const reason = whyIneffective(path) ?? reasonAmong(reasons, path);
    if (reason === undefined || value === defaults.get(path)) return [];
    return [`${path} has no effect: ${reason}`];
  });
}

/** A sentence for each flag that was given and has no effect. */
export function ineffectiveFlags(given: ReadonlyMap<string, FlagValue>): string[] {
  const withConfig = Boolean(given.get('config'));
  return [...given.keys()].flatMap((name) => {
    const flag = FLAGS.get(name);
    const reason = FLAG_REASONS[name];
    if (reason !== undefined) return [`--${name} has no effect: ${reason}`];
    if (name === 'master' && given.get('manifests')) {
      return [`--master has no effect: ${BY_MANIFESTS}`];
    }
    if (withConfig && !flag?.beside) return [`--${name} has no effect: --config is given`];
    return flag?.deprecated === undefined ? [] : [`Flag --${name} has been deprecated, ${flag.deprecated}`];
  });
}

/** Every value of a configuration by its path, lists and gates as one value each. */
function leaves(value: unknown, path = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return new Map([[path, JSON.stringify(value)]]);
  }
  return new Map(
    Object.entries(value).flatMap(([name, below]) => [
      ...leaves(below, path === '' ? name : `${path}.${name}`),
    ]),
  );
}
