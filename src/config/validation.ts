// The rules of a configuration, and what kube-proxy 1.36 says when one is broken. Field paths are those of its messages.
import { shortened } from '../errors.js';
import { canonicalAddress, familyOf } from '../net/address.js';
import { formatNetwork, parseNetwork } from '../net/network.js';
import { formatDuration } from './duration.js';
import { MAX_INT32, quote, splitHostPort } from './goSyntax.js';
import type { Configuration } from './schema.js';

/** The one version whose hidden metrics may be asked for: that before the Kubernetes we imitate. */
const PREVIOUS_VERSION = '1.35';
const CIDR_EXAMPLES = '(e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)';
const NOT_NEGATIVE = 'must be greater than or equal to 0';
const POSITIVE = 'must be greater than 0';

/** Collects what is wrong, below one path. */
class Faults {
  readonly lines: string[] = [];
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Kubernetes' `field.Invalid`. */
  invalid(field: string, value: unknown, rule: string): void {
    const shown = typeof value === 'string' ? quote(shortened(value)) : shortened(JSON.stringify(value));
    this.lines.push(`${this.#path}.${field}: Invalid value: ${shown}: ${rule}`);
  }

  /** Kubernetes' `field.Forbidden`, `field.Required` and `field.NotSupported`. */
  other(field: string, what: string, rule: string): void {
    this.lines.push(`${this.#path}.${field}: ${what}: ${rule}`);
  }

  atLeastZero(field: string, value: number): void {
    if (value < 0) this.invalid(field, value, NOT_NEGATIVE);
  }

  durationAtLeastZero(field: string, milliseconds: number): void {
    if (milliseconds < 0) this.invalid(field, formatDuration(milliseconds), NOT_NEGATIVE);
  }
}

/** What breaks a rule, a line each; none when the configuration is good. Kube-proxy puts `failed validate: ` before it. */
export function validationFaults(configuration: Configuration): string[] {
  const faults = new Faults('KubeProxyConfiguration');
  validateKernel(faults, configuration);
  validateMode(faults, configuration.mode);
  faults.atLeastZero('ClientConnection.Burst', configuration.clientConnection.burst);
  validatePeriods(faults, configuration);
  validateAddresses(faults, configuration);
  if (!isPortRange(configuration.portRange)) {
    faults.invalid('PortRange', configuration.portRange, 'must be a valid port range (e.g. 300-2000)');
  }
  validateNodePortAddresses(faults, configuration.nodePortAddresses);
  const hidden = configuration.showHiddenMetricsForVersion;
  if (hidden !== '' && hidden !== PREVIOUS_VERSION) {
    const rule = `--show-hidden-metrics-for-version must be omitted or have the value '${PREVIOUS_VERSION}'. Only the previous minor version is allowed`;
    faults.invalid('ShowHiddenMetricsForVersion', hidden, rule);
  }
  validateDetectLocal(faults, configuration);
  return faults.lines;
}

/** What breaks a rule about logging, a line each. Kube-proxy puts `initialize logging: ` before it. */
export function loggingFaults({ logging, featureGates }: Configuration): string[] {
  const faults = new Faults('logging');
  if (logging.flushFrequency <= 0) {
    faults.invalid('flushFrequency', formatDuration(logging.flushFrequency), 'Must be greater than zero');
  }
  if (logging.format !== 'text' && logging.format !== 'json') {
    faults.invalid('format', logging.format, 'Unsupported log format');
  }
  const bound = (field: string, value: number) => {
    if (value > MAX_INT32) faults.invalid(field, value, `Must be <= ${MAX_INT32}`);
  };
  bound('verbosity', logging.verbosity);
  if (logging.vmodule.length > 0 && logging.format !== 'text') {
    faults.other('vmodule', 'Forbidden', 'Only supported for text log format');
  }
  for (const [i, { filePattern, verbosity }] of logging.vmodule.entries()) {
    const field = `vmodule[${i}]`;
    if (filePattern === '') faults.other(field, 'Required value', 'File pattern must not be empty');
    if (/[=,]/.test(filePattern)) {
      faults.invalid(field, filePattern, 'File pattern must not contain equal sign or comma');
    }
    bound(field, verbosity);
  }
  for (const format of ['text', 'json'] as const) {
    const { splitStream, infoBufferSize } = logging.options[format];
    if (featureGates['LoggingAlphaOptions'] ?? featureGates['AllAlpha'] ?? false) continue;
    const rule = 'Feature LoggingAlphaOptions is disabled';
    if (splitStream) faults.other(`options.${format}.splitStream`, 'Forbidden', rule);
    if (!/^[+-]?0*\.?0*([a-zA-Z]|$)/.test(infoBufferSize)) {
      faults.other(`options.${format}.infoBufferSize`, 'Forbidden', rule);
    }
  }
  return faults.lines;
}

