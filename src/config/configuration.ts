// KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1): the fields that decide what the kernel holds. Fields this
// program has no use for are accepted and passed over.
import type { Problem } from '../errors.js';
import { Fields } from '../fields.js';
import { type Family, familyOf } from '../net/address.js';
import { formatNetwork, parseNetwork } from '../net/network.js';
import { parseDuration } from './duration.js';

/** How traffic of this node's pods is told from the rest. */
export type DetectLocalMode = 'ClusterCIDR' | 'NodeCIDR' | 'BridgeInterface' | 'InterfaceNamePrefix';

/** A configuration, checked, with defaults filled in. Field names are KubeProxyConfiguration's. */
export interface Configuration {
  /** Empty: the host's name. */
  readonly hostnameOverride: string;
  /** Networks of the cluster's pods: at most one per family. */
  readonly clusterCIDR: { readonly [family in Family]?: string };
  readonly detectLocalMode: DetectLocalMode;
  readonly detectLocal: { readonly bridgeInterface: string; readonly interfaceNamePrefix: string };
  /** Networks whose host addresses get node ports, or `primary`: the node's own address; empty: every address. */
  readonly nodePortAddresses: readonly string[] | 'primary';
  /** Canonical; where it is a specific address, it is the node's own and decides the primary family. Default `0.0.0.0`. */
  readonly bindAddress: string;
  readonly iptables: {
    readonly masqueradeAll: boolean;
    /** Bit of the packet mark that asks for masquerading: 0–31, default 14. */
    readonly masqueradeBit: number;
  };
  readonly ipvs: {
    /** Default `rr`. */
    readonly scheduler: string;
    readonly strictARP: boolean;
    /** Networks whose virtual services are never deleted. */
    readonly excludeCIDRs: readonly string[];
    /** Whole seconds; 0 leaves the kernel's value as it is. */
    readonly tcpTimeout: number;
    readonly tcpFinTimeout: number;
    readonly udpTimeout: number;
    /** Milliseconds between two looks at everything; default 30000. */
    readonly syncPeriod: number;
  };
}

/** Default of `ipvs.syncPeriod`, ms. */
const SYNC_PERIOD = 30_000;
const MODES = ['ClusterCIDR', 'NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix'] as const;

/** Reads a configuration. With problems, the configuration is not to be used: a node must not run on half of one. */
export function decodeConfiguration(raw: Readonly<Record<string, unknown>>): {
  configuration: Configuration;
  problems: readonly Problem[];
} {
  const problems: Problem[] = [];
  const fields = new Fields('KubeProxyConfiguration', problems, withoutEmpty(raw));
  const iptables = fields.child('iptables');
  const ipvs = fields.child('ipvs');
  const configuration: Configuration = {
    hostnameOverride: fields.text('hostnameOverride').toLowerCase(),
    clusterCIDR: decodeClusterCIDR(fields),
    detectLocalMode: fields.word('detectLocalMode', MODES, 'ClusterCIDR') ?? 'ClusterCIDR',
    detectLocal: decodeDetectLocal(fields),
    nodePortAddresses: decodeNodePortAddresses(fields, raw['nodePortAddresses']),
    bindAddress: fields.address('bindAddress') ?? '0.0.0.0',
    iptables: {
      masqueradeAll: iptables.flag('masqueradeAll', false),
      masqueradeBit: iptables.integer('masqueradeBit', 0, 31, 14) ?? 14,
    },
    ipvs: {
      scheduler: decodeScheduler(ipvs),
      strictARP: ipvs.flag('strictARP', false),
      excludeCIDRs: ipvs.networks('excludeCIDRs'),
      tcpTimeout: Math.trunc(duration(ipvs, 'tcpTimeout', 0) / 1000),
      tcpFinTimeout: Math.trunc(duration(ipvs, 'tcpFinTimeout', 0) / 1000),
      udpTimeout: Math.trunc(duration(ipvs, 'udpTimeout', 0) / 1000),
      syncPeriod: duration(ipvs, 'syncPeriod', SYNC_PERIOD),
    },
  };
  fields.word('mode', ['ipvs'], 'ipvs');
  return { configuration, problems };
}

/** In a configuration, an empty text means the default, as a zero value does in Kubernetes. */
function withoutEmpty(raw: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== ''));
}

function decodeClusterCIDR(fields: Fields): { [family in Family]?: string } {
  const byFamily: { [family in Family]?: string } = {};
  for (const part of fields.text('clusterCIDR').split(',')) {
    if (part.trim() === '') continue;
    const network = parseNetwork(part.trim());
    const text = network && formatNetwork(network);
    if (text === undefined || byFamily[familyOf(text)] !== undefined) {
      fields.report(
        'clusterCIDR',
        'must be one network in CIDR notation, or one of each family, comma-separated',
      );
    } else {
      byFamily[familyOf(text)] = text;
    }
  }
  return byFamily;
}

function decodeDetectLocal(fields: Fields): Configuration['detectLocal'] {
  const detect = fields.child('detectLocal');
  const name = (field: 'bridgeInterface' | 'interfaceNamePrefix', mode: DetectLocalMode) => {
    const text = detect.text(field);
    // IFNAMSIZ less the terminator.
    if (text.length > 15 || /[\s/]/.test(text))
      detect.report(field, 'must be a device name, at most 15 characters');
    if (text === '' && fields.text('detectLocalMode') === mode) {
      detect.report(field, `must not be empty in detectLocalMode ${mode}`);
    }
    return text;
  };
  return {
    bridgeInterface: name('bridgeInterface', 'BridgeInterface'),
    interfaceNamePrefix: name('interfaceNamePrefix', 'InterfaceNamePrefix'),
  };
}

function decodeNodePortAddresses(fields: Fields, raw: unknown): readonly string[] | 'primary' {
  const primary = Array.isArray(raw) && raw.includes('primary');
  if (primary && raw.length === 1) return 'primary';
  if (primary) fields.report('nodePortAddresses', "must not hold both 'primary' and networks");
  return fields.networks('nodePortAddresses');
}

/** Milliseconds; a duration of zero means the default, as everywhere in this file. */
function duration(fields: Fields, name: string, absent: number): number {
  const text = fields.text(name);
  const milliseconds = parseDuration(text || '0');
  if (milliseconds === undefined || milliseconds < 0) {
    fields.report(name, 'must be a duration of 0 or more, as in 1h30m or 10s');
    return absent;
  }
  return milliseconds || absent;
}

/** `IP_VS_SCHEDNAME_MAXLEN` (16) less the terminator. */
function decodeScheduler(ipvs: Fields): string {
  const name = ipvs.text('scheduler');
  if (name !== '' && !/^[a-z0-9_-]{1,15}$/.test(name)) {
    ipvs.report('scheduler', 'must be the name of an IPVS scheduler, at most 15 characters');
  }
  return name || 'rr';
}
