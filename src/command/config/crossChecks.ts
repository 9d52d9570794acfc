// Checks the configuration against the node, with the rules and messages of kube-proxy.
import { canonicalAddress, type Family, familyOf, isLoopback } from '../../kernel/net/address.js';
import { parseNetwork } from '../../kernel/net/network.js';
import { splitHostPort } from './goSyntax.js';
import { expandNodePortAddresses } from './nodePortAddresses.js';
import type { Configuration } from './schema.js';

/** The node's state that the configuration is checked against. */
export interface NodeSituation {
  /** IP families that the node supports. */
  readonly families: readonly Family[];
  readonly primaryFamily: Family;
  /** The node IP of each family; a loopback address if the node has none. */
  readonly nodeIPs: Readonly<Record<Family, string>>;
  /** `spec.podCIDRs` of the node. */
  readonly podCIDRs: readonly string[];
}

/** The result. Warnings are logged; an error ends the program. */
interface CrossCheck {
  readonly warnings: readonly string[];
  readonly faults: readonly string[];
}

const WARNING = 'Kube-proxy configuration may be incomplete or incorrect';
const FAULT = 'kube-proxy configuration is incorrect';

/** Checks a configuration against the node. */
export function crossCheck(configuration: Configuration, node: NodeSituation): CrossCheck {
  if (node.families.length === 0) return { warnings: [], faults: ['iptables is not available on this host'] };
  if (!node.families.includes(node.primaryFamily)) {
    return {
      warnings: [],
      faults: [`no support for primary IP family ${JSON.stringify(name(node.primaryFamily))}`],
    };
  }
  const { messages, fatal } = checkFamilies(configuration, node);
  const nodePorts = checkNodePorts(configuration, node).map((text) => `${WARNING}: ${text}`);
  if (!fatal)
    return { warnings: [...nodePorts, ...messages.map((text) => `${WARNING}: ${text}`)], faults: [] };
  return { warnings: nodePorts, faults: messages.map((text) => `${FAULT}: ${text}`) };
}

/**
 * kube-proxy's warning if the rules cannot distinguish the pods' traffic from other traffic: detectLocalMode is
 * ClusterCIDR, and clusterCIDR has no network of the node's primary family. Undefined if there is nothing to warn about.
 */
export function clusterCIDRWarning(
  { detectLocalMode, clusterCIDR }: Configuration,
  primaryFamily: Family,
): string | undefined {
  if (detectLocalMode !== 'ClusterCIDR') return undefined;
  if (clusterCIDR.split(',').some((network) => familyOfNetwork(network) === primaryFamily)) return undefined;
  return `Detect-local-mode set to ClusterCIDR, but no cluster CIDR specified for primary IP family ipFamily=${JSON.stringify(name(primaryFamily))} clusterCIDR=${JSON.stringify(clusterCIDR)}`;
}

/**
 * The warning if other hosts can ask for profiles: a heap snapshot has the token of the proxy. Undefined if they cannot. As in kube-proxy,
 * the server asks for no credentials.
 */
export function profilingWarning({
  enableProfiling,
  metricsBindAddress,
}: Pick<Configuration, 'enableProfiling' | 'metricsBindAddress'>): string | undefined {
  const address = splitHostPort(metricsBindAddress);
  if (!enableProfiling || typeof address === 'string') return undefined;
  if (isLoopback(canonicalAddress(address.host) ?? address.host)) return undefined;
  return `enableProfiling: whoever reaches metricsBindAddress ${metricsBindAddress} can read a heap snapshot, which has the token of the proxy: bind a loopback address`;
}

/**
 * The rule that clusterCIDR breaks if it contains all addresses; undefined if it does not, or detectLocalMode is not ClusterCIDR.
 * kube-proxy does not check this: with iptables-nft, all its rules are then refused.
 */
export function allAddressesRule({ detectLocalMode, clusterCIDR }: Configuration): string | undefined {
  if (detectLocalMode !== 'ClusterCIDR') return undefined;
  const all = clusterCIDR.split(',').find((network) => parseNetwork(network)?.prefix === 0);
  if (all === undefined) return undefined;
  return `must not contain all addresses (${all}): every client counts as a local pod, so that traffic to cluster IPs is not masqueraded`;
}

