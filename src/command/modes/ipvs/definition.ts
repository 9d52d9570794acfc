// The definition of ipvs mode. Its code is loaded when it is opened, or has left state.
import type { FormerSettings, ModeDefinition } from '../shared/definition.js';
import { curesOf } from './fromConfiguration.js';
import { hasIpset, hasIpvs } from './loaded.js';
import { IPVS_SETTINGS } from './settings.js';
import { hasTraces, isProgrammed } from './traces.js';

/** ipvs mode. */
export const IPVS_MODE: ModeDefinition = {
  ...IPVS_SETTINGS,
  checkFlags: ({ cures }) => void curesOf(cures),
  needsAllNodes: ({ cures }) => curesOf(cures).has('other-nodes'),
  open: async (settings) => (await loaded()).open(settings),
  isProgrammed,
  formerRules: async () => (await import('./former.js')).RULES,
  openFormer: async (settings) =>
    (await mayHaveState(settings)) ? (await loaded()).openState(settings) : undefined,
};

const loaded = () => import('./open.js');

async function mayHaveState({ kernel, families, command }: FormerSettings): Promise<boolean> {
  if (command.ownAll && hasIpvs()) return true;
  const openIpset = hasIpset()
    ? async () => (await import('../../../kernel/ipset/open.js')).openIpset()
    : undefined;
  return hasTraces({ ...kernel, openIpset }, families);
}
