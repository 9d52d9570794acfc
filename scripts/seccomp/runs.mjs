// The runs whose system calls are recorded: end-to-end tests with agents, in each mode, with the programs of this machine and with
// those of the image.

/**
 * @typedef {object} Run
 * @property {string} name
 * @property {import('../vm/testMachines.mjs').TestMachineName} machine
 * @property {boolean} image whether the agents run in the root filesystem of the image, with its Node.js and its programs
 * @property {readonly string[]} tests names of files of test/e2e
 */

/** @type {readonly Omit<Run, 'image'>[]} In User Mode Linux, only calls are recorded that none of the others has. */
const MODES = [
  { name: 'iptables-nft', machine: 'namespace', tests: ['sealed-iptables-nft', 'seccomp-iptablesMode'] },
  { name: 'iptables-legacy', machine: 'namespace', tests: ['sealed-iptables-legacy'] },
  { name: 'nftables', machine: 'namespace', tests: ['sealed-nftables', 'seccomp-layoutSwitch-nftables'] },
  { name: 'ipvs', machine: 'uml', tests: ['sealed-ipvs'] },
];

/** @type {readonly Run[]} The image's Node.js is the same in all modes, and ipvs mode starts the programs of iptables mode. */
export const RUNS = MODES.flatMap((run) => [
  { ...run, image: false },
  ...(run.machine === 'namespace' ? [{ ...run, name: `${run.name}-image`, image: true }] : []),
]);