function checkNodePorts(
  { clusterCIDR, nodePortAddresses, ipvs }: Configuration,
  { primaryFamily, nodeIPs, podCIDRs }: NodeSituation,
): string[] {
  const primary = name(primaryFamily);
  const other = name(primaryFamily === 4 ? 6 : 4);
  const networks = expandNodePortAddresses(nodePortAddresses, nodeIPNetworks(nodeIPs));
  if (networks.length === 0) {
    return [
      'nodePortAddresses is unset; NodePort connections will be accepted on all local IPs. Consider using `--nodeport-addresses primary`',
    ];
  }
  const ofPrimary = networks.filter((network) => familyOfNetwork(network) === primaryFamily).length;
  const lists = [clusterCIDR.split(','), networks, ipvs.excludeCIDRs, podCIDRs];
  const dualStack = lists.some((list) => new Set(list.map(familyOfNetwork).filter(Boolean)).size === 2);
  if (dualStack && ofPrimary === networks.length) {
    return [
      `cluster appears to be dual-stack but nodePortAddresses contains only ${primary} addresses; NodePort connections will be accepted on all local ${other} IPs`,
    ];
  }
  if (ofPrimary > 0) return [];
  return [
    `cluster appears to be ${primary}-primary but nodePortAddresses contains only ${other} addresses; NodePort connections will be accepted on all local ${primary} IPs`,
  ];
}

/** The networks that `primary` means. */
function nodeIPNetworks(nodeIPs: Readonly<Record<Family, string>>): string[] {
  const known = [nodeIPs[4], nodeIPs[6]].filter((address) => !isLoopback(address));
  return known.map((address) => `${address}/${familyOf(address) === 4 ? 32 : 128}`);
}

function checkFamilies(
  configuration: Configuration,
  { families, primaryFamily, podCIDRs }: NodeSituation,
): { messages: string[]; fatal: boolean } {
  const bad: Family = primaryFamily === 4 ? 6 : 4;
  const single = families.length === 1;
  const cluster = `${name(primaryFamily)}-${single ? 'only' : 'primary'}`;
  const messages: string[] = [];
  const add = (field: string) => messages.push(`cluster is ${cluster} but ${field} is ${name(bad)}`);
  const onlyBad = (networks: readonly string[]) =>
    networks.length > 0 && networks.every((network) => familyOfNetwork(network) === bad);
  const { clusterCIDR, detectLocalMode, ipvs, healthzBindAddress, metricsBindAddress, winkernel } =
    configuration;
  let fatal = false;
  if (clusterCIDR !== '' && onlyBad(clusterCIDR.split(','))) {
    messages.push(`cluster is ${cluster} but clusterCIDRs contains only ${name(bad)} addresses`);
    fatal ||= detectLocalMode === 'ClusterCIDR' && single;
  }
  if (onlyBad(podCIDRs)) {
    messages.push(`cluster is ${cluster} but node.spec.podCIDRs contains only ${name(bad)} addresses`);
    fatal ||= detectLocalMode === 'NodeCIDR';
  }
  if (familyOfAddress(winkernel.sourceVip) === bad) add('winkernel.sourceVip');
  if (!single) return { messages, fatal };
  if (onlyBad(ipvs.excludeCIDRs)) {
    messages.push(`cluster is ${cluster} but ipvs.excludeCIDRs contains only ${name(bad)} addresses`);
  }
  if (isBound(healthzBindAddress, bad)) add('healthzBindAddress');
  if (isBound(metricsBindAddress, bad)) add('metricsBindAddress');
  return { messages, fatal };
}

/** Whether an `IP:port` has an IP of the family, other than 0.0.0.0 and ::. */
function isBound(address: string, family: Family): boolean {
  const parts = splitHostPort(address);
  if (typeof parts === 'string') return false;
  const host = canonicalAddress(parts.host);
  return host !== undefined && familyOf(host) === family && host !== '0.0.0.0' && host !== '::';
}

function familyOfNetwork(text: string): Family | undefined {
  return parseNetwork(text)?.family;
}

function familyOfAddress(text: string): Family | undefined {
  const canonical = canonicalAddress(text);
  return canonical === undefined ? undefined : familyOf(canonical);
}

function name(family: Family): string {
  return `IPv${family}`;
}
