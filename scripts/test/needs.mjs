// What a test file needs, as its line `// Needs: …` says, which is in the comment at its top.

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure } from '../lib/failure.mjs';
import { NFT_SUITES } from './nftVersions.mjs';

/** Features of a kernel. Their values are commands that succeed if this machine's kernel has them. */
export const FEATURES = {
  namespace: 'true',
  ipvs: 'ipvsadm -Ln',
  'dummy device': 'ip link add knp-trial type dummy',
  ipset: 'ipset create knp-trial hash:ip',
  'ipset types': 'ipset create knp-trial hash:mac && ipset create knp-second hash:net,port,net',
  conntrack: 'conntrack -L',
  zones: 'conntrack -I -s 10.0.0.9 -d 10.0.0.1 -p udp --sport 4000 --dport 80 -t 100 -w 1',
  nftables: 'iptables-nft -t nat -N KNP-TRIAL && iptables-nft -t nat -A KNP-TRIAL -j MASQUERADE',
  'iptables-legacy':
    'iptables-legacy -t nat -N KNP-TRIAL && iptables-legacy -t nat -A KNP-TRIAL -j MASQUERADE',
  // Of the backend that the name iptables is.
  nat: 'iptables -t nat -N KNP-TRIAL && iptables -t nat -A KNP-TRIAL -j MASQUERADE',
  'bridge filter':
    'ip link add knp-trial type bridge && test -e /proc/sys/net/bridge/bridge-nf-call-iptables',
  'flow table':
    "nft 'add table ip knp-trial; add flowtable ip knp-trial f { hook ingress priority 0; devices = { lo }; }'",
  'two processors': `[ ${availableParallelism()} -ge 2 ]`,
  // Modules and profiles of AppArmor belong to the whole machine: no test may unload or load one here, or prevent its loading.
  modules: 'false',
  'enforced AppArmor': 'false',
};

/** What `npm test` prepares on this machine. */
export const PREPARED = {
  apparmor: 'the parser of AppArmor',
  command: 'the command of the package (npm run task -- bundle)',
  curl: 'curl, as documents use it',
  cycloneDx: 'the schema of CycloneDX',
  deployTools: 'kustomize, the engine of templates of Go, and the types of Grafana',
  image: 'the container image, and crun',
  builds: 'two builds of the container image',
  nft: `other versions of nft, of Debian ${NFT_SUITES.join(' and ')}`,
  package: 'the package as npm publishes it, and every Node.js that it supports',
  promtool: 'promtool, of Prometheus',
  seccomp: 'a program that runs others under a seccomp filter',
  shells: 'zsh, fish and groff',
  testMachines: 'all test machines that this machine has',
  idle: 'that no other test runs at the same time',
  time: 'so much time that only --all runs it, or a filter',
};

/**
 * @typedef {keyof typeof FEATURES} Feature
 * @typedef {keyof typeof PREPARED} Preparation
 *
 * @typedef {object} Needs
 * @property {readonly Feature[]} features it runs in a test machine that has them; without one, it runs on this machine
 * @property {readonly Preparation[]} prepared
 */

/** @type {(word: string) => word is Feature} */
const isFeature = (word) => Object.hasOwn(FEATURES, word);
/** @type {(word: string) => word is Preparation} */
const isPrepared = (word) => Object.hasOwn(PREPARED, word);

const LINE = /^\/\/ Needs: (.*)$/;

/**
 * @param {string} file a test file, relative to the checkout
 * @returns {Needs}
 */
export function needsOf(file) {
  const lines = readFileSync(join(CHECKOUT, file), 'utf8').split('\n');
  const line = lines.slice(
    0,
    lines.findIndex((text) => !text.startsWith('//')),
  );
  const words = line.flatMap((text) => LINE.exec(text)?.[1]?.split(', ') ?? []);
  const unknown = words.find((word) => !isFeature(word) && !isPrepared(word));
  if (unknown !== undefined) throw new Failure(`${file} needs ${unknown}, which is unknown (see --help)`);
  return { features: words.filter(isFeature), prepared: words.filter(isPrepared) };
}