function validateKernel(faults: Faults, { iptables, ipvs, conntrack, oomScoreAdj }: Configuration): void {
  if (iptables.masqueradeBit < 0 || iptables.masqueradeBit > 31) {
    const field = 'KubeProxyIPTablesConfiguration.MasqueradeBit';
    faults.invalid(field, iptables.masqueradeBit, 'must be within the range [0, 31]');
  }
  const inIpvs = (field: string) => `KubeProxyIPVSConfiguration.${field}`;
  faults.durationAtLeastZero(inIpvs('TCPTimeout'), ipvs.tcpTimeout);
  faults.durationAtLeastZero(inIpvs('TCPFinTimeout'), ipvs.tcpFinTimeout);
  faults.durationAtLeastZero(inIpvs('UDPTimeout'), ipvs.udpTimeout);
  // IP_VS_SCHEDNAME_MAXLEN, 16, less the terminator. kube-proxy asks the kernel, and ends with what it says.
  if (!/^[a-z0-9_-]{0,15}$/.test(ipvs.scheduler)) {
    const rule = 'must be the name of an IPVS scheduler, at most 15 characters';
    faults.invalid(inIpvs('Scheduler'), ipvs.scheduler, rule);
  }
  for (const [i, network] of ipvs.excludeCIDRs.entries()) {
    if (!parseNetwork(network)) faults.invalid(inIpvs(`ExcludeCidrs[${i}]`), network, 'must be a valid CIDR');
  }
  const inLinux = (field: string) => `KubeProxyLinuxConfiguration.${field}`;
  const inConntrack = (field: string) => inLinux(`KubeProxyConntrackConfiguration.${field}`);
  faults.atLeastZero(inConntrack('MaxPerCore'), conntrack.maxPerCore);
  faults.atLeastZero(inConntrack('Min'), conntrack.min);
  faults.durationAtLeastZero(inConntrack('TCPEstablishedTimeout'), conntrack.tcpEstablishedTimeout);
  faults.durationAtLeastZero(inConntrack('TCPCloseWaitTimeout'), conntrack.tcpCloseWaitTimeout);
  faults.durationAtLeastZero(inConntrack('UDPTimeout'), conntrack.udpTimeout);
  faults.durationAtLeastZero(inConntrack('UDPStreamTimeout'), conntrack.udpStreamTimeout);
  if (oomScoreAdj < -1000 || oomScoreAdj > 1000) {
    faults.invalid(inLinux('OOMScoreAdj'), oomScoreAdj, 'must be within the range [-1000, 1000]');
  }
}

/** kube-proxy takes iptables and nftables too, and for a blank, iptables: docs/decisions/0008. */
function validateMode(faults: Faults, mode: string): void {
  if (mode === 'ipvs') return;
  const known = mode === 'iptables' || mode === 'nftables';
  const why = known ? `there is no ${mode} mode here; ` : '';
  const rule = 'must be ipvs or blank (blank means the best-available proxy [currently ipvs])';
  faults.invalid('Mode.ProxyMode', mode, why + rule);
}

/** In ipvs mode, these are the periods of the ipvs section. */
function validatePeriods(faults: Faults, { configSyncPeriod, ipvs }: Configuration): void {
  const { syncPeriod, minSyncPeriod } = ipvs;
  if (configSyncPeriod <= 0) faults.invalid('ConfigSyncPeriod', formatDuration(configSyncPeriod), POSITIVE);
  if (syncPeriod <= 0) faults.invalid('SyncPeriod', formatDuration(syncPeriod), POSITIVE);
  faults.durationAtLeastZero('MinSyncPeriod', minSyncPeriod);
  if (minSyncPeriod > syncPeriod) {
    // The value that kube-proxy shows here is that of the other field.
    const rule = 'must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod';
    faults.invalid('SyncPeriod', formatDuration(minSyncPeriod), rule);
  }
}

