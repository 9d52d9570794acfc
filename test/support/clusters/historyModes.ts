// The modes of random histories, on kernels in memory, and what a proxy finds of those that ran before, as the agent has them.
import {
  formerState as formerIptables,
  RULES as IPTABLES_RULES,
} from '../../../src/command/modes/iptables/former.js';
import { iptablesWithout } from '../../../src/command/modes/iptablesRules/rulesInUse.js';
import {
  formerState as formerIpvs,
  RULES as IPVS_RULES,
  openRulesOn,
} from '../../../src/command/modes/ipvs/former.js';
import type { FakeKernel } from '../../../src/kernel/testing/index.js';
import { createIptablesMode, IPTABLES_DEFAULTS } from '../../../src/proxy/modes/iptables/index.js';
import { createIpvsMode, IPVS_DEFAULTS, type IpvsOptions } from '../../../src/proxy/modes/ipvs/index.js';
import { observeSets } from '../../../src/proxy/modes/ipvs/program/observe.js';
import { observeTable } from '../../../src/proxy/modes/ipvs/program/observeTable.js';
import type { FormerMode, FormerState, KeyedOperation, Mode } from '../../../src/proxy/modes/mode.js';

/** A mode of a history. The second one has rules of nf_tables. */
export type HistoryMode = 'ipvs' | 'ipvs tables' | 'iptables';

export const isIpvs = (mode: HistoryMode) => mode !== 'iptables';

/** What ran on a node, and its kernel. */
interface Past {
  readonly running: HistoryMode;
  /** The modes whose state may still be there, the last one at the end. */
  formers(): readonly HistoryMode[];
  /** The kernel as each mode sees it. */
  readonly kernels: Readonly<Record<HistoryMode, FakeKernel>>;
  /** The rules of iptables mode are in another place than those of ipvs mode. */
  readonly apart: boolean;
}

/** The modes whose state a proxy of the running mode removes. */
export function formerModesOf(past: Past): FormerMode[] {
  const former = (name: HistoryMode, open: (name: HistoryMode) => FormerState): FormerMode => ({
    name,
    open: async () => open(name),
  });
  const formers = past.formers();
  const [last, first] = formers.filter(isIpvs).reverse();
  const rules = (name: HistoryMode | undefined) =>
    name === undefined ? [] : [former(name, () => rulesAlone(past, name))];
  if (!isIpvs(past.running)) {
    // The virtual services are removed with the rules of the last one.
    return last === undefined ? [] : [former(last, () => whole(past, last)), ...rules(first)];
  }
  const iptables = former('iptables', (name) => formerIptables(seenBy(past, name), IPTABLES_DEFAULTS));
  return [...rules(last), ...(formers.includes('iptables') ? [iptables] : [])];
}

function whole(past: Past, name: HistoryMode): FormerState {
  const entries = () => otherEntries(past.kernels[name], name);
  return {
    ...formerIpvs({ ...seenBy(past, name), otherEntries: entries }, ipvsOptions(name)),
    close: () => {},
  };
}

/** The other rules of ipvs mode alone. */
function rulesAlone(past: Past, name: HistoryMode): FormerState {
  return { mode: openRulesOn(seenBy(past, name), ipvsOptions(name)), close: () => {} };
}

/** The kernel of a former mode, in which the rules that another mode uses too are not its own. */
function seenBy({ running, formers, kernels, apart }: Past, former: HistoryMode) {
  const own = kernels[former];
  const other = former === 'iptables' ? 'ipvs' : 'iptables';
  if (apart || ![running, ...formers()].includes(other)) return own;
  const used = other === 'ipvs' ? IPVS_RULES : IPTABLES_RULES;
  return { ...own, iptables: iptablesWithout(own.iptables, used) };
}

/** Creates a mode. @param auditPeriod in ms */
export function createMode(
  kernel: FakeKernel,
  mode: HistoryMode,
  auditPeriod: number,
): Mode<unknown, KeyedOperation> {
  const created =
    mode === 'iptables'
      ? createIptablesMode(kernel, { ...IPTABLES_DEFAULTS, auditPeriod })
      : createIpvsMode(
          { ...kernel, otherEntries: () => otherEntries(kernel, mode) },
          { ...ipvsOptions(mode), auditPeriod },
        );
  return created as unknown as Mode<unknown, KeyedOperation>;
}

function ipvsOptions(mode: HistoryMode): IpvsOptions {
  return {
    ...IPVS_DEFAULTS,
    rules: mode === 'ipvs tables' ? 'nftables' : 'iptables',
    kernelRelease: '6.1.0',
  };
}

/** The entries of the other kind of rules. */
async function* otherEntries(kernel: FakeKernel, mode: HistoryMode) {
  if (mode === 'ipvs tables') yield* observeSets(kernel, ipvsOptions('ipvs'));
  else for (const family of IPVS_DEFAULTS.families) yield* observeTable(kernel.nftables, family);
}
