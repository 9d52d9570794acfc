// Reads the frontends in the rules of iptables mode: one iptables-save for each family that the kernel has.
import { existsSync } from 'node:fs';
import { saveWithCounters } from '../../../kernel/iptables/index.js';
import type { ProgrammedFrontend } from '../inventory.js';
import { frontendsIn } from '../iptables/inventory.js';

/** The frontends of both families. Rejects with a NetlinkError if rules cannot be read. */
export async function listFrontends(): Promise<ProgrammedFrontend[]> {
  const families = existsSync('/proc/net/if_inet6') ? ([4, 6] as const) : ([4] as const);
  const found = await Promise.all(
    families.map(async (family) => frontendsIn(family, await saveWithCounters(family))),
  );
  return found.flat();
}
