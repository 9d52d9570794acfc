// The AppArmor profile of deploy/apparmor: its syntax, and the component that names it. test/e2e/appArmor.test.ts enforces it.
// Needs: apparmor
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type DaemonSet, patched, readDeployed } from '../../support/deployment/daemonSet.js';
import { prepared, ROOT } from '../../support/paths.js';

const PARSER = prepared('apparmor');
const PROFILE = 'deploy/apparmor/kube-netlink-proxy';
const text = readFileSync(join(ROOT, PROFILE), 'utf8');

/** Parses a profile, and loads nothing; prints the names of its profiles with --names. */
function parse(profile: string, ...options: readonly string[]) {
  const base = ['--config-file', '/dev/null', '--base', join(PARSER, 'etc/apparmor.d')];
  const features = [
    '--policy-features',
    join(PARSER, 'etc/apparmor.d/abi/3.0'),
    '--kernel-features',
    join(PARSER, 'etc/apparmor.d/abi/3.0'),
  ];
  const args = ['--skip-kernel-load', '--skip-cache', ...base, ...features, '--warn=all', ...options];
  return spawnSync(join(PARSER, 'sbin/apparmor_parser'), args, { input: profile, encoding: 'utf8' });
}

test('apparmor_parser accepts it without a warning', () => {
  const { status, stderr } = parse(text);
  assert.equal(stderr, '');
  assert.equal(status, 0);
});

test('its name is the one that the component names', () => {
  assert.equal(parse(text, '--names').stdout, 'kube-netlink-proxy\n');
  const base = readDeployed<DaemonSet>('base/daemonset.yaml');
  const [before] = base.spec.template.spec.containers;
  const [after] = patched(base, readDeployed<object>('apparmor/daemonset.yaml')).spec.template.spec
    .containers;
  const { appArmorProfile, ...rest } = after.securityContext;
  assert.deepEqual(appArmorProfile, { type: 'Localhost', localhostProfile: 'kube-netlink-proxy' });
  assert.deepEqual({ ...after, securityContext: rest }, before);
});

test('its capabilities are those of the DaemonSet', () => {
  const granted = [...text.matchAll(/^ {2}capability (\w+),$/gm)].map(([, name = '']) => name.toUpperCase());
  const [{ securityContext }] = readDeployed<DaemonSet>('base/daemonset.yaml').spec.template.spec.containers;
  assert.deepEqual(granted, securityContext.capabilities?.add);
});

test('a wrong rule is refused', () => {
  const { status, stderr } = parse(text.replace('capability net_raw,', 'capability net_raww,'));
  assert.notEqual(status, 0);
  assert.match(stderr, /net_raww/);
});
