// Selects where a test runs: on this machine, or in the first test machine with the features that the test needs.

import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { Failure } from '../lib/failure.mjs';
import { serves } from '../vm/namespace.mjs';
import { VEHICLE_NAMES, VEHICLES } from '../vm/vehicles.mjs';

/** @typedef {import('../vm/vehicles.mjs').VehicleName} VehicleName */
/** @typedef {VehicleName | 'machine'} Place */

/**
 * Features of a kernel that tests need, and the commands that succeed if this machine's kernel has them.
 */
const TRIALS = {
  ipvs: 'ipvsadm -Ln',
  'dummy device': 'ip link add knp-trial type dummy',
  ipset: 'ipset create knp-trial hash:ip',
  'ipset types': 'ipset create knp-trial hash:mac && ipset create knp-second hash:net,port,net',
  conntrack: 'conntrack -L',
  zones: 'conntrack -I -s 10.0.0.9 -d 10.0.0.1 -p udp --sport 4000 --dport 80 -t 100 -w 1',
  nftables: 'iptables-nft -t nat -N KNP-TRIAL && iptables-nft -t nat -A KNP-TRIAL -j MASQUERADE',
  'iptables-legacy':
    'iptables-legacy -t nat -N KNP-TRIAL && iptables-legacy -t nat -A KNP-TRIAL -j MASQUERADE',
  'bridge filter':
    'ip link add knp-trial type bridge && test -e /proc/sys/net/bridge/bridge-nf-call-iptables',
  'two processors': `[ ${availableParallelism()} -ge 2 ]`,
  // Modules belong to the whole machine: no test may unload one here, or prevent their loading.
  modules: 'false',
};

/** @typedef {keyof typeof TRIALS} Need */

/** @type {Readonly<Record<VehicleName, (need: Need) => boolean>>} */
const OFFERS = {
  namespace: (need) => serves(TRIALS[need]),
  uml: (need) => !['zones', 'nftables', 'two processors'].includes(need),
  qemu: () => true,
};

/** @type {Map<string, boolean>} Results do not change during the tests. */
const answers = new Map();

/**
 * @param {VehicleName} name
 * @param {Need} need
 */
function offers(name, need) {
  const key = `${name} ${need}`;
  const answer = answers.get(key) ?? OFFERS[name](need);
  answers.set(key, answer);
  return answer;
}

/**
 * @param {import('./tiers.mjs').Tier} tier
 * @param {string} file of this tier
 * @returns {readonly Need[] | undefined} undefined if it needs no vehicle
 */
function needsOf(tier, file) {
  const others = Object.entries(tier.others ?? {});
  return others.find(([start]) => basename(file).startsWith(start))?.[1] ?? tier.needs;
}

/**
 * @param {import('./tiers.mjs').Tier} tier
 * @param {string} file of this tier
 * @param {VehicleName | undefined} named the vehicle that the user selected for all kernel tests
 * @returns {Promise<Place>}
 */
export async function placeOf(tier, file, named) {
  const needs = needsOf(tier, file);
  if (needs === undefined) return 'machine';
  for (const name of named === undefined ? VEHICLE_NAMES : [named]) {
    if (needs.every((need) => offers(name, need)) && (await VEHICLES[name].serves())) return name;
  }
  throw new Failure(
    `${file} needs ${needs.join(', ')}: no ${named ?? 'vehicle'} on this machine has them all`,
  );
}

/** @param {Place} place */
export const titleOf = (place) => (place === 'machine' ? 'on this machine' : `in ${VEHICLES[place].title}`);
