// The judged proxy as a process in the namespace of node-a, from a command line with placeholders.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { undoAtExit } from '../../laboratory/atExit.js';
import { COMMAND } from '../../laboratory/proxyProcess.js';
import { JUDGED_NODE } from '../core/world.js';
import { type FaultFiles, writeFaultFiles } from './faultFiles.js';
import type { JudgedMode } from './vandalism.js';

/** The command line of this project's proxy. */
export const OWN_PROXY: readonly string[] = [
  ...[process.execPath, COMMAND],
  ...['--config', '{config}', '--hostname-override', '{node}'],
];

/** The mode to which a proxy changes for a time, on the machine where its own mode is judged: nftables has no NAT in User Mode Linux. */
const OTHER_MODE: Readonly<Record<JudgedMode, JudgedMode>> = {
  ...{ nftables: 'iptables', iptables: 'nftables', ipvs: 'iptables' },
};

/** Whether the words of a proxy select its mode: without them, it cannot be changed. */
export function selectsMode(command: readonly string[]): boolean {
  return command.some((word) => /\{(config|mode)\}/.test(word));
}

/** How a proxy is started. */
export interface ProxyOrders {
  /** Words with the placeholders {kubeconfig}, {node}, {config} and {mode}. */
  readonly command: readonly string[];
  /** Its own mode, with which it starts first. */
  readonly mode: JudgedMode;
  readonly namespace: string;
  /** Folder of its files and its log. */
  readonly folder: string;
  /** URL of the API server. */
  readonly server: string;
  /** Its sync period, in s. */
  readonly syncPeriod: number;
}

/** A proxy that is started, stopped and ended many times. */
export class JudgedProxy {
  readonly #orders: ProxyOrders;
  readonly #values: Readonly<Record<'kubeconfig' | 'config' | 'node', string>>;
  readonly #log: string;
  /** What faults of the node need. */
  readonly files: FaultFiles;
  #mode: JudgedMode;
  #child: ChildProcess | undefined;
  #forget = () => {};

  constructor(orders: ProxyOrders) {
    const kubeconfig = join(orders.folder, 'kubeconfig');
    const config = join(orders.folder, 'config.conf');
    writeFileSync(kubeconfig, kubeconfigText(orders.server));
    this.#orders = orders;
    this.#values = { kubeconfig, config, node: JUDGED_NODE.name };
    this.#mode = orders.mode;
    this.#log = join(orders.folder, 'proxy.log');
    this.files = writeFaultFiles(orders.folder);
  }

  /** Path of its log. */
  get log(): string {
    return this.#log;
  }

  /** Whether it runs. */
  get runs(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Its process; undefined if it does not run. `ip netns exec` executes the command in the same process. */
  get pid(): number | undefined {
    return this.runs ? this.#child?.pid : undefined;
  }

  /** The mode with which it was started last. */
  get mode(): JudgedMode {
    return this.#mode;
  }

  /** The mode that is judged. */
  get ownMode(): JudgedMode {
    return this.#orders.mode;
  }

  /** The mode to which it changes for a time. */
  get otherMode(): JudgedMode {
    return OTHER_MODE[this.ownMode];
  }

  /** Starts it in a mode; by default the one with which it was started last. */
  start(mode = this.#mode): void {
    this.#mode = mode;
    const { command, namespace, syncPeriod } = this.#orders;
    const values: Record<string, string> = { ...this.#values, mode };
    writeFileSync(this.#values.config, configText({ mode, syncPeriod }, this.#values.kubeconfig));
    const words = command.map((word) =>
      word.replaceAll(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole),
    );
    const log = openSync(this.#log, 'a');
    const child = spawn('ip', ['netns', 'exec', namespace, ...words], {
      stdio: ['ignore', log, log],
      env: this.files.environment,
    });
    closeSync(log);
    this.#child = child;
    this.#forget = undoAtExit(() => child.kill('SIGKILL'));
  }

  /** Sends a signal to it. */
  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  /** Ends it; resolves when it has ended. After 20 s, it is killed. */
  async end(name: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || !this.runs) return;
    const ended = once(child, 'exit');
    child.kill(name);
    const waiting = new AbortController();
    const kill = delay(20_000, undefined, { signal: waiting.signal }).then(
      () => child.kill('SIGKILL'),
      () => {},
    );
    await ended;
    waiting.abort();
    await kill;
    this.#forget();
  }
}

function kubeconfigText(server: string): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: judge
  cluster: { server: "${server}" }
contexts:
- name: judge
  context: { cluster: judge, user: judge }
current-context: judge
users:
- name: judge
  user: {}
`;
}

function configText(
  { mode, syncPeriod }: Pick<ProxyOrders, 'mode' | 'syncPeriod'>,
  kubeconfig: string,
): string {
  const periods = `{ syncPeriod: ${syncPeriod}s, minSyncPeriod: 1s }`;
  return `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: ${mode}
clusterCIDR: 10.244.0.0/16,fd00:10:244::/48
clientConnection: { kubeconfig: "${kubeconfig}" }
conntrack: { maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s }
iptables: ${periods}
ipvs: ${periods}
nftables: ${periods}
`;
}
