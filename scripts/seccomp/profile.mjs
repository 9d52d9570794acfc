// The seccomp profile, from the names of system calls: `linux.seccomp` of the OCI runtime specification, which containerd and CRI-O
// read from the file that `localhostProfile` names.

import { ALWAYS, EQUIVALENTS, RUNTIME, WITHHELD } from './names.mjs';

const EPERM = 1;
const ENOSYS = 38;

/** The flags of clone(2) that make a namespace: CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NAMESPACES = 0x7e020000;

/**
 * @param {readonly string[]} recorded names, in any order, also repeatedly
 */
export function profileOf(recorded) {
  const wanted = new Set([...recorded, ...ALWAYS, ...RUNTIME]);
  for (const group of EQUIVALENTS) {
    if (group.some((name) => wanted.has(name))) for (const name of group) wanted.add(name);
  }
  const names = [...wanted].filter((name) => !(name in WITHHELD) && name !== 'clone').sort();
  return {
    // As in the runtimes' default profiles: a refused call returns EPERM, and the process goes on.
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: EPERM,
    // A program of another architecture is killed, 32-bit ones too.
    architectures: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64'],
    syscalls: [
      { names, action: 'SCMP_ACT_ALLOW' },
      {
        names: ['clone'],
        action: 'SCMP_ACT_ALLOW',
        args: [{ index: 0, value: NAMESPACES, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }],
      },
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    ],
  };
}

/**
 * The text of a file, with one name of a call in each line.
 *
 * @param {object} value
 */
export const textOf = (value) => `${JSON.stringify(value, null, 2)}\n`;
