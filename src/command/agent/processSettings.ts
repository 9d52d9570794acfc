// Settings of the host and the process, as in kube-proxy: limits and timeouts of conntrack, and the OOM score. A
// setting is written only if its value differs, and the limit of flows only if it is too low.
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import type { Logger } from 'pino';
import type { Sysctl } from '../../kernel/sysctl/index.js';
import type { Configuration } from '../config/configuration.js';
import { loadModule } from '../modes/shared/loadModules.js';
import type { Announcer } from './announce.js';

/** Timeouts are in ms; 0 keeps the kernel's value. */
type ConntrackSettings = Configuration['conntrack'];

/**
 * The most flows that `maxPerCore` asks for, with any number of CPUs: a table of more takes hundreds of MB of the kernel's memory.
 * kube-proxy 1.36.2 has the same limit (`getConntrackMax`, kubernetes/kubernetes#137002). There it also holds against a higher `min`; here
 * a higher `min` holds, which somebody has set on purpose.
 */
const MOST_BY_CORES = 1_048_576;

/** The maximum number of flows by these settings; undefined to keep the kernel's. */
export function conntrackMax(
  { maxPerCore, min }: Pick<ConntrackSettings, 'maxPerCore' | 'min'>,
  cores: number,
): number | undefined {
  return maxPerCore > 0 ? Math.max(Math.min(maxPerCore * cores, MOST_BY_CORES), min) : undefined;
}

/** The configured settings below /proc/sys, without the limit. */
export function conntrackSysctls(settings: ConntrackSettings): [name: string, value: string][] {
  const seconds = (name: string, milliseconds: number): [string, string][] =>
    milliseconds > 0 ? [[`net/netfilter/nf_conntrack_${name}`, `${Math.trunc(milliseconds / 1000)}`]] : [];
  return [
    ...seconds('tcp_timeout_established', settings.tcpEstablishedTimeout),
    ...seconds('tcp_timeout_close_wait', settings.tcpCloseWaitTimeout),
    ...(settings.tcpBeLiberal
      ? ([['net/netfilter/nf_conntrack_tcp_be_liberal', '1']] as [string, string][])
      : []),
    ...seconds('udp_timeout', settings.udpTimeout),
    ...seconds('udp_timeout_stream', settings.udpStreamTimeout),
  ];
}

const MAX = 'net/netfilter/nf_conntrack_max';
const HASH_SIZE = '/sys/module/nf_conntrack/parameters/hashsize';

/** A setting that could not be written. */
interface SettingFailure {
  /** Path of its file; below /proc/sys, without that prefix. */
  readonly setting: string;
  readonly error: Error;
  /** /sys is mounted read-only. An event tells it, as in kube-proxy before 1.36; that of 1.36 ends instead. */
  readonly readOnlySys: boolean;
}

/**
 * Whether a setting is written. The limit of flows is never lowered, as in kube-proxy from 1.38 on (kubernetes/kubernetes#142035): what was
 * raised on purpose stays. A value that is no number is written over.
 *
 * @param current its value in the kernel; undefined: it does not exist, and the write reports that
 */
export function isWritten(name: string, current: string | undefined, wanted: string): boolean {
  return name === MAX ? !(Number(current) >= Number(wanted)) : current !== wanted;
}

/** Applies the settings, and reports each failure. */
async function applyConntrackSettings(
  settings: ConntrackSettings,
  sysctl: Sysctl,
  failed: (failure: SettingFailure) => void,
): Promise<void> {
  const max = conntrackMax(settings, cpus().length);
  const wanted = conntrackSysctls(settings);
  if (max !== undefined) wanted.unshift([MAX, `${max}`]);
  for (const [name, value] of wanted) {
    try {
      if (isWritten(name, await sysctl.read(name), value)) await sysctl.write(name, value);
    } catch (error) {
      failed({ setting: name, error: error as Error, readOnlySys: false });
    }
  }
  // One bucket for four flows, as in kube-proxy.
  if (max !== undefined) await growHash(Math.trunc(max / 4), failed);
}

async function growHash(buckets: number, failed: (failure: SettingFailure) => void): Promise<void> {
  try {
    if (Number(await readFile(HASH_SIZE, 'utf8')) >= buckets) return;
    await writeFile(HASH_SIZE, `${buckets}`, { flag: 'r+' });
  } catch (error) {
    const readOnlySys = (error as NodeJS.ErrnoException).code === 'EROFS';
    failed({ setting: HASH_SIZE, error: error as Error, readOnlySys });
  }
}

/** Sets `oom_score_adj`, -1000 to 1000. */
async function applyOomScore(score: number): Promise<void> {
  const file = '/proc/self/oom_score_adj';
  if ((await readFile(file, 'utf8')).trim() !== `${score}`) await writeFile(file, `${score}`, { flag: 'r+' });
}

/** Applies all these settings. Failures are logged; a read-only /sys is also an event. */
export async function applySettings(
  { conntrack, oomScoreAdj }: Pick<Configuration, 'conntrack' | 'oomScoreAdj'>,
  sysctl: Sysctl,
  log: Logger,
  announcer: Pick<Announcer, 'readOnlySys'>,
): Promise<void> {
  // The settings exist only while the module is loaded. If it cannot be loaded, the next step reports the failure.
  await loadModule('nf_conntrack');
  await applyConntrackSettings(conntrack, sysctl, ({ setting, error, readOnlySys }) => {
    log.error({ setting, err: error.message }, 'cannot write a setting');
    if (readOnlySys) announcer.readOnlySys();
  });
  await applyOomScore(oomScoreAdj).catch((error: unknown) => {
    log.debug({ err: String(error) }, 'cannot set oom_score_adj');
  });
}
