// Checks the prerequisites of rules of nf_tables at the start: one error that names the missing module is better than a failure of
// every Service.
import { NetlinkError, ROLLED_BACK } from '../../../kernel/errors.js';
import type { Family } from '../../../kernel/net/address.js';
import type { Expression } from '../../../kernel/nftables/expressions/types.js';
import type { BaseChain, Nftables, NftablesOperation } from '../../../kernel/nftables/types.js';
import { HOST, type Machine, moduleHint, stateOfModule } from '../../../kernel/shared/hints.js';
import { TABLE_FAMILY } from '../../../proxy/modes/nftablesRules/plan/families.js';

/** The table of the probe, which exists within a transaction only. */
const PROBE_TABLE = 'kube-proxy-probe';

/** The flow table in it. */
const FLOW_TABLE = 'probe';

/** The least version of the kernel, as in kube-proxy: the `nft` of older systems may fail on the rules of this mode. */
const LEAST_KERNEL = [5, 13] as const;

/** With a value, the version of the kernel is not checked: the variable of kube-proxy. */
const SKIP_KERNEL_CHECK = 'KUBE_PROXY_NFTABLES_SKIP_KERNEL_VERSION_CHECK';

/** Throws a NetlinkError if the kernel is older than kube-proxy allows. */
export function checkKernel(environment: NodeJS.ProcessEnv = process.env, machine: Machine = HOST): void {
  if (environment[SKIP_KERNEL_CHECK]) return;
  const [major = 0, minor = 0] = machine.release.split('.').map((part) => Number.parseInt(part, 10));
  const [leastMajor, leastMinor] = LEAST_KERNEL;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return;
  throw new NetlinkError({
    code: 'EOPNOTSUPP',
    operation: 'nftables.open',
    kernelMessage: `kernel ${machine.release} is older than ${LEAST_KERNEL.join('.')}`,
    hint: `select mode iptables, or ipvs with --ipvs-rules=iptables, or set ${SKIP_KERNEL_CHECK}`,
  });
}

/**
 * Adds a table with a rule for each feature and deletes it, in one transaction for each family: no packet passes it. Rejects with one
 * NetlinkError, which names the family and all features that the kernel lacks; the hint names their kernel modules.
 */
export async function probeFeatures(
  nftables: Pick<Nftables, 'apply'>,
  families: readonly Family[],
  features: readonly Feature[],
  machine: Machine = HOST,
): Promise<void> {
  for (const family of families) {
    const operations = probeOf(family, features);
    const results = await nftables.apply(operations);
    const refused = results.findIndex((result) => result && result.code !== ROLLED_BACK);
    const error = results[refused];
    if (!error) continue;
    const lacking = features
      .filter((feature) => results[operations.findIndex(isRuleOf(feature))] !== undefined)
      .filter((feature) => results[operations.findIndex(isRuleOf(feature))]?.code !== ROLLED_BACK);
    throw lacking.length > 0 ? lack(family, lacking, error, machine) : error;
  }
}

/** The table with a chain for each feature. */
function probeOf(family: Family, features: readonly Feature[]): NftablesOperation[] {
  const table = { family: TABLE_FAMILY[family], name: PROBE_TABLE } as const;
  const chains = features.flatMap((feature): NftablesOperation[] => {
    const place = { family: table.family, table: PROBE_TABLE };
    const base = feature.chain && { ...feature.chain, priority: 0 };
    const flowTable = { ...place, name: FLOW_TABLE, priority: 0 };
    return [
      ...(feature.usesFlowTable ? ([{ do: 'addFlowTable', flowTable }] as const) : []),
      { do: 'addChain', chain: { ...place, name: feature.name, ...(base && { base }) } },
      { do: 'addRule', rule: { ...place, chain: feature.name, expressions: feature.rule(family) } },
    ];
  });
  return [{ do: 'addTable', table }, ...chains, { do: 'deleteTable', table }];
}

function isRuleOf(feature: Feature): (operation: NftablesOperation) => boolean {
  return (operation) => operation.do === 'addRule' && operation.rule.chain === feature.name;
}

/**
 * Looks for the modules of the features, and changes nothing. Throws a NetlinkError `ENOENT` if one does not exist.
 *
 * @returns a warning if the result cannot be determined on this host, otherwise undefined
 */
