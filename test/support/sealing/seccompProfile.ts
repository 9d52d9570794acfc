// The seccomp profile of deploy/, applied to a process without a container runtime.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeAfter } from '../closeAfter.js';
import { prepared, ROOT } from '../paths.js';

/** The program that `npm test` compiles of launcher.c. */
const launcher = () => prepared('seccomp/launcher');

/** The part of the runtime specification's `linux.seccomp` that the profile uses. */
export interface SeccompProfile {
  readonly defaultAction: string;
  readonly defaultErrnoRet: number;
  readonly architectures: readonly string[];
  readonly syscalls: readonly SeccompRule[];
}

/** The action for calls of some names. */
export interface SeccompRule {
  readonly names: readonly string[];
  readonly action: string;
  readonly errnoRet?: number;
  /** One condition: `(argument & value) == valueTwo`. */
  readonly args?: readonly {
    readonly index: number;
    readonly value: number;
    readonly valueTwo: number;
    readonly op: string;
  }[];
}

/** The profile of deploy/seccomp. */
export function seccompProfile(): SeccompProfile {
  return JSON.parse(
    readFileSync(join(ROOT, 'deploy/seccomp/kube-netlink-proxy.json'), 'utf8'),
  ) as SeccompProfile;
}

/** The profile without some calls. */
export function without(profile: SeccompProfile, ...names: readonly string[]): SeccompProfile {
  const syscalls = profile.syscalls.map((rule) => ({
    ...rule,
    names: rule.names.filter((name) => !names.includes(name)),
  }));
  return { ...profile, syscalls };
}

/** Words before a command that run it under this profile, until the end of the file's tests. */
export function underProfile(profile: SeccompProfile): readonly string[] {
  return [launcher(), rulesFile(profile)];
}

/** The names of a profile that calls on arm64 do not have. */
export function unknownOnArm64(profile: SeccompProfile): string[] {
  return execFileSync(launcher(), ['--unknown', rulesFile(profile)], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => name !== '');
}

function rulesFile(profile: SeccompProfile): string {
  const folder = mkdtempSync(join(tmpdir(), 'knp-seccomp-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  const path = join(folder, 'rules');
  writeFileSync(
    path,
    rulesOf(profile)
      .map((line) => `${line}\n`)
      .join(''),
  );
  return path;
}

/** The lines that launcher.c reads. */
function rulesOf({ defaultAction, defaultErrnoRet, syscalls }: SeccompProfile): string[] {
  if (defaultAction !== 'SCMP_ACT_ERRNO') throw new Error(`unsupported action ${defaultAction}`);
  return [
    `default ${defaultErrnoRet}`,
    ...syscalls.flatMap((rule) => rule.names.map((name) => lineOf(name, rule))),
  ];
}

function lineOf(name: string, { action, errnoRet, args = [] }: SeccompRule): string {
  const [condition, ...others] = args;
  if (action === 'SCMP_ACT_ERRNO' && errnoRet !== undefined && !condition) return `errno ${name} ${errnoRet}`;
  if (action !== 'SCMP_ACT_ALLOW' || others.length > 0) throw new Error(`unsupported rule of ${name}`);
  if (!condition) return `allow ${name}`;
  if (condition.op !== 'SCMP_CMP_MASKED_EQ')
    throw new Error(`unsupported condition ${condition.op} of ${name}`);
  return `masked ${name} ${condition.index} ${condition.value} ${condition.valueTwo}`;
}
