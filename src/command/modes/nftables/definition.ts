// The definition of nftables mode. Its code is loaded when it is opened, or has left state.
import type { ModeDefinition } from '../shared/definition.js';
import { layoutOf } from './fromConfiguration.js';
import { NFTABLES_SETTINGS } from './settings.js';

/** nftables mode. */
export const NFTABLES_MODE: ModeDefinition = {
  ...NFTABLES_SETTINGS,
  checkFlags: ({ nftablesLayout }) => void layoutOf(nftablesLayout),
  needsServiceCIDRs: true,
  needsAllNodes: () => false,
  open: async (settings) => (await loaded()).open(settings),
  isProgrammed: async ({ openNftables, machine }) =>
    (await import('./traces.js')).hasTraces(openNftables, machine),
  openFormer: async (settings) => {
    const { openNftables } = await import('../../../kernel/nftables/open.js');
    const { hasTraces } = await import('./traces.js');
    return (await hasTraces(openNftables)) ? (await loaded()).openState(settings) : undefined;
  },
};

const loaded = () => import('./open.js');