function validateAddresses(
  faults: Faults,
  { bindAddress, healthzBindAddress, metricsBindAddress }: Configuration,
): void {
  if (canonicalAddress(bindAddress) === undefined) {
    faults.invalid('BindAddress', bindAddress, 'not a valid textual representation of an IP address');
  }
  if (healthzBindAddress !== '') validateHostPort(faults, 'HealthzBindAddress', healthzBindAddress);
  validateHostPort(faults, 'MetricsBindAddress', metricsBindAddress);
}

function validateHostPort(faults: Faults, field: string, text: string): void {
  const parts = splitHostPort(text);
  if (typeof parts === 'string') {
    faults.invalid(field, text, 'must be IP:port');
    return;
  }
  const { host, port } = parts;
  if (canonicalAddress(host) === undefined) faults.invalid(field, host, 'must be a valid IP');
  if (!isPort(port)) faults.invalid(field, port, 'must be a valid port');
}

function isPort(text: string): boolean {
  return /^[+]?[0-9]+$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

/** `N`, `N-M`, `N+COUNT`, or nothing. */
export function isPortRange(text: string): boolean {
  const [whole, base = '', sign, second = ''] = /^(\d+)(?:([-+])(\d+))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) return text.trim() === '';
  const first = Number(base);
  const last = sign === '-' ? Number(second) : Math.min(first + Number(second), 65_535);
  return first <= 65_535 && last <= 65_535 && last >= first;
}

function validateNodePortAddresses(faults: Faults, addresses: readonly string[]): void {
  for (const [i, address] of addresses.entries()) {
    if (address === 'primary') {
      if (addresses.length > 1) {
        faults.invalid(`NodePortAddresses[${i}]`, address, "can't use both 'primary' and CIDRs");
      }
      return;
    }
    if (!parseNetwork(address)) faults.invalid(`NodePortAddresses[${i}]`, address, 'must be a valid CIDR');
  }
}

const LOCAL_MODES = ['ClusterCIDR', 'NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix', ''];

function validateDetectLocal(
  faults: Faults,
  { detectLocalMode, detectLocal, clusterCIDR }: Configuration,
): void {
  const below = (field: string) => `DetectLocalConfiguration.${field}`;
  const device = (field: string, name: string) => {
    if (name === '') faults.invalid(below(field), name, 'must not be empty');
    // IFNAMSIZ, 16, less the terminator; kube-proxy would hand it to iptables, which refuses all rules then.
    if (name.length > 15 || /[\s/]/.test(name)) {
      faults.invalid(below(field), name, 'must be a device name, at most 15 characters');
    }
  };
  switch (detectLocalMode) {
    case 'ClusterCIDR':
      if (clusterCIDR !== '') validateClusterCIDRs(faults, below('ClusterCIDRs'), clusterCIDR.split(','));
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
      faults.other(
        'DetectLocalMode',
        `Unsupported value: ${quote(detectLocalMode)}`,
        `supported values: ${LOCAL_MODES.map(quote).join(', ')}`,
      );
  }
}

function validateClusterCIDRs(faults: Faults, field: string, networks: readonly string[]): void {
  // The bracket that is not closed is kube-proxy's.
  const pair =
    'must be a either a single CIDR or dual-stack pair of CIDRs (e.g. [10.100.0.0/16, fde4:8dba:82e1::/48]';
  if (networks.length > 2) {
    faults.invalid(field, networks, pair);
    return;
  }
  const parsed = networks.map((network) => parseNetwork(network));
  for (const [i, network] of parsed.entries()) {
    if (!network)
      faults.invalid(`${field}[${i}]`, networks[i], `must be a valid CIDR block ${CIDR_EXAMPLES}`);
  }
  const families = parsed.flatMap((network) => (network ? familyOf(formatNetwork(network)) : []));
  if (families.length === 2 && families[0] === families[1]) faults.invalid(field, networks, pair);
}
