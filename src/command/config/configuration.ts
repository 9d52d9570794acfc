// Decodes and validates a configuration. In a file, a field with its zero value gets the default, as in Kubernetes; the
// value of a flag is used as given.
import { canonicalAddress, joinHostPort } from '../../kernel/net/address.js';
import { featureGateErrors } from './featureGates.js';
import { splitHostPort } from './goSyntax.js';
import { type Behaviour, behaviourOf } from './mirroredVersion.js';
import type { KnownModes } from './modes.js';
import { CONFIGURATION, type Configuration } from './schema.js';
import { loggingErrors, validationErrors } from './validation.js';

export type { Configuration, DetectLocalMode } from './schema.js';

/** Default ports of the health and metrics servers. */
export const DEFAULT_PORTS = { healthz: 10_256, metrics: 10_249 };

/** A configuration with its defaults, not validated. */
export interface Decoded {
  readonly configuration: Configuration;
  /** Decoding errors, in the words of Go's decoder. */
  readonly problems: readonly string[];
  /** Paths of unknown fields. */
  readonly unknown: readonly string[];
}

/** Decodes the fields of a configuration; `apiVersion` and `kind` are ignored. */
export function decodeFields(raw: Readonly<Record<string, unknown>>): Decoded {
  const problems: string[] = [];
  const unknown: string[] = [];
  const { apiVersion: _, kind: __, ...fields } = raw;
  const decoded = CONFIGURATION.decode(fields, { struct: '', path: '', problems, unknown });
  return { configuration: withServers(decoded), problems, unknown };
}

/** The warning about a blank `mode`. */
export function blankModeWarning(
  { blank }: KnownModes,
  { warnsOfDefaultMode }: Pick<Behaviour, 'warnsOfDefaultMode'>,
): string {
  const usual = `is blank, which means ${blank} mode, as in kube-proxy; for ipvs mode, set it to ipvs`;
  // KEP-5343 names the release. The words of kube-proxy were not determined.
  return warnsOfDefaultMode
    ? `${usual}. A later kube-proxy, 1.40 as planned, has nftables as its default: name the mode that you want to keep`
    : usual;
}

/** The defaults of every field. */
export function defaultConfiguration(): Configuration {
  return decodeFields({}).configuration;
}

/** Every error of a configuration, with kube-proxy's prefixes. */
export function configurationErrors(configuration: Configuration, modes: KnownModes): string[] {
  const behaviour = behaviourOf(configuration);
  return [
    ...featureGateErrors(configuration.featureGates, behaviour).map((error) => `failed complete: ${error}`),
    ...loggingErrors(configuration).map((error) => `initialize logging: ${error}`),
    ...validationErrors(configuration, modes).map((error) => `failed validate: ${error}`),
  ];
}

/** The configuration with its mode set if it was blank, and with canonical addresses. */
export function completed(configuration: Configuration, { blank }: KnownModes): Configuration {
  return {
    ...configuration,
    mode: configuration.mode || blank,
    bindAddress: canonicalAddress(configuration.bindAddress) ?? configuration.bindAddress,
    healthzBindAddress: canonicalHostPort(configuration.healthzBindAddress),
    metricsBindAddress: canonicalHostPort(configuration.metricsBindAddress),
  };
}

/** `IP:port` with the IP in canonical form; any other text is unchanged, and validation rejects it. */
function canonicalHostPort(text: string): string {
  const parts = splitHostPort(text);
  if (typeof parts === 'string') return text;
  const host = canonicalAddress(parts.host);
  return host === undefined ? text : joinHostPort(host, parts.port);
}

/** The address with this port, unless it has one; any other text is unchanged, and validation rejects it. */
export function withPort(address: string, port: number): string {
  if (typeof splitHostPort(address) !== 'string') return address;
  const canonical = canonicalAddress(address);
  if (canonical === undefined) return address;
  return joinHostPort(canonical, port);
}

/** Sets the addresses of the servers; their defaults have the IP family of bindAddress. */
function withServers(configuration: Configuration): Configuration {
  const { bindAddress, healthzBindAddress, metricsBindAddress } = configuration;
  const ipv4 = canonicalAddress(bindAddress)?.includes('.') ?? false;
  return {
    ...configuration,
    healthzBindAddress: withPort(healthzBindAddress || (ipv4 ? '0.0.0.0' : '::'), DEFAULT_PORTS.healthz),
    metricsBindAddress: withPort(metricsBindAddress || (ipv4 ? '127.0.0.1' : '::1'), DEFAULT_PORTS.metrics),
  };
}
