// What a configuration says, held against what the node turned out to be: kube-proxy 1.36's checks and words.
import { canonicalAddress, type Family, familyOf, isLoopback } from '../net/address.js';
import { parseNetwork } from '../net/network.js';
import { splitHostPort } from './goSyntax.js';
import type { Configuration } from './schema.js';

/** What is known of the node when it is checked. */
export interface NodeSituation {
  /** Families that can be programmed. */
  readonly families: readonly Family[];
  readonly primaryFamily: Family;
  /** The node's own address per family; loopback where there is none. */
  readonly nodeIPs: Readonly<Record<Family, string>>;
  /** Networks of the node's pods. */
  readonly podCIDRs: readonly string[];
}

/** What does not fit. A warning is for the log; one fault is enough to end. */
export interface CrossCheck {
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
  const { told, fatal } = checkFamilies(configuration, node);
  const nodePorts = checkNodePorts(configuration, node).map((text) => `${WARNING}: ${text}`);
  if (!fatal) return { warnings: [...nodePorts, ...told.map((text) => `${WARNING}: ${text}`)], faults: [] };
  return { warnings: nodePorts, faults: told.map((text) => `${FAULT}: ${text}`) };
}

/**
 * kube-proxy's warning where traffic of the cluster's pods cannot be distinguished from other traffic: detectLocalMode is
 * ClusterCIDR, and clusterCIDR is blank in the node's primary family. Rules then treat every source alike. Undefined where
 * there is nothing to warn of.
 */
export function clusterCIDRWarning(
  { detectLocalMode, clusterCIDR }: Configuration,
  primaryFamily: Family,
): string | undefined {
  if (detectLocalMode !== 'ClusterCIDR') return undefined;
  if (clusterCIDR.split(',').some((network) => familyOfNetwork(network) === primaryFamily)) return undefined;
  return `Detect-local-mode set to ClusterCIDR, but no cluster CIDR specified for primary IP family ipFamily=${JSON.stringify(name(primaryFamily))} clusterCIDR=${JSON.stringify(clusterCIDR)}`;
}

function checkNodePorts(
  { clusterCIDR, nodePortAddresses, ipvs }: Configuration,
  { primaryFamily, nodeIPs, podCIDRs }: NodeSituation,
): string[] {
  const primary = name(primaryFamily);
  const other = name(primaryFamily === 4 ? 6 : 4);
  const networks = nodePortAddresses[0] === 'primary' ? ownNetworks(nodeIPs) : nodePortAddresses;
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

/** What `primary` stands for. */
function ownNetworks(nodeIPs: Readonly<Record<Family, string>>): string[] {
  const known = [nodeIPs[4], nodeIPs[6]].filter((address) => !isLoopback(address));
  return known.map((address) => `${address}/${familyOf(address) === 4 ? 32 : 128}`);
}

function checkFamilies(
  configuration: Configuration,
  { families, primaryFamily, podCIDRs }: NodeSituation,
): { told: string[]; fatal: boolean } {
  const bad: Family = primaryFamily === 4 ? 6 : 4;
  const single = families.length === 1;
  const cluster = `${name(primaryFamily)}-${single ? 'only' : 'primary'}`;
  const told: string[] = [];
  const tell = (what: string) => told.push(`cluster is ${cluster} but ${what} ${name(bad)}`);
  const onlyBad = (networks: readonly string[]) =>
    networks.length > 0 && networks.every((network) => familyOfNetwork(network) === bad);
  const { clusterCIDR, detectLocalMode, ipvs, healthzBindAddress, metricsBindAddress, winkernel } =
    configuration;
  let fatal = false;
  if (clusterCIDR !== '' && onlyBad(clusterCIDR.split(','))) {
    told.push(`cluster is ${cluster} but clusterCIDRs contains only ${name(bad)} addresses`);
    fatal ||= detectLocalMode === 'ClusterCIDR' && single;
  }
  if (onlyBad(podCIDRs)) {
    told.push(`cluster is ${cluster} but node.spec.podCIDRs contains only ${name(bad)} addresses`);
    fatal ||= detectLocalMode === 'NodeCIDR';
  }
  if (familyOfAddress(winkernel.sourceVip) === bad) tell('winkernel.sourceVip is');
  if (!single) return { told, fatal };
  if (onlyBad(ipvs.excludeCIDRs)) {
    told.push(`cluster is ${cluster} but ipvs.excludeCIDRs contains only ${name(bad)} addresses`);
  }
  if (isBound(healthzBindAddress, bad)) tell('healthzBindAddress is');
  if (isBound(metricsBindAddress, bad)) tell('metricsBindAddress is');
  return { told, fatal };
}

/** Whether an `IP:port` has a specific IP of the family. */
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
