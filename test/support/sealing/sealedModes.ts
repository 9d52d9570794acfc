// The modes of the proxy as `deploy/` seals them: the capabilities that each one needs, and how its endpoints show in the kernel.
import { service, slice } from '../clusters/manifests.js';
import { tool } from '../namespaces/tools.js';

/** A mode with its backend of iptables, if it uses one. */
export interface SealedMode {
  readonly mode: 'ipvs' | 'iptables' | 'nftables';
  /** Flags of the agent beside its mode. */
  readonly flags?: readonly string[];
  /** The capabilities with which it works, and without each of which it does not; as setpriv names them. */
  readonly capabilities: readonly string[];
  /** Each of the system calls without which it fails. */
  readonly calls: readonly string[];
  /** The endpoints of the kernel, `address:port`, in order. */
  endpoints(): string[];
  /** The tools of the image that people use with `kubectl exec`. */
  readonly tools: readonly (readonly string[])[];
}

/** What an agent programs. Two endpoints: the chain of a single one has no map in nftables mode. */
export const objects = (...endpoints: string[]) => service('web', '10.96.0.1') + slice('web', ...endpoints);

function found(listed: string, pattern: RegExp): string[] {
  return [...listed.matchAll(pattern)].map(([, address, port]) => `${address}:${port}`).sort();
}

const CALLS = ['socket', 'sendmsg', 'recvmsg'];

/** The socket with which iptables looks up a set is a raw one. */
export const SEALED_IPVS: SealedMode = {
  mode: 'ipvs',
  calls: CALLS,
  capabilities: ['net_admin', 'net_raw'],
  endpoints: () => found(tool('ipvsadm', '-S', '-n'), /^-a .* -r ([\d.]+):(\d+) /gm),
  tools: [['ipvsadm', '-L', '-n'], ['ipset', 'list', '-n'], ['iptables-save']],
};

/** Its rules are a table of nf_tables: no program of iptables, no ipset. The system calls of IPVS are those of the other rules. */
export const SEALED_IPVS_TABLES: SealedMode = {
  ...SEALED_IPVS,
  calls: ['sendmsg'],
  flags: ['--ipvs-rules=nftables'],
  capabilities: ['net_admin'],
  tools: [['ipvsadm', '-L', '-n']],
};

/** Of iptables-nft, whose programs use netlink. */
export const SEALED_IPTABLES_NFT: SealedMode = {
  mode: 'iptables',
  calls: CALLS,
  capabilities: ['net_admin'],
  endpoints: () => found(tool('iptables-save', '-t', 'nat'), /--to-destination ([\d.]+):(\d+)$/gm),
  tools: [['iptables-save'], ['ip6tables-save']],
};

/** Of iptables-legacy, whose programs use a raw socket for everything. */
export const SEALED_IPTABLES_LEGACY: SealedMode = {
  ...SEALED_IPTABLES_NFT,
  capabilities: ['net_admin', 'net_raw'],
};

/** It starts no program. */
export const SEALED_NFTABLES: SealedMode = {
  mode: 'nftables',
  calls: CALLS,
  capabilities: ['net_admin'],
  endpoints: () => found(tool('nft', 'list', 'table', 'ip', 'kube-proxy'), /\d+ : ([\d.]+) \. (\d+)/g),
  tools: [],
};
