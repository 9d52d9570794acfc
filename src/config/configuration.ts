// A raw configuration → a checked one. Of a file, a field with its zero value has the default, as in Kubernetes; what a
// flag says is taken as it is.
import { canonicalAddress, joinHostPort } from '../net/address.js';
import { featureGateFaults } from './featureGates.js';
import { splitHostPort } from './goSyntax.js';
import { CONFIGURATION, type Configuration } from './schema.js';
import { loggingFaults, validationFaults } from './validation.js';

export type { Configuration, DetectLocalMode } from './schema.js';

/** Ports of the health and metrics servers where none is given. */
export const DEFAULT_PORTS = { healthz: 10_256, metrics: 10_249 };

/** The fields of a configuration, with defaults for those that are absent, but for what checking says. */
export interface Decoded {
  readonly configuration: Configuration;
  /** What cannot be decoded, in the words of Go's decoder. */
  readonly problems: readonly string[];
  /** Paths of fields that no configuration has. */
  readonly unknown: readonly string[];
}

/** Reads the fields of a configuration; `apiVersion` and `kind` are passed over. */
export function decodeFields(raw: Readonly<Record<string, unknown>>): Decoded {
  const problems: string[] = [];
  const unknown: string[] = [];
  const { apiVersion: _, kind: __, ...fields } = raw;
  const decoded = CONFIGURATION.decode(fields, { struct: '', path: '', problems, unknown });
  return { configuration: withServers(decoded), problems, unknown };
}

/** The defaults of a configuration that says nothing. */
export function defaultConfiguration(): Configuration {
  return decodeFields({}).configuration;
}

/** What is wrong with a configuration, a line each, with the prefix that kube-proxy gives it. */
export function faultsOf(configuration: Configuration): string[] {
  return [
    ...featureGateFaults(configuration.featureGates).map((fault) => `failed complete: ${fault}`),
    ...loggingFaults(configuration).map((fault) => `initialize logging: ${fault}`),
    ...validationFaults(configuration).map((fault) => `failed validate: ${fault}`),
  ];
}

/** A configuration as it runs: what is blank is filled in, and addresses have their canonical spelling. */
export function completed(configuration: Configuration): Configuration {
  return {
    ...configuration,
    mode: configuration.mode || 'ipvs',
    bindAddress: canonicalAddress(configuration.bindAddress) ?? configuration.bindAddress,
    healthzBindAddress: canonicalHostPort(configuration.healthzBindAddress),
    metricsBindAddress: canonicalHostPort(configuration.metricsBindAddress),
  };
}

/** `IP:port` with the canonical spelling of the IP; what is none stays, and is refused later. */
function canonicalHostPort(text: string): string {
  const parts = splitHostPort(text);
  if (typeof parts === 'string') return text;
  const host = canonicalAddress(parts.host);
  return host === undefined ? text : joinHostPort(host, parts.port);
}

/** An address with this port, unless it has one; what is no address stays, and is refused later. */
export function withPort(address: string, port: number): string {
  if (typeof splitHostPort(address) !== 'string') return address;
  const canonical = canonicalAddress(address);
  if (canonical === undefined) return address;
  return joinHostPort(canonical, port);
}

/** The servers' addresses; those not given follow the family of bindAddress. */
function withServers(configuration: Configuration): Configuration {
  const { bindAddress, healthzBindAddress, metricsBindAddress } = configuration;
  const ipv4 = canonicalAddress(bindAddress)?.includes('.') ?? false;
  return {
    ...configuration,
    healthzBindAddress: withPort(healthzBindAddress || (ipv4 ? '0.0.0.0' : '::'), DEFAULT_PORTS.healthz),
    metricsBindAddress: withPort(metricsBindAddress || (ipv4 ? '127.0.0.1' : '::1'), DEFAULT_PORTS.metrics),
  };
}
