// What the commands explain and services know of each mode. A mode without an entry runs, but cannot be explained.
import type { ModeSettings } from '../../modes/shared/definition.js';
import type { Explainer } from '../explanation.js';
import type { FrontendQuery, ProgrammedFrontend } from '../inventory.js';

/** How the commands read the kernel in one mode. */
interface ModeReader {
  /** Opens the kernel for explanations. Rejects with the NetlinkError of the part that cannot be opened. */
  open(settings: ModeSettings): Promise<Explainer>;
  /**
   * Reads the frontends from the rules of the mode, with their counters; at least those of the query. Absent: Services are virtual
   * services of IPVS. Rejects with the NetlinkError of the family that cannot be read.
   */
  listFrontends?(query: FrontendQuery): Promise<ProgrammedFrontend[]>;
  /** The rules have no counters, of which rates could be computed: conntrack has their connections. Absent: they have. */
  readonly uncounted?: true;
}

/** By the name of the mode. Each is loaded on its first use. */
const READERS: Readonly<Record<string, ModeReader>> = {
  ipvs: { open: async (settings) => (await import('./ipvs.js')).open(settings) },
  iptables: {
    open: async (settings) => (await import('./iptables.js')).open(settings),
    listFrontends: async () => (await import('./inventory.js')).listFrontends(),
  },
  nftables: {
    open: async (settings) => (await import('./nftables.js')).open(settings),
    listFrontends: async (query) => (await import('./nftables.js')).listFrontends(query),
    uncounted: true, // as in kube-proxy
  },
};

/** How to read a mode. Throws an Error if it has no entry. */
export function readerOf(mode: string): ModeReader {
  const reader = Object.hasOwn(READERS, mode) ? READERS[mode] : undefined;
  if (reader) return reader;
  throw new Error(`mode ${mode} cannot be explained; these can: ${Object.keys(READERS).join(', ')}`);
}
