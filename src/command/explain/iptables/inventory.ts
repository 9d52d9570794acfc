// The frontends in the rules of iptables mode, with their counters. Pure.
import type { CountedRule, CountedRules } from '../../../kernel/iptables/types.js';
import { canonicalAddress, type Family } from '../../../kernel/net/address.js';
import type { FrontendKind } from '../../../proxy/services/types.js';
import type { ProgrammedEndpoint, ProgrammedFrontend, RuleTraffic } from '../inventory.js';
import { commentIn, optionValue, readRule } from '../packet/ruleText.js';

/** Chains with the rules that lead to the chains of Services, and with those that refuse packets. */
const FRONTEND_CHAINS = [
  'nat/KUBE-SERVICES',
  'nat/KUBE-NODEPORTS',
  'filter/KUBE-SERVICES',
  'filter/KUBE-EXTERNAL-SERVICES',
] as const;

/** By the end of a comment, otherwise by the start of the name of a chain. */
const KINDS: Readonly<Record<string, FrontendKind>> = {
  cluster: 'clusterIP',
  external: 'externalIP',
  loadbalancer: 'loadBalancerIP',
  SVC: 'clusterIP',
  SVL: 'clusterIP',
  FW: 'loadBalancerIP',
};

const NOTHING: RuleTraffic = { connections: 0, bytes: 0 };

/** The frontends of a family, in the order of the rules. */
export function frontendsIn(family: Family, rules: CountedRules): ProgrammedFrontend[] {
  const found = new Map<string, ProgrammedFrontend>();
  for (const at of FRONTEND_CHAINS) {
    for (const rule of rules.get(at) ?? []) {
      const frontend = frontendOf(family, at, rule);
      if (!frontend) continue;
      const { address = '', port, protocol } = frontend;
      const key = `${address} ${port}/${protocol}`;
      const known = found.get(key);
      found.set(key, known ? merged(known, frontend) : frontend);
    }
  }
  return [...found.values()].map((frontend) => ({ ...frontend, ...endpointsOf(frontend.chain, rules) }));
}

/** The frontend of one rule; undefined if the rule selects none. */
function frontendOf(family: Family, at: string, rule: CountedRule): ProgrammedFrontend | undefined {
  const { conditions, target = '' } = readRule(rule.text);
  const port = Number(optionValue(conditions, '--dport'));
  const chain = /^KUBE-(SVC|SVL|EXT|FW)-/.exec(target);
  const isRefused = target === 'REJECT' || target === 'DROP';
  if (!port || !(at.startsWith('nat/') ? chain : isRefused)) return undefined;
  const isNodePort = at === 'nat/KUBE-NODEPORTS' || conditions.some(({ option }) => option === '--dst-type');
  const written = isNodePort ? undefined : optionValue(conditions, '-d')?.replace(/\/\d+$/, '');
  const address = written === undefined ? undefined : canonicalAddress(written);
  const named = namesIn(commentIn(rule.text));
  const ofChain = at === 'filter/KUBE-SERVICES' ? 'clusterIP' : KINDS[chain?.[1] ?? ''];
  const kind = isNodePort ? 'nodePort' : (named.kind ?? ofChain);
  return {
    family,
    ...(address === undefined ? {} : { address }),
    port,
    protocol: optionValue(conditions, '-p') ?? '',
    ...(named.service === undefined ? {} : { service: named.service }),
    ...(named.portName === undefined ? {} : { portName: named.portName }),
    ...(kind === undefined ? {} : { kind }),
    ...(chain ? { chain: target } : {}),
    ...(isRefused ? { refused: target } : {}),
    persistence: 0,
    counters: trafficOf(rule),
    endpoints: [],
  };
}

