// The definition of iptables mode. Its code is loaded when it is opened, or has left state.
import type { ModeDefinition } from '../shared/definition.js';
import { IPTABLES_SETTINGS } from './settings.js';
import { hasTraces, isProgrammed } from './traces.js';

/** iptables mode. */
export const IPTABLES_MODE: ModeDefinition = {
  ...IPTABLES_SETTINGS,
  checkFlags: () => {},
  needsAllNodes: () => false,
  open: async (settings) => (await loaded()).open(settings),
  isProgrammed,
  formerRules: async () => (await import('./former.js')).RULES,
  openFormer: async (settings) =>
    (await hasTraces(settings.unshared.iptables, settings.families))
      ? (await loaded()).openState(settings)
      : undefined,
};

const loaded = () => import('./open.js');
