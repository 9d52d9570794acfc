// Validates a configuration, with the rules, messages and field paths of the mirrored kube-proxy.
import { canonicalAddress, familyOf } from '../../kernel/net/address.js';
import { formatNetwork, parseNetwork } from '../../kernel/net/network.js';
import { formatDuration } from './duration.js';
import { isGateOn } from './featureGates.js';
import { FieldErrors } from './fieldErrors.js';
import { MAX_INT32, quote, splitHostPort } from './goSyntax.js';
import { type Behaviour, behaviourOf, mirroredVersionRule } from './mirroredVersion.js';
import { firstOf, type KnownModes, type ModeConfiguration, modeNamed } from './modes.js';
import { isNodePortKeyword, NODE_PORT_KEYWORDS } from './nodePortAddresses.js';
import type { Configuration } from './schema.js';
import { rangeRule } from './servedAddresses.js';
import { settingRule } from './serviceSettings.js';

const CIDR_EXAMPLES = '(e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)';
const POSITIVE = 'must be greater than 0';

/** The errors of a configuration; none if it is valid. kube-proxy prefixes them with `failed validate: `. */
export function validationErrors(configuration: Configuration, modes: KnownModes): string[] {
  const errors = new FieldErrors('KubeProxyConfiguration');
  validateKernel(errors, configuration, modes);
  validateMode(errors, configuration, modes);
  errors.atLeastZero('ClientConnection.Burst', configuration.clientConnection.burst);
  validatePeriods(errors, configuration, modes);
  validateAddresses(errors, configuration);
  if (!isPortRange(configuration.portRange)) {
    errors.invalid('PortRange', configuration.portRange, 'must be a valid port range (e.g. 300-2000)');
  }
  const behaviour = behaviourOf(configuration);
  validateNodePortAddresses(errors, configuration.nodePortAddresses, behaviour);
  const hidden = configuration.showHiddenMetricsForVersion;
  const { previousVersion } = behaviour;
  if (hidden !== '' && hidden !== previousVersion) {
    const rule = `--show-hidden-metrics-for-version must be omitted or have the value '${previousVersion}'. Only the previous minor version is allowed`;
    errors.invalid('ShowHiddenMetricsForVersion', hidden, rule);
  }
  validateDetectLocal(errors, configuration);
  const versionRule = mirroredVersionRule(configuration.mirroredVersion);
  if (versionRule !== undefined)
    errors.invalid('MirroredVersion', configuration.mirroredVersion, versionRule);
  for (const [i, name] of configuration.serviceSettings.entries()) {
    const rule = settingRule(name);
    if (rule !== undefined) errors.invalid(`ServiceSettings[${i}]`, name, rule);
  }
  for (const [field, list] of [
    ['ServiceExternalIPRange', configuration.serviceExternalIPRange],
    ['LoadBalancerIPRange', configuration.loadBalancerIPRange],
  ] as const) {
    for (const [i, text] of list.entries()) {
      const rule = rangeRule(text, list);
      if (rule !== undefined) errors.invalid(`${field}[${i}]`, text, rule);
    }
  }
  return errors.lines;
}

/** The errors of the `logging` section. kube-proxy prefixes them with `initialize logging: `. */
export function loggingErrors({ logging, featureGates }: Configuration): string[] {
  const errors = new FieldErrors('logging');
  if (logging.flushFrequency <= 0) {
    errors.invalid('flushFrequency', formatDuration(logging.flushFrequency), 'Must be greater than zero');
  }
  if (logging.format !== 'text' && logging.format !== 'json') {
    errors.invalid('format', logging.format, 'Unsupported log format');
  }
  const bound = (field: string, value: number) => {
    if (value > MAX_INT32) errors.invalid(field, value, `Must be <= ${MAX_INT32}`);
  };
  bound('verbosity', logging.verbosity);
  if (logging.vmodule.length > 0 && logging.format !== 'text') {
    errors.other('vmodule', 'Forbidden', 'Only supported for text log format');
  }
  for (const [i, { filePattern, verbosity }] of logging.vmodule.entries()) {
    const field = `vmodule[${i}]`;
    if (filePattern === '') errors.other(field, 'Required value', 'File pattern must not be empty');
    if (/[=,]/.test(filePattern)) {
      errors.invalid(field, filePattern, 'File pattern must not contain equal sign or comma');
    }
    bound(field, verbosity);
  }
  for (const format of ['text', 'json'] as const) {
    const { splitStream, infoBufferSize } = logging.options[format];
    if (featureGates['LoggingAlphaOptions'] ?? featureGates['AllAlpha'] ?? false) continue;
    const rule = 'Feature LoggingAlphaOptions is disabled';
    if (splitStream) errors.other(`options.${format}.splitStream`, 'Forbidden', rule);
    if (!/^[+-]?0*\.?0*([a-zA-Z]|$)/.test(infoBufferSize)) {
      errors.other(`options.${format}.infoBufferSize`, 'Forbidden', rule);
    }
  }
  return errors.lines;
}

