// The AppArmor profile of deploy/ in the kernel, and the command at the path that it has in the image. Only for a machine that ends with the test: its
// /opt and /var/lib/kube-proxy are new.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { prepared, ROOT } from '../paths.js';

const PARSER = prepared('apparmor');
const PACKAGE = '/opt/kube-netlink-proxy';

/** Where the profile lets the proxy read its configuration. */
export const CONFIGURATION = '/var/lib/kube-proxy';
/** The command, as the image has it. */
export const PLACED_COMMAND = join(PACKAGE, 'dist/command/main.js');

/** The text of the profile. */
export const appArmorProfile = () => readFileSync(join(ROOT, 'deploy/apparmor/kube-netlink-proxy'), 'utf8');

/** Loads a profile in place of the one with its name. */
export function load(profile: string): void {
  const files = ['--config-file', '/dev/null', '--base', join(PARSER, 'etc/apparmor.d')];
  const features = ['--policy-features', join(PARSER, 'etc/apparmor.d/abi/3.0')];
  const args = [...files, ...features, '--skip-cache', '--replace'];
  execFileSync(join(PARSER, 'sbin/apparmor_parser'), args, { input: profile });
}

/** Puts the package at its path, and makes the folder of the configuration. @returns words before a command that confine it */
export function placePackage(): string {
  execFileSync('mount', ['-t', 'securityfs', 'none', '/sys/kernel/security']);
  for (const folder of [dirname(PACKAGE), '/var/lib']) execFileSync('mount', ['-t', 'tmpfs', 'none', folder]);
  mkdirSync(CONFIGURATION);
  for (const part of [
    'package.json',
    'dist/command',
    'build/Release/knp.node',
    'node_modules/node-gyp-build',
  ])
    cpSync(join(ROOT, part), join(PACKAGE, part), { recursive: true });
  const launcher = join(CONFIGURATION, 'confined');
  writeFileSync(launcher, '#!/bin/sh\necho "exec kube-netlink-proxy" >/proc/self/attr/exec\nexec "$@"\n');
  chmodSync(launcher, 0o755);
  return launcher;
}
