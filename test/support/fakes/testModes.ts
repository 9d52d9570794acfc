// The modes of the agent's tests, each on a fake kernel.

import { COUNTERS } from '../../../src/command/modes/iptables/open.js';
import { createCountedMode } from '../../../src/command/modes/iptables/ruleCounts.js';
import { parseSaved, type SavedRules } from '../../../src/kernel/iptables/index.js';
import { IPTABLES_DEFAULTS } from '../../../src/proxy/modes/iptables/index.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../../src/proxy/modes/ipvs/index.js';
import { NFTABLES_DEFAULTS, nftablesMode } from '../../../src/proxy/modes/nftables/index.js';
import { ForeignChains } from '../../../src/proxy/modes/nftablesRules/program/foreignChains.js';
import { mapKernel } from '../mapMode/index.js';
import { fakeHostKernel } from './hostKernel.js';
import type { TestKernel } from './testKernel.js';

/** Mode → creates an empty kernel. */
export const TEST_MODES: Readonly<Record<string, () => TestKernel>> = {
  ipvs: ipvsKernel,
  iptables: iptablesKernel,
  nftables: nftablesKernel,
  map: mapKernel,
};

function iptablesKernel(): TestKernel {
  // As with nf_tables: audits read rules only after a change.
  const mark = async () => kernel.iptables.dump(4) + kernel.iptables.dump(6);
  const kernel = Object.assign(fakeHostKernel(), { mark });
  return {
    open(auditPeriod, families = [4]) {
      const options = { ...IPTABLES_DEFAULTS, families, auditPeriod };
      const { mode, take } = createCountedMode(kernel, options);
      return {
        mode,
        families: options.families,
        minSyncPeriod: 0,
        kernel,
        metrics: {
          ruleCounts: take,
          packets: {
            counters: COUNTERS,
            read: async () => new Map([['localhost_nps_accepted_pkts', 3]]),
          },
        },
      };
    },
    state: () => kernel.iptables.dump(4),
    serves: (dialled) => captures(parseSaved(kernel.iptables.dump(4)), dialled).length > 0,
    leadsTo: (dialled, endpoint) => leadsTo(parseSaved(kernel.iptables.dump(4)), dialled, endpoint),
  };
}

/** Whether the rules for this `address:port` lead to the endpoint. */
function leadsTo(rules: SavedRules, dialled: string, endpoint: string): boolean {
  const reaches = (rule: string): boolean => {
    if (rule.endsWith(`--to-destination ${endpoint}`)) return true;
    return (rules.get(`nat/${/-j (\S+)/.exec(rule)?.[1]}`) ?? []).some(reaches);
  };
  return captures(rules, dialled).some(reaches);
}

/** The rules that match packets to this `address:port`: they accept or reject them. */
function captures(rules: SavedRules, dialled: string): string[] {
  const [address, port] = dialled.split(':');
  const shared = ['nat/KUBE-SERVICES', 'filter/KUBE-SERVICES'].flatMap((chain) => rules.get(chain) ?? []);
  return shared.filter((rule) => rule.startsWith(`-d ${address}/32 `) && rule.includes(`--dport ${port} `));
}

function nftablesKernel(): TestKernel {
  const kernel = fakeHostKernel();
  const { nftables } = kernel;
  return {
    open(auditPeriod, families = [4]) {
      // With `primary`, rules depend on the address of the node, which these tests do not give.
      const options = { ...NFTABLES_DEFAULTS, families, auditPeriod, nodePortAddresses: [] };
      const foreign = new ForeignChains('kube-proxy');
      return {
        mode: nftablesMode(kernel, options, foreign),
        foreignChains: () => foreign.list(),
        families: options.families,
        minSyncPeriod: 0,
        kernel,
        metrics: { parts: { nftables } },
      };
    },
    // A line for each element; sets are in the order of their creation.
    state: () =>
      nftables
        .dump()
        .split('\n\n')
        .sort()
        .join('\n')
        .replaceAll(/elements = \{ |, |,\s+| \}/g, '\n'),
    serves: (dialled) => chainOf(nftables.dump(), dialled) !== undefined,
    leadsTo(dialled, endpoint) {
      const text = nftables.dump();
      const [, rules = ''] = text.split(`\tchain ${chainOf(text, dialled)} {`);
      return rules.slice(0, rules.indexOf('\t}')).includes(endpoint.replace(':', ' . '));
    },
  };
}

/** The chain in which a verdict map of nftables mode continues packets to an `address:port` of TCP. */
function chainOf(text: string, dialled: string): string | undefined {
  const key = dialled.replace(':', ' . tcp . ').replaceAll('.', '\\.');
  return new RegExp(`${key}(?: comment "[^"]*")? : goto ([^\\s,]+)`).exec(text)?.[1];
}

function ipvsKernel(): TestKernel {
  const kernel = fakeHostKernel();
  const { ipvs, ipset, rtnetlink } = kernel;
  return {
    open(auditPeriod, families = [4]) {
      const options = { ...IPVS_DEFAULTS, families, auditPeriod, kernelRelease: '6.1.0' };
      return {
        mode: createIpvsMode(kernel, options),
        families: options.families,
        minSyncPeriod: 0,
        kernel,
        metrics: { parts: { ipvs, ipset } },
      };
    },
    state: () => [ipvs.dump(), ipset.dump(), rtnetlink.dump('kube-ipvs0')].join('\n'),
    serves: (dialled) => ipvs.dump().includes(`-A -t ${dialled} `),
    leadsTo: (dialled, endpoint) => ipvs.dump().includes(`-a -t ${dialled} -r ${endpoint}`),
  };
}
