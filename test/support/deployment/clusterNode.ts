// A node of a cluster in a laboratory: the volumes of its ConfigMaps, and the containers of pods as processes in its network namespace, with the
// command line, the environment and the privileges of their manifest.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMAND } from '../../laboratory/proxyProcess.js';
import { LoggedProcess } from '../processes/agentProcess.js';
import { withCapabilities } from '../sealing/withCapabilities.js';
import { type ConfigMapFiles, mountFiles, updateFiles } from './configMapVolume.js';
import type { Container, PodSpec } from './daemonSet.js';

/** Where the pods mount their ConfigMap. */
const MOUNTED = '/var/lib/kube-proxy';
/** As in a container without privileges. */
const READ_ONLY_SYS = 'mount -o bind,ro /proc/sys /proc/sys && exec "$@"';

/** What a program printed, and its exit status. */
export interface Printed {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A node; the test's own process may serve its pods meanwhile. */
export class ClusterNode {
  /** For files of commands; it has the folders of the ConfigMaps too. */
  readonly folder = mkdtempSync(join(tmpdir(), 'knp-node-'));
  readonly name: string;
  readonly namespace: string;
  #running: LoggedProcess | undefined;

  constructor(name: string, namespace: string) {
    this.name = name;
    this.namespace = namespace;
  }

  /** Creates the volume of a ConfigMap. */
  mount(configMap: string, files: ConfigMapFiles): void {
    mkdirSync(join(this.folder, configMap));
    mountFiles(join(this.folder, configMap), files);
  }

  /** The ConfigMap was edited, and the kubelet has seen it. */
  update(configMap: string, files: ConfigMapFiles): void {
    updateFiles(join(this.folder, configMap), files);
  }

  /** The pod of a DaemonSet is created: its init containers run to their end, and its container starts. */
  async start(spec: PodSpec): Promise<LoggedProcess> {
    for (const container of spec.initContainers ?? []) {
      const { status, stderr } = await this.#end(spec, container);
      if (status !== 0) throw new Error(`${container.name} ended with ${status}: ${stderr}`);
    }
    const words = this.#words(spec, spec.containers[0]);
    this.#running = new LoggedProcess('ip', ['netns', 'exec', this.namespace, ...words]);
    return this.#running;
  }

  /** The pod that was started last is deleted: resolves to the exit status of its container. */
  async delete(): Promise<number | NodeJS.Signals | undefined> {
    return (await this.#running?.end('SIGTERM'))?.status;
  }

  /** A pod that is not restarted runs to its end. */
  runPod(spec: PodSpec): Promise<Printed> {
    return this.#end(spec, spec.containers[0]);
  }

  /**
   * Runs commands of a document in a shell on the node. `POD` is the pod that was started last, which prints its log and executes commands
   * for `kubectl`; NODE is the node, and the files are in {@link folder}.
   *
   * @param configMap what the pod mounts
   */
  shell(commands: string, configMap: string): Promise<Printed> {
    const own = commands
      .replaceAll('/tmp/', `${this.folder}/`)
      .replaceAll(MOUNTED, join(this.folder, configMap))
      .replaceAll(/\bNODE\b/g, this.name);
    const log = this.#running?.log.join('\n') ?? '';
    const environment = { LOG: log, VOLUMES: this.folder };
    // With a socket as standard input, bash reads ~/.bashrc otherwise, as for a remote shell.
    return this.#ended(['bash', '--norc', '-c', `${SHELL_FUNCTIONS}\n${own}`], environment);
  }

  async close(): Promise<void> {
    await this.#running?.close();
    rmSync(this.folder, { recursive: true });
  }

  #end(spec: PodSpec, container: Container): Promise<Printed> {
    return this.#ended(this.#words(spec, container));
  }

  #ended(words: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Printed> {
    return new Promise((resolve) => {
      const env = { ...process.env, ...environment };
      execFile('ip', ['netns', 'exec', this.namespace, ...words], { env }, (error, stdout, stderr) => {
        const { code = 0 } = (error ?? {}) as { code?: number | string };
        resolve({ status: Number(code), stdout, stderr });
      });
    });
  }

  #words({ volumes }: PodSpec, { command, env = [], securityContext, volumeMounts }: Container): string[] {
    const { name } = volumeMounts.find(({ mountPath }) => mountPath === MOUNTED) ?? {};
    const configMap = volumes.find((volume) => volume.name === name)?.configMap?.name ?? '';
    const args = command.slice(1).map((word) => {
      const expanded = env.reduce((text, { name: field }) => text.replace(`$(${field})`, this.name), word);
      return expanded.replace(MOUNTED, join(this.folder, configMap));
    });
    const { privileged = false, capabilities } = securityContext;
    const limits = privileged
      ? []
      : [
          ...['sh', '-ec', READ_ONLY_SYS, 'sh'],
          ...withCapabilities((capabilities?.add ?? []).map((each) => each.toLowerCase())),
        ];
    return [...limits, process.execPath, COMMAND, ...args];
  }
}

/** What kubectl does with a pod of the node and with a ConfigMap; the proxy's command has the name that it has in the image. */
const SHELL_FUNCTIONS = `kubectl() {
  case "$*" in
    *' logs POD') printf '%s\\n' "$LOG" ;;
    *' exec POD -- '*) while [ "$1" != -- ]; do shift; done; shift; "$@" ;;
    *' get configmap kube-proxy -o jsonpath={.data.'*)
      local file=\${!#}; file=\${file#*data.}; file=\${file%\\}}
      cat "$VOLUMES/kube-proxy/\${file//\\\\/}" ;;
    *) echo "kubectl $*: only a cluster can do that" >&2; return 1 ;;
  esac
}
kube-netlink-proxy() { '${process.execPath}' '${COMMAND}' "$@"; }`;