export function checkFeatures(
  families: readonly Family[],
  features: readonly Feature[],
  machine: Machine = HOST,
): string | undefined {
  const unknown = new Set<string>();
  for (const family of families) {
    const missing: Feature[] = [];
    for (const feature of features) {
      const state = stateOfModule(feature.module(family), machine);
      if (state === 'missing') missing.push(feature);
      else if (state === 'unknown') unknown.add(feature.name);
    }
    if (missing.length > 0) throw lack(family, missing, { code: 'ENOENT' }, machine);
  }
  if (unknown.size === 0) return undefined;
  return `it is unknown whether the kernel has these expressions of nf_tables: ${[...unknown].join(', ')}`;
}

function lack(
  family: Family,
  features: readonly Feature[],
  { code, kernelMessage }: Pick<NetlinkError, 'code'> & Partial<Pick<NetlinkError, 'kernelMessage'>>,
  machine: Machine,
): NetlinkError {
  const modules = new Set(features.map((feature) => feature.module(family)));
  const hints = [...modules].map((module) => moduleHint(module, machine));
  return new NetlinkError({
    code,
    operation: 'nftables.probe',
    target: `IPv${family}: ${features.map(({ name }) => name).join(', ')}`,
    kernelMessage,
    hint: `the rules of Services need ${features.length === 1 ? 'it' : 'them'}: ${hints.join('; ')}`,
  });
}

// The expressions of nf_tables without which no Service works, each with a rule that only a kernel with it accepts.

/** An expression that is a kernel module of its own. */
export interface Feature {
  readonly name: string;
  /** The kernel module that has it. */
  module(family: Family): string;
  /** Expressions of a rule that needs no other feature. */
  rule(family: Family): readonly Expression[];
  /** The type of the chain that the rule needs; default: none. */
  readonly chain?: Pick<BaseChain, 'type' | 'hook'>;
  /** The rule names a flow table, which is added before it. */
  readonly usesFlowTable?: true;
}

/** The features that the rules of nftables mode have. The other expressions are part of nf_tables. */
export const FEATURES: readonly Feature[] = [
  {
    name: 'ct',
    module: () => 'nft_ct',
    rule: () => [{ kind: 'ct', key: 'state', register: 1 }],
  },
  {
    name: 'fib',
    module: (family) => `nft_fib_ipv${family}`,
    rule: () => [{ kind: 'fib', result: 'type', flags: ['daddr'], register: 1 }],
    chain: { type: 'filter', hook: 'prerouting' },
  },
  {
    name: 'numgen',
    module: () => 'nft_numgen',
    rule: () => [{ kind: 'numgen', type: 'random', modulus: 2, register: 1 }],
  },
  {
    name: 'reject',
    module: (family) => `nft_reject_ipv${family}`,
    rule: (family) => [{ kind: 'reject', type: 'icmp', code: family === 4 ? 3 : 4 }],
    chain: { type: 'filter', hook: 'output' },
  },
  {
    name: 'nat',
    module: () => 'nft_nat',
    rule: (family) => [
      { kind: 'immediate', register: 1, data: new Uint8Array(family === 4 ? 4 : 16) },
      { kind: 'nat', type: 'dnat', family: family === 4 ? 'ip' : 'ip6', address: 1 },
    ],
    chain: { type: 'nat', hook: 'prerouting' },
  },
  {
    name: 'masq',
    module: () => 'nft_masq',
    rule: () => [{ kind: 'masq', flags: ['fully-random'] }],
    chain: { type: 'nat', hook: 'postrouting' },
  },
];

/** The feature of a flow table, which only an option needs. */
export const FLOW_OFFLOAD: Feature = {
  name: 'flow_offload',
  module: () => 'nft_flow_offload',
  rule: () => [{ kind: 'flowOffload', table: FLOW_TABLE }],
  chain: { type: 'filter', hook: 'forward' },
  usesFlowTable: true,
};

/** Those of ipvs mode: endpoints are selected by IPVS. */
export const IPVS_FEATURES: readonly Feature[] = FEATURES.filter(({ name }) => name !== 'numgen');

/** The kernel modules of features in both families. The kernel loads each when it is first needed. */
export function modulesOf(features: readonly Feature[]): string[] {
  const modules = features.flatMap(({ module }) => [module(4), module(6)]);
  return ['nf_tables', 'nft_chain_nat', ...new Set(modules)];
}