/** `demo/web:http cluster IP`, `demo/web:http` of a node port, `demo/web:http has no endpoints`. */
function namesIn(comment: string): Pick<ProgrammedFrontend, 'service' | 'portName' | 'kind'> {
  const [, service, portName, kind] = /^([^\s:]+\/[^\s:]+)(?::(\S+))?(?: (\w+) IP$| |$)/.exec(comment) ?? [];
  if (service === undefined) return {};
  const known = KINDS[kind ?? ''];
  return { service, ...(portName ? { portName } : {}), ...(known ? { kind: known } : {}) };
}

/**
 * Several rules for one frontend: one for node ports on loopback addresses, one that drops packets of other hosts if no
 * endpoint of this node is ready.
 */
function merged(a: ProgrammedFrontend, b: ProgrammedFrontend): ProgrammedFrontend {
  return { ...b, ...a, ...(b.refused ? { refused: b.refused } : {}), counters: sum(a.counters, b.counters) };
}

/** The endpoints to which a chain of a Service leads, and its session affinity. */
function endpointsOf(
  chain: string | undefined,
  rules: CountedRules,
): Pick<ProgrammedFrontend, 'endpoints' | 'persistence'> {
  const balancing = balancingChain(chain, rules);
  if (balancing === undefined) return { endpoints: [], persistence: 0 };
  const endpoints = new Map<string, ProgrammedEndpoint>();
  let left = 1;
  let persistence = 0;
  for (const rule of rules.get(`nat/${balancing}`) ?? []) {
    const { conditions, target = '' } = readRule(rule.text);
    if (!target.startsWith('KUBE-SEP-')) continue;
    const affinity = optionValue(conditions, '--seconds');
    if (affinity !== undefined) persistence = Number(affinity);
    // A rule of session affinity returns a client to its endpoint: it selects none for a new client.
    const share = affinity === undefined ? left * Number(optionValue(conditions, '--probability') ?? 1) : 0;
    left -= share;
    const known = endpoints.get(target);
    const address = known ?? destinationOf(target, rules);
    if (!address) continue;
    endpoints.set(target, {
      ...{ address: address.address, port: address.port, chain: target },
      share: (known?.share ?? 0) + share,
      counters: sum(known?.counters ?? NOTHING, trafficOf(rule)),
    });
  }
  return { endpoints: [...endpoints.values()], persistence };
}

/** The chain that selects an endpoint: KUBE-SVC or KUBE-SVL, after KUBE-FW and KUBE-EXT; undefined if there is none. */
function balancingChain(chain: string | undefined, rules: CountedRules): string | undefined {
  if (chain === undefined || /^KUBE-SV[CL]-/.test(chain)) return chain;
  const targets = (rules.get(`nat/${chain}`) ?? []).map(({ text }) => text);
  if (chain.startsWith('KUBE-FW-')) {
    const external = targets.flatMap((text) => / -j (KUBE-EXT-\S+)$/.exec(text)?.[1] ?? [])[0];
    return balancingChain(external, rules);
  }
  // The last rule has no condition: the others are for clients on this node.
  return /^-j (KUBE-SV[CL]-\S+)$/.exec(targets.at(-1) ?? '')?.[1];
}

/** The address by which the chain of an endpoint replaces the destination. */
function destinationOf(
  chain: string,
  rules: CountedRules,
): { readonly address: string; readonly port: number } | undefined {
  for (const { text } of rules.get(`nat/${chain}`) ?? []) {
    const [, six, four, port] = / --to-destination (?:\[([^\]]+)\]|([\d.]+)):(\d+)/.exec(text) ?? [];
    const address = canonicalAddress(six ?? four ?? '');
    if (address !== undefined) return { address, port: Number(port) };
  }
  return undefined;
}

function trafficOf({ packets, bytes }: CountedRule): RuleTraffic {
  return { connections: packets, bytes };
}

function sum(a: RuleTraffic = NOTHING, b: RuleTraffic = NOTHING): RuleTraffic {
  return { connections: a.connections + b.connections, bytes: a.bytes + b.bytes };
}
