// Checks a configuration file, and the flags of the agent. Pure.
import type { KernelCommand } from '../../config/commandLine.js';
import {
  blankModeWarning,
  type Configuration,
  completed,
  configurationErrors,
} from '../../config/configuration.js';
import { allAddressesRule } from '../../config/crossChecks.js';
import { DecodingError, decodeFile } from '../../config/file.js';
import { ignoredFields } from '../../config/ignored.js';
import { behaviourOf, provisionalVersionWarning } from '../../config/mirroredVersion.js';
import { modeNamed } from '../../config/modes.js';
import { MODES } from '../../modes/select.js';
import type { CheckedProblem } from './report.js';

/** Name of the checked object. */
const OBJECT = 'KubeProxyConfiguration';

/** The problems of a configuration file. */
interface CheckedConfiguration {
  readonly problems: readonly CheckedProblem[];
  /** It is neither YAML nor JSON. */
  readonly unreadable: boolean;
  /** Absent if it cannot be decoded. */
  readonly configuration?: Configuration;
}

/**
 * Checks the text of a file.
 *
 * @param flags those of the agent: whether it reads its objects from manifests, and the version of kube-proxy to mirror, if it is not
 *   that of the file
 */
export function checkConfiguration(
  file: string,
  text: string,
  { manifests, mirroredVersion }: Pick<KernelCommand, 'manifests' | 'mirroredVersion'>,
): CheckedConfiguration {
  try {
    const { configuration: decoded, strict } = decodeFile(text);
    const configuration = { ...decoded, mirroredVersion: mirroredVersion || decoded.mirroredVersion };
    const problems = [
      // The agent takes such a file with a warning, as kube-proxy does: it may be of another version.
      ...strict.map((rule) => lineProblem(file, rule, 'warning')),
      ...configurationProblems(file, completed(configuration, MODES)),
      ...configurationWarnings(file, configuration, manifests !== ''),
    ];
    return { problems, unreadable: false, configuration };
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    const lines = error.message.split('\n').map((line) => line.replace(/^failed to decode: /, ''));
    return {
      problems: lines.map((line) => lineProblem(file, line)),
      unreadable: lines.some((line) => line.startsWith('yaml: ')),
    };
  }
}

/** The problems of a decoded configuration. */
export function configurationProblems(file: string, configuration: Configuration): CheckedProblem[] {
  const errors = configurationErrors(configuration, MODES).map((line) => lineProblem(file, line));
  const selected = modeNamed(configuration.mode, MODES);
  const refused = (selected ? [selected] : Object.values(MODES.definitions)).flatMap((mode) =>
    mode.refusedValues(configuration),
  );
  return [
    ...errors,
    ...refused.map(({ field, value, rule }) => ({ ...at(file, field, rule, 'error'), value })),
  ];
}

/**
 * The fields that have no effect, or an effect that is rarely wanted.
 *
 * @param withManifests whether the agent reads its objects from manifests
 */
export function configurationWarnings(
  file: string,
  configuration: Configuration,
  withManifests: boolean,
): CheckedProblem[] {
  const ignored = ignoredFields(configuration, withManifests, MODES).map((line) => {
    const [field = '', ...reason] = line.split(' ');
    return at(file, field, reason.join(' '), 'warning');
  });
  if (configuration.mode === '') {
    ignored.push(at(file, 'mode', blankModeWarning(MODES, behaviourOf(configuration)), 'warning'));
  }
  const provisional = provisionalVersionWarning(behaviourOf(configuration));
  if (provisional !== undefined) ignored.push(at(file, 'mirroredVersion', provisional, 'warning'));
  if (configuration.detectLocalMode === 'ClusterCIDR' && configuration.clusterCIDR === '') {
    const rule = 'is blank: with detectLocalMode ClusterCIDR, no traffic is detected as that of local pods';
    ignored.push(at(file, 'clusterCIDR', rule, 'warning'));
  }
  const rule = allAddressesRule(configuration);
  if (rule !== undefined) ignored.push(at(file, 'clusterCIDR', rule, 'warning'));
  return ignored;
}

/**
 * A line of kube-proxy as a problem. The field is before the first colon or in quotes:
 * `failed validate: KubeProxyConfiguration.Mode.ProxyMode: Invalid value: "x": must be …`, `unknown field "ipvs.foo"`.
 */
export function lineProblem(
  file: string,
  line: string,
  level: CheckedProblem['level'] = 'error',
): CheckedProblem {
  const rule = line.replace(/^(failed (complete|validate|to decode)|initialize logging): /, '');
  const [, path, rest] = /^((?:KubeProxyConfiguration|logging)[\w.[\]]*): (.*)$/s.exec(rule) ?? [];
  if (path !== undefined && rest !== undefined) return at(file, path, rest, level);
  const [, quoted] = /^(?:unknown field|line \d+: key) "([^"]*)"/.exec(rule) ?? [];
  const [, decoded] = /Go struct field (\S+)/.exec(rule) ?? [];
  const [, gate] = /feature gate:? (\w+)/.exec(rule) ?? [];
  const [, missing] = /^Object '(\w+)' is missing/.exec(rule) ?? [];
  const field = quoted ?? decoded ?? missing ?? (gate === undefined ? 'contents' : `featureGates.${gate}`);
  return at(file, field, rule, level);
}

function at(file: string, field: string, rule: string, level: CheckedProblem['level']): CheckedProblem {
  return { file, object: OBJECT, field, rule, level };
}
