// What kube-proxy sets beside Services: limits and time-outs of connection tracking, and the process's place when memory
// runs out. Read first, and written only where it differs.
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import type { Logger } from 'pino';
import { loadModule } from '../kernel/modules.js';
import type { Sysctl } from '../kernel/sysctl/index.js';
import type { Announcer } from './announce.js';

/** KubeProxyConfiguration's `conntrack`; times in ms. */
export interface ConntrackSettings {
  /** Flows per CPU; 0 leaves the kernel's limit as it is. */
  readonly maxPerCore: number;
  /** The limit is no lower than this. */
  readonly min: number;
  /** These four: 0 leaves the kernel's value as it is. */
  readonly tcpEstablishedTimeout: number;
  readonly tcpCloseWaitTimeout: number;
  readonly udpTimeout: number;
  readonly udpStreamTimeout: number;
  readonly tcpBeLiberal: boolean;
}

/** The limit of flows that the settings ask for; undefined when they ask for none. */
export function conntrackMax(
  { maxPerCore, min }: Pick<ConntrackSettings, 'maxPerCore' | 'min'>,
  cores: number,
): number | undefined {
  return maxPerCore > 0 ? Math.max(maxPerCore * cores, min) : undefined;
}

/** Settings below /proc/sys that the configuration asks for, beside the limit. */
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

/** What could not be set. */
interface SettingFailure {
  /** The file. */
  readonly setting: string;
  readonly error: Error;
  /** /sys is mounted read-only: kube-proxy has an event of its own for it. */
  readonly readOnlySys: boolean;
}

/** Makes the settings; what fails is told, and the rest is done. */
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
      if ((await sysctl.read(name)) !== value) await sysctl.write(name, value);
    } catch (error) {
      failed({ setting: name, error: error as Error, readOnlySys: false });
    }
  }
  // The kernel's own proportion: a bucket for every four flows.
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

/** Sets `oomScoreAdj`, -1000 to 1000: how soon the process is killed when memory runs out. */
async function applyOomScore(score: number): Promise<void> {
  const file = '/proc/self/oom_score_adj';
  if ((await readFile(file, 'utf8')).trim() !== `${score}`) await writeFile(file, `${score}`, { flag: 'r+' });
}

/** Makes all of these settings. What fails is told, in the log and where the cluster looks, and the rest is done. */
export async function applySettings(
  { conntrack, oomScoreAdj }: { readonly conntrack: ConntrackSettings; readonly oomScoreAdj: number },
  sysctl: Sysctl,
  log: Logger,
  announcer: Pick<Announcer, 'readOnlySys'>,
): Promise<void> {
  // The settings exist only while the module is loaded; what is wrong with it shows in what follows.
  await loadModule('nf_conntrack');
  await applyConntrackSettings(conntrack, sysctl, ({ setting, error, readOnlySys }) => {
    log.error({ setting, err: error.message }, 'a setting could not be made');
    if (readOnlySys) announcer.readOnlySys();
  });
  await applyOomScore(oomScoreAdj).catch((error: unknown) => {
    log.debug({ err: String(error) }, "the process's OOM score could not be set");
  });
}
