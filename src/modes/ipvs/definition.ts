// The definition of ipvs mode. Its code is loaded when it is opened, or has left state.
import { existsSync } from 'node:fs';
import type { FormerSettings, ModeDefinition } from '../definition.js';
import { curesOf } from './fromConfiguration.js';
import { hasTraces } from './traces.js';

/** The kernel has loaded ipset, or has it built in. */
const IPSET_LOADED = '/sys/module/ip_set';
/** The kernel has loaded IPVS, or has it built in. */
const IPVS_LOADED = '/proc/net/ip_vs';

/** ipvs mode. */
export const IPVS_MODE: ModeDefinition = {
  virtualServices: true,
  checkFlags: ({ cures }) => void curesOf(cures),
  needsAllNodes: ({ cures }) => curesOf(cures).has('other-nodes'),
  open: async (settings) => (await loaded()).open(settings),
  openFormer: async (settings) =>
    (await mayHaveState(settings)) ? (await loaded()).openState(settings) : undefined,
};

const loaded = () => import('./open.js');

async function mayHaveState({ kernel, families, command }: FormerSettings): Promise<boolean> {
  if (command.ownAll && existsSync(IPVS_LOADED)) return true;
  const openIpset = existsSync(IPSET_LOADED)
    ? async () => (await import('../../kernel/ipset/index.js')).openIpset()
    : undefined;
  return hasTraces({ ...kernel, openIpset }, families);
}