function validateKernel(
  errors: FieldErrors,
  configuration: Configuration,
  { definitions }: KnownModes,
): void {
  const { mode, iptables, conntrack, oomScoreAdj } = configuration;
  if (iptables.masqueradeBit < 0 || iptables.masqueradeBit > 31) {
    const field = 'KubeProxyIPTablesConfiguration.MasqueradeBit';
    errors.invalid(field, iptables.masqueradeBit, 'must be within the range [0, 31]');
  }
  for (const [name, definition] of Object.entries(definitions)) {
    definition.validate(configuration, errors, name === mode);
  }
  const inLinux = (field: string) => `KubeProxyLinuxConfiguration.${field}`;
  const inConntrack = (field: string) => inLinux(`KubeProxyConntrackConfiguration.${field}`);
  errors.atLeastZero(inConntrack('MaxPerCore'), conntrack.maxPerCore);
  errors.atLeastZero(inConntrack('Min'), conntrack.min);
  errors.durationAtLeastZero(inConntrack('TCPEstablishedTimeout'), conntrack.tcpEstablishedTimeout);
  errors.durationAtLeastZero(inConntrack('TCPCloseWaitTimeout'), conntrack.tcpCloseWaitTimeout);
  errors.durationAtLeastZero(inConntrack('UDPTimeout'), conntrack.udpTimeout);
  errors.durationAtLeastZero(inConntrack('UDPStreamTimeout'), conntrack.udpStreamTimeout);
  if (oomScoreAdj < -1000 || oomScoreAdj > 1000) {
    errors.invalid(inLinux('OOMScoreAdj'), oomScoreAdj, 'must be within the range [-1000, 1000]');
  }
}

function validateMode(errors: FieldErrors, configuration: Configuration, modes: KnownModes): void {
  const { definitions, blank } = modes;
  const { mode } = configuration;
  const isAllowed = (name: string) => isModeAllowed(modeNamed(name, modes), configuration);
  if (isAllowed(mode)) return;
  const names = Object.keys(definitions).filter(isAllowed).sort().join(', ');
  const rule = `must be ${names} or blank (blank means the best-available proxy [currently ${blank}])`;
  errors.invalid('Mode.ProxyMode', mode, rule);
}

/** Whether a mode exists and its feature gate, if it has one, is not off. */
function isModeAllowed(mode: ModeConfiguration | undefined, configuration: Configuration): boolean {
  if (!mode) return false;
  return (
    mode.gate === undefined || isGateOn(mode.gate, configuration.featureGates, behaviourOf(configuration))
  );
}

/** kube-proxy validates only the periods of the section of its mode. For an unknown mode, they are those of the first one. */
function validatePeriods(errors: FieldErrors, configuration: Configuration, modes: KnownModes): void {
  const { configSyncPeriod } = configuration;
  const mode = (modeNamed(configuration.mode, modes) ??
    modeNamed(firstOf(modes), modes)) as ModeConfiguration;
  const { syncPeriod, minSyncPeriod } = mode.periods(configuration);
  if (configSyncPeriod <= 0) errors.invalid('ConfigSyncPeriod', formatDuration(configSyncPeriod), POSITIVE);
  if (syncPeriod <= 0) errors.invalid('SyncPeriod', formatDuration(syncPeriod), POSITIVE);
  errors.durationAtLeastZero('MinSyncPeriod', minSyncPeriod);
  if (minSyncPeriod > syncPeriod) {
    // kube-proxy prints the value of the other field here.
    const rule = 'must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod';
    errors.invalid('SyncPeriod', formatDuration(minSyncPeriod), rule);
  }
}

