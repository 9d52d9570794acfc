// Differences between the programmed state and the state on which every Service depends in iptables mode.
import type { Cause } from '../../explanation.js';
import type { Surroundings } from '../../shared/explain/surroundings.js';
import { SERVICE_CHAIN } from './programmed.js';

/** Without this setting, the kernel does not send packets of loopback addresses to other links. A path below /proc/sys. */
export const ROUTE_LOCALNET = 'net/ipv4/conf/all/route_localnet';

/** Jumps of built-in chains. */
const JUMPS: readonly (readonly [from: string, to: string])[] = [
  ['nat/PREROUTING', 'KUBE-SERVICES'],
  ['nat/OUTPUT', 'KUBE-SERVICES'],
  ['nat/POSTROUTING', 'KUBE-POSTROUTING'],
  ['filter/INPUT', 'KUBE-NODEPORTS'],
  ['filter/INPUT', 'KUBE-EXTERNAL-SERVICES'],
  ['filter/INPUT', 'KUBE-PROXY-FIREWALL'],
  ['filter/FORWARD', 'KUBE-SERVICES'],
  ['filter/FORWARD', 'KUBE-EXTERNAL-SERVICES'],
  ['filter/FORWARD', 'KUBE-PROXY-FIREWALL'],
  ['filter/FORWARD', 'KUBE-FORWARD'],
  ['filter/OUTPUT', 'KUBE-SERVICES'],
  ['filter/OUTPUT', 'KUBE-PROXY-FIREWALL'],
];

/** Chains that have at least so many rules. */
const RULES: readonly (readonly [at: string, count: number])[] = [
  ['nat/KUBE-MARK-MASQ', 1],
  ['nat/KUBE-POSTROUTING', 3],
  ['filter/KUBE-FORWARD', 2],
];

/** More empty chains than this are counted, and not listed. */
const LISTED = 5;

const missing = (text: string): Cause => ({ code: 'RulesMissing', text });

/** The differences. */
export function warningsOf(node: Surroundings): Cause[] {
  return [...missingRules(node), ...emptyChains(node), ...wrongSettings(node)];
}

function missingRules({ facts: { tables } }: Surroundings): Cause[] {
  const lost = JUMPS.filter(
    ([from, to]) => !tables.rules.get(from)?.some((rule) => rule.endsWith(`-j ${to}`)),
  ).map(([from, to]) => missing(`chain ${from} lacks the jump to ${to}`));
  const incomplete = RULES.flatMap(([at, count]) => {
    const found = tables.rules.get(at);
    if (!found) return [missing(`chain ${at} does not exist`)];
    return found.length < count ? [missing(`chain ${at} has ${found.length} of ${count} rules`)] : [];
  });
  return [...lost, ...incomplete];
}

/** Each chain of a Service port or an endpoint has at least one rule. */
function emptyChains({ facts: { tables } }: Surroundings): Cause[] {
  const empty = [...tables.rules].flatMap(([at, rules]) =>
    rules.length === 0 && SERVICE_CHAIN.test(at) ? [at] : [],
  );
  if (empty.length <= LISTED) return empty.map((at) => missing(`chain ${at} has no rules`));
  return [missing(`${empty.length} chains of Services have no rules, for example ${empty[0]}`)];
}

function wrongSettings(node: Surroundings): Cause[] {
  const { family, tables } = node.facts;
  const { forwarding } = node;
  const localnet = node.setting(ROUTE_LOCALNET);
  // The rule exists if node ports are served on loopback addresses.
  const needsLocalnet =
    family === 4 && (tables.rules.get('filter/KUBE-FIREWALL') ?? []).some((rule) => LOCALNET.test(rule));
  return [
    ...(forwarding.on
      ? []
      : [{ code: 'ForwardingOff' as const, text: `this node forwards no packets: ${forwarding.text}` }]),
    ...(localnet.on || !needsLocalnet
      ? []
      : [
          {
            code: 'LocalnetOff' as const,
            text: `node ports do not work on loopback addresses: ${localnet.text}`,
          },
        ]),
  ];
}

const LOCALNET = /-d 127\.0\.0\.0\/8 .*block incoming localnet connections/;
