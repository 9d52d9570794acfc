// The tiers of tests, each a folder of test/, with the features that they need.

import { filesBelow } from '../lib/checkout.mjs';

/** @typedef {import('./places.mjs').Need} Need */

/**
 * @typedef {object} Tier
 * @property {string} name its folder's, below test/
 * @property {boolean} native whether it needs the addon and a compiler
 * @property {boolean} [promtool] whether it needs promtool
 * @property {boolean} [vehicles] whether it runs every vehicle of this machine
 * @property {boolean} [shells] whether it needs zsh, fish and groff
 * @property {boolean} [apart] whether it runs only by name, because it takes long
 * @property {boolean} [idle] whether it needs a machine on which nothing else runs
 * @property {readonly Need[]} [needs] the kernel features that its tests need; absent: they need no vehicle
 * @property {Readonly<Record<string, readonly Need[]>>} [others] the same, for files whose names have these prefixes
 * @property {number} [limit] time limit of a file, in s, if it differs from the default
 * @property {boolean} [bundled] whether it needs the command of the package
 * @property {boolean} [image] whether it needs the container image
 * @property {boolean} [packed] whether it needs the package in the form in which npm publishes it
 */

/** @type {readonly Need[]} */
const IPVS = ['ipvs', 'dummy device'];

/** @type {readonly Tier[]} In the order of their start, the longest first. */
export const TIERS = [
  {
    name: 'e2e',
    native: true,
    bundled: true,
    needs: IPVS,
    // iptables-nft, which most nodes use. The other tests use iptables-legacy where it is faster.
    others: {
      'iptablesCommands.': ['conntrack', 'ipset'],
      'iptablesMode.': ['conntrack'],
      'startFaults.': ['conntrack'],
      'flushedTables.': ['conntrack', 'nftables', 'bridge filter'],
      'flushedTables-legacy.': ['conntrack', 'iptables-legacy', 'bridge filter'],
      'flushedTables-rest.': ['conntrack', 'iptables-legacy', 'bridge filter'],
      'packets-iptables-legacy.': ['iptables-legacy', 'bridge filter'],
      'packets-iptables-nft.': ['nftables', 'bridge filter'],
      'rollout-iptables-legacy.': ['conntrack', 'iptables-legacy', 'bridge filter'],
      'rollout-iptables-nft.': ['conntrack', 'nftables', 'bridge filter'],
      'withheldModules.': ['iptables-legacy', 'modules'],
    },
  },
  {
    name: 'oracle',
    native: true,
    needs: IPVS,
    others: {
      'iptables-nft.': ['conntrack', 'nftables'],
      'iptables-legacy.': ['conntrack', 'iptables-legacy'],
    },
  },
  {
    name: 'kernel',
    native: true,
    needs: IPVS,
    others: {
      'bench-here.': ['ipset'],
      'conntrack.': ['conntrack', 'zones'],
      'conntrack-options.': ['conntrack', 'zones'],
      'conntrack-rate.': ['conntrack'],
      'conntrack-surroundings.': ['conntrack', 'modules'],
      'contract-netfilter.': ['conntrack', 'ipset'],
      'descriptors.': ['conntrack', 'ipset'],
      'heldNamespaces.': ['conntrack', 'ipset'],
      'iptables-histories.': ['nftables', 'iptables-legacy'],
      'iptables-restore.': ['nftables'],
      'iptables-refused.': ['nftables', 'iptables-legacy'],
      'iptables-replaced.': ['nftables', 'iptables-legacy'],
      'iptables-sets.': ['nftables', 'ipset'],
      'ipset-types.': ['ipset', 'ipset types'],
      'ipset-': ['ipset'],
      'ipset.': ['ipset'],
      'ipvs-leftConnections.': [...IPVS, 'conntrack', 'iptables-legacy'],
      'ipvs-surroundings.': [...IPVS, 'modules'],
      'largeMessages.': [],
      'messageCounts.': ['conntrack', 'ipset'],
      'modules.': [],
      'netlink.': [],
      'program.': [],
      'quickCalls.': [],
      'roundTrips-conntrack.': ['conntrack'],
      'roundTrips-ipset.': ['ipset'],
      'rtnetlinkWatch.': [],
      'soak.': ['conntrack', 'ipset'],
    },
  },
  { name: 'unit', native: true, promtool: true, shells: true },
  { name: 'native', native: true },
  { name: 'vm', native: false },
  // Most of it is one guest in QEMU, beside which the others run.
  { name: 'image', native: false, needs: [...IPVS, 'nftables'], image: true, apart: true },
  // Every scenario by every method. The harness itself is tested by the tiers unit and kernel (bench-here).
  { name: 'bench', native: true, needs: IPVS, apart: true },
  // What repeats a property many times, or needs QEMU.
  {
    name: 'long',
    native: true,
    bundled: true,
    vehicles: true,
    others: {
      'ipvs-threads.': [...IPVS, 'two processors'],
      'once.': [...IPVS, 'nftables'],
      'systemCalls.': IPVS,
    },
    apart: true,
  },
  // Compiles the binaries of all platforms, and installs every Node that the package supports.
  { name: 'package', native: true, packed: true, apart: true },
  { name: 'oracle-api', native: true, needs: IPVS, apart: true, idle: true },
  { name: 'scale', native: false, apart: true, idle: true, limit: 3300 },
  {
    name: 'scale-vm',
    native: true,
    bundled: true,
    needs: [...IPVS, 'two processors'],
    others: {
      'memory-iptables.': ['conntrack', 'nftables'],
      'modeSwitch-nft.': [...IPVS, 'nftables'],
      'modeSwitchOverloaded.': IPVS,
    },
    apart: true,
    idle: true,
    limit: 3300,
  },
];

/**
 * @param {Tier} tier
 * @param {readonly string[]} filters parts of paths; empty for all files
 * @returns {string[]} its compiled test files
 */
export function filesOf(tier, filters) {
  return filesBelow(`dist/test/${tier.name}`, /\.test\.js$/).filter(
    (path) => filters.length === 0 || filters.some((filter) => path.includes(filter)),
  );
}