function validateAddresses(
  errors: FieldErrors,
  { bindAddress, healthzBindAddress, metricsBindAddress }: Configuration,
): void {
  if (canonicalAddress(bindAddress) === undefined) {
    errors.invalid('BindAddress', bindAddress, 'not a valid textual representation of an IP address');
  }
  if (healthzBindAddress !== '') validateHostPort(errors, 'HealthzBindAddress', healthzBindAddress);
  validateHostPort(errors, 'MetricsBindAddress', metricsBindAddress);
}

function validateHostPort(errors: FieldErrors, field: string, text: string): void {
  const parts = splitHostPort(text);
  if (typeof parts === 'string') {
    errors.invalid(field, text, 'must be IP:port');
    return;
  }
  const { host, port } = parts;
  if (canonicalAddress(host) === undefined) errors.invalid(field, host, 'must be a valid IP');
  if (!isPort(port)) errors.invalid(field, port, 'must be a valid port');
}

function isPort(text: string): boolean {
  return /^[+]?[0-9]+$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

/** Whether the text is `N`, `N-M`, `N+COUNT` or empty. */
export function isPortRange(text: string): boolean {
  const [whole, base = '', sign, second = ''] = /^(\d+)(?:([-+])(\d+))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) return text.trim() === '';
  const first = Number(base);
  const last = sign === '-' ? Number(second) : Math.min(first + Number(second), 65_535);
  return first <= 65_535 && last <= 65_535 && last >= first;
}

function validateNodePortAddresses(
  errors: FieldErrors,
  addresses: readonly string[],
  { mixedNodePortAddresses }: Behaviour,
): void {
  for (const [i, address] of addresses.entries()) {
    if (mixedNodePortAddresses) {
      // The words of kube-proxy 1.37 were not determined.
      if (!isNodePortKeyword(address) && !parseNetwork(address)) {
        const rule = `must be a valid CIDR or one of ${NODE_PORT_KEYWORDS.join(', ')}`;
        errors.invalid(`NodePortAddresses[${i}]`, address, rule);
      }
      continue;
    }
    if (address === 'primary') {
      if (addresses.length > 1) {
        errors.invalid(`NodePortAddresses[${i}]`, address, "can't use both 'primary' and CIDRs");
      }
      return;
    }
    if (!parseNetwork(address)) errors.invalid(`NodePortAddresses[${i}]`, address, 'must be a valid CIDR');
  }
}

const LOCAL_MODES = ['ClusterCIDR', 'NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix', ''];

function validateDetectLocal(
  errors: FieldErrors,
  { detectLocalMode, detectLocal, clusterCIDR }: Configuration,
): void {
  const below = (field: string) => `DetectLocalConfiguration.${field}`;
  const device = (field: string, name: string) => {
    if (name === '') errors.invalid(below(field), name, 'must not be empty');
    // IFNAMSIZ, 16, minus the terminator. kube-proxy has no such rule: iptables then rejects all its rules.
    if (name.length > 15 || /[\s/]/.test(name)) {
      errors.invalid(below(field), name, 'must be an interface name of at most 15 characters');
    }
  };
  switch (detectLocalMode) {
    case 'ClusterCIDR':
      if (clusterCIDR !== '') validateClusterCIDRs(errors, below('ClusterCIDRs'), clusterCIDR.split(','));
      break;
    case 'NodeCIDR':
      break;
    case 'BridgeInterface':
      device('InterfaceName', detectLocal.bridgeInterface);
      break;
    case 'InterfaceNamePrefix':
      device('InterfacePrefix', detectLocal.interfaceNamePrefix);
      break;
    default:
      errors.other(
        'DetectLocalMode',
        `Unsupported value: ${quote(detectLocalMode)}`,
        `supported values: ${LOCAL_MODES.map(quote).join(', ')}`,
      );
  }
}

function validateClusterCIDRs(errors: FieldErrors, field: string, networks: readonly string[]): void {
  // kube-proxy does not close the bracket either.
  const pair =
    'must be a either a single CIDR or dual-stack pair of CIDRs (e.g. [10.100.0.0/16, fde4:8dba:82e1::/48]';
  if (networks.length > 2) {
    errors.invalid(field, networks, pair);
    return;
  }
  const parsed = networks.map((network) => parseNetwork(network));
  for (const [i, network] of parsed.entries()) {
    if (!network)
      errors.invalid(`${field}[${i}]`, networks[i], `must be a valid CIDR block ${CIDR_EXAMPLES}`);
  }
  const families = parsed.flatMap((network) => (network ? familyOf(formatNetwork(network)) : []));
  if (families.length === 2 && families[0] === families[1]) errors.invalid(field, networks, pair);
}
