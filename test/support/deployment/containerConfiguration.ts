// Converts a container of a pod to the configuration of an OCI runtime, like containerd.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepared } from '../paths.js';
import type { Container } from './daemonSet.js';

/** The folder in which `npm run task -- image` unpacks the image: `rootfs` and `config.json`. */
export const IMAGE = prepared('image/unpacked');

/** A mount from the node. */
export interface Mount {
  readonly source: string;
  readonly destination: string;
  readonly readOnly: boolean;
}

/** All capabilities up to CAP_CHECKPOINT_RESTORE of Linux 5.9. */
const ALL_CAPABILITIES = (
  'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE ' +
  'NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN ' +
  'SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE ' +
  'MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE'
).split(' ');

/** The paths that containerd masks in unprivileged containers, and those that it makes read-only. */
const MASKED = [
  '/proc/acpi',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/sys/firmware',
];
const READ_ONLY = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** The runtime's configuration; the root filesystem is `rootfs` in the same folder. */
export function runtimeConfiguration(
  container: Container,
  nodeName: string,
  mounts: readonly Mount[],
): object {
  const { privileged = false, readOnlyRootFilesystem = false, ...security } = container.securityContext;
  const image = JSON.parse(readFileSync(join(IMAGE, 'config.json'), 'utf8')) as { Env: string[] };
  const variables = (container.env ?? []).map(({ name, valueFrom }) => {
    if (valueFrom.fieldRef.fieldPath !== 'spec.nodeName') throw new Error(`unsupported fieldRef of ${name}`);
    return [name, nodeName] as const;
  });
  const capabilities = (privileged ? ALL_CAPABILITIES : grantedOf(security.capabilities)).map(
    (name) => `CAP_${name}`,
  );
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid: 0, gid: 0 },
      args: container.command.map((word) => expand(word, new Map(variables))),
      env: [...image.Env, ...variables.map(([name, value]) => `${name}=${value}`)],
      cwd: '/',
      capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
      noNewPrivileges: security.allowPrivilegeEscalation === false,
    },
    root: { path: 'rootfs', readonly: readOnlyRootFilesystem },
    mounts: [...kernelFileSystems(privileged), ...mounts.map(bind)],
    linux: {
      // No network namespace: host network.
      namespaces: ['pid', 'mount', 'ipc'].map((type) => ({ type })),
      ...(privileged ? {} : { maskedPaths: MASKED, readonlyPaths: READ_ONLY }),
    },
  };
}

function grantedOf(capabilities: Container['securityContext']['capabilities']): readonly string[] {
  if (capabilities?.drop?.join() !== 'ALL') throw new Error('only a container that drops ALL is supported');
  return capabilities.add ?? [];
}

/** Expands `$(NODE_NAME)`, like kubelet. */
function expand(word: string, variables: ReadonlyMap<string, string>): string {
  return word.replace(/\$\(([A-Z_]+)\)/g, (whole, name) => variables.get(name) ?? whole);
}

function kernelFileSystems(privileged: boolean): object[] {
  const safe = ['nosuid', 'noexec', 'nodev'];
  return [
    { destination: '/proc', type: 'proc', source: 'proc', options: safe },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=65536k'] },
    {
      destination: '/dev/pts',
      type: 'devpts',
      source: 'devpts',
      options: ['nosuid', 'noexec', 'newinstance'],
    },
    { destination: '/sys', type: 'sysfs', source: 'sysfs', options: [...safe, privileged ? 'rw' : 'ro'] },
  ];
}

function bind({ source, destination, readOnly }: Mount): object {
  return { destination, type: 'bind', source, options: ['rbind', 'rprivate', readOnly ? 'ro' : 'rw'] };
}
