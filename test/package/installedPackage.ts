// The packed package in empty projects, run by every Node that `npm test` installs, without a compiler.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepared } from '../support/paths.js';

const TOOLS = prepared('nodes/node_modules');

/** The Nodes, with an npm that each of their users may have. */
export const NODES = [
  { node: 'node20', npm: 'npm10' },
  { node: 'node22', npm: 'npm11' },
  { node: 'node24', npm: 'npm12' },
  { node: 'node26', npm: 'npm12' },
] as const;

/** The path of a Node's binary. */
export const nodePath = (name: string): string => join(TOOLS, name, 'bin/node');

/** The path of an npm's script. */
const npmPath = (name: string): string => join(TOOLS, name, 'bin/npm-cli.js');

/** The tarball that `npm test` packed. */
export function tarball(): string {
  const folder = prepared('package');
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  assert.ok(name, `no tarball in ${folder}`);
  return join(folder, name);
}

/** The end of a program. */
export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The standard output of a program; asserts that it succeeded. */
export function succeed({ status, stdout, stderr }: Outcome): string {
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

/** A project with the package in it, outside this repository. */
export interface Project {
  readonly folder: string;
  /** Where the package is. */
  readonly installed: string;
  /** Runs a program in the project; its PATH has only the project's Node and a shell. */
  run(...command: readonly string[]): Outcome;
  /** Moves the installed package away, or back. */
  rename(to: string, from?: string): void;
  remove(): void;
}

/** Makes an empty project whose PATH has only this Node and a shell: no compiler, no make, no Python. */
export function emptyProject(node: string): Project {
  const folder = mkdtempSync(join(tmpdir(), 'knp-package-'));
  const path = join(folder, 'bin');
  mkdirSync(path);
  symlinkSync(nodePath(node), join(path, 'node'));
  symlinkSync('/bin/sh', join(path, 'sh'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const installed = join(folder, 'node_modules/kube-netlink-proxy');
  return {
    folder,
    installed,
    run: (command = '', ...args) =>
      spawnSync(command, args, { cwd: folder, encoding: 'utf8', env: environment(path) }),
    rename: (to, from = installed) => renameSync(from, to),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Runs a program in a folder, with this machine's PATH and nothing else of this process. */
export function run(folder: string, command: string, ...args: readonly string[]): Outcome {
  return spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    env: environment(process.env['PATH'] ?? ''),
  });
}

/** Installs the tarball with an npm. */
export function install({ folder, run }: Project, npm: string, ...options: readonly string[]): Outcome {
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=warn'];
  return run(join(folder, 'bin/node'), npmPath(npm), 'install', ...quiet, ...options, tarball());
}

/** Only what npm needs to reach its registry as this machine does; nothing of the npm or the test that started us. */
function environment(path: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(HOME|LANG|TMPDIR|.*_proxy|.*_CERTS?)$/i.test(name),
  );
  return { ...Object.fromEntries(kept), PATH: path };
}
