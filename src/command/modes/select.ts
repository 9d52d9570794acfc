// Selects the mode: `mode` of the configuration → its definition. No other file names a mode.

import { ErrorWithNextStep } from '../../kernel/errors.js';
import type { FormerMode } from '../../proxy/modes/mode.js';
import type { KernelCommand } from '../config/commandLine.js';
import type { KnownModes } from '../config/modes.js';
import { IPTABLES_MODE } from './iptables/definition.js';
import { iptablesWithout } from './iptablesRules/rulesInUse.js';
import { IPVS_MODE } from './ipvs/definition.js';
import { NFTABLES_MODE } from './nftables/definition.js';
import type { FormerSettings, KernelSigns, ModeDefinition } from './shared/definition.js';

/** By the value of `mode` in the configuration. */
const DEFINITIONS: Readonly<Record<string, ModeDefinition>> = {
  ipvs: IPVS_MODE,
  iptables: IPTABLES_MODE,
  nftables: NFTABLES_MODE,
};

/** The modes that a configuration can select. A blank `mode` means that of kube-proxy on Linux: see docs/decisions/0031. */
export const MODES: KnownModes = { definitions: DEFINITIONS, blank: 'iptables' };

/** Checks the flags of each mode. Throws UsageError for a value that its mode does not know. */
export function checkModeFlags(command: KernelCommand): void {
  for (const definition of Object.values(DEFINITIONS)) definition.checkFlags(command);
}

/** Whether this package has a mode of this name. */
export function isMode(name: string): boolean {
  return Object.hasOwn(DEFINITIONS, name);
}

/**
 * The mode of this name. Throws an Error for an unknown name.
 *
 * @param modes by name; default: those of this package
 */
export function selectMode(
  name: string,
  modes: Readonly<Record<string, ModeDefinition>> = DEFINITIONS,
): ModeDefinition {
  const definition = Object.hasOwn(modes, name) ? modes[name] : undefined;
  if (definition) return definition;
  const known = Object.keys(modes).join(', ');
  throw new ErrorWithNextStep(
    `mode: must be one of ${known}; found ${name}`,
    'select a mode with --proxy-mode; kube-proxy may run in one that kube-netlink-proxy does not have',
  );
}

/** Names of the modes that have programmed the kernel. Rejects with the NetlinkError of the part that cannot be read. */
export async function programmedModes(signs: KernelSigns): Promise<string[]> {
  const found: string[] = [];
  for (const [name, definition] of Object.entries(DEFINITIONS))
    if (await definition.isProgrammed(signs)) found.push(name);
  return found;
}

/**
 * The modes that may have run on this node before.
 *
 * @param running the mode that runs now, which is left out; undefined: none runs, in a clean-up
 */
export function formerModes(
  running: ModeDefinition | undefined,
  settings: Omit<FormerSettings, 'unshared'>,
  modes: Readonly<Record<string, ModeDefinition>> = DEFINITIONS,
): FormerMode[] {
  const whole = Object.entries(modes)
    .filter(([, definition]) => definition !== running)
    .map(
      ([name, definition]): FormerMode => ({
        name,
        async open(remaining = []) {
          const rules = await Promise.all(remaining.map((other) => modes[other]?.formerRules?.()));
          const { iptables } = settings.kernel;
          const unshared = rules.reduce((all, own) => (own ? iptablesWithout(all, own) : all), iptables);
          return definition.openFormer({ ...settings, unshared: { iptables: unshared } });
        },
      }),
    );
  const rulesOf = (isWanted: (definition: ModeDefinition) => boolean) =>
    Object.entries(modes).flatMap(([name, definition]): FormerMode[] => {
      if (!definition.openFormerRules || !isWanted(definition)) return [];
      const layout = definition === running ? settings.layout : undefined;
      const all = { ...settings, unshared: settings.kernel, layout };
      return [
        {
          name: `other rules of ${name}`,
          open: async (remaining = []) => definition.openFormerRules?.(all, remaining),
        },
      ];
    });
  // Those of the running mode first: their chains are no sign of another mode. Those of a former mode with its last layout are removed with it.
  return [...rulesOf((each) => each === running), ...whole, ...rulesOf((each) => each !== running)];
}
