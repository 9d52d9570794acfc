// Runs a DaemonSet's pod from the image's root filesystem with crun, like kubelet and containerd: with the host
// network, and the mounts, capabilities and read-only root of the manifest.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { PATIENCE } from '../../laboratory/patience.js';
import { IMAGE, runtimeConfiguration } from './containerConfiguration.js';
import type { Container, PodSpec } from './daemonSet.js';

/** The environment of a pod. */
export interface ContainerContext {
  readonly nodeName: string;
  /** ConfigMaps by name: file name → text. */
  readonly configMaps: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Files of the service account. */
  readonly serviceAccount: Readonly<Record<string, string>>;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

let count = 0;

/** The folders and files in a pod's containers. */
export class Pod {
  readonly folder = mkdtempSync(join(tmpdir(), 'knp-pod-'));
  readonly #spec: PodSpec;
  readonly #context: ContainerContext;
  readonly #containers: RunningContainer[] = [];
  #closed = false;

  constructor(spec: PodSpec, context: ContainerContext) {
    this.#spec = spec;
    this.#context = context;
    // crun needs it; it exists on every node.
    execFileSync('sh', ['-c', 'mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup2 /sys/fs/cgroup']);
    // The upper layer of an overlay can be on tmpfs, but not on the VM's own overlay.
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', this.folder]);
    this.#write('serviceaccount', context.serviceAccount);
    for (const { name, configMap } of spec.volumes) {
      if (configMap) this.#write(name, context.configMaps[configMap.name] ?? {});
    }
  }

  /** Runs the init containers to their end, and starts the container. */
  async start(): Promise<RunningContainer> {
    for (const container of this.#spec.initContainers ?? []) {
      const running = this.#run(container);
      const { status } = await running.end();
      if (status !== 0) throw new Error(`${container.name} ended with ${status}:\n${running.log.join('\n')}`);
    }
    return this.#run(this.#spec.containers[0]);
  }

  /** Ends all running containers; may be called again. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const container of this.#containers) await container.close();
    execFileSync('umount', ['--lazy', this.folder]);
    rmSync(this.folder, { recursive: true });
  }

  #run(container: Container): RunningContainer {
    count += 1;
    const id = `knp-${process.pid}-${count}`;
    const bundle = join(this.folder, id);
    for (const part of ['upper', 'work', 'rootfs']) mkdirSync(join(bundle, part), { recursive: true });
    const layers = `lowerdir=${IMAGE}/rootfs,upperdir=${bundle}/upper,workdir=${bundle}/work`;
    execFileSync('mount', ['-t', 'overlay', '-o', layers, 'overlay', join(bundle, 'rootfs')]);
    const config = runtimeConfiguration(container, this.#context.nodeName, this.#mounts(container));
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(config));
    const running = new RunningContainer(id, bundle);
    this.#containers.push(running);
    return running;
  }

  #mounts({ volumeMounts }: Container): { source: string; destination: string; readOnly: boolean }[] {
    const mounts = volumeMounts.map(({ name, mountPath, readOnly = false }) => {
      const volume = this.#spec.volumes.find((each) => each.name === name);
      if (!volume) throw new Error(`there is no volume ${name}`);
      const { hostPath } = volume;
      if (hostPath?.type === 'FileOrCreate') writeFileSync(hostPath.path, '', { flag: 'a', mode: 0o644 });
      const source = hostPath?.path ?? join(this.folder, name);
      statSync(source);
      return { source, destination: mountPath, readOnly: readOnly || volume.configMap !== undefined };
    });
    const account = {
      source: join(this.folder, 'serviceaccount'),
      destination: SERVICE_ACCOUNT,
      readOnly: true,
    };
    return [...mounts, account];
  }

  #write(folder: string, files: Readonly<Record<string, string>>): void {
    mkdirSync(join(this.folder, folder));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.folder, folder, name), text);
  }
}

/** A started container. */
export class RunningContainer {
  /** Lines of its standard error. */
  readonly log: string[] = [];
  /** Lines of its standard output. */
  readonly output: string[] = [];
  readonly #id: string;
  readonly #bundle: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(id: string, bundle: string) {
    this.#id = id;
    this.#bundle = bundle;
    this.#child = spawn(
      'crun',
      [...this.#crun(), 'run', '--pid-file', join(bundle, 'pid'), '--bundle', bundle, id],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    this.#ended = once(this.#child, 'close');
    const read = (stream: unknown, lines: string[]) =>
      createInterface({ input: stream as NodeJS.ReadableStream }).on('line', (line) => lines.push(line));
    read(this.#child.stdout, this.output);
    read(this.#child.stderr, this.log);
  }

  /** Waits for a matching line of the log, and returns the first one. */
  async logged(pattern: RegExp, milliseconds = PATIENCE): Promise<string> {
    const deadline = Date.now() + milliseconds;
    for (;;) {
      const line = this.log.find((text) => pattern.test(text));
      if (line !== undefined) return line;
      if (this.#child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`the container did not log ${pattern}; its log:\n${this.log.slice(-20).join('\n')}`);
      }
      await wait(10);
    }
  }

  /** Runs a command in it, like `kubectl exec`. */
  async exec(...command: readonly string[]): Promise<{ status: number; stdout: string; stderr: string }> {
    const child = spawn('crun', [...this.#crun(), 'exec', this.#id, ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: PATIENCE,
    });
    const texts = [child.stdout, child.stderr].map(async (stream) =>
      (await stream.setEncoding('utf8').toArray()).join(''),
    );
    const [status] = (await once(child, 'close')) as [number];
    const [stdout = '', stderr = ''] = await Promise.all(texts);
    return { status, stdout, stderr };
  }

  /** Process id of its first process on the node. */
  get pid(): number {
    return Number(readFileSync(join(this.#bundle, 'pid'), 'utf8'));
  }

  /** Sends the signal, if any, and waits for the end: its status, 128 + N for a signal N, and the duration, in ms. */
  async end(signal?: NodeJS.Signals): Promise<{ status: number | null; took: number }> {
    const started = performance.now();
    if (signal && this.#child.exitCode === null) this.#kill(signal);
    const timer = setTimeout(() => this.#kill('SIGKILL'), PATIENCE);
    if (this.#child.exitCode === null) await this.#ended;
    clearTimeout(timer);
    return { status: this.#child.exitCode, took: performance.now() - started };
  }

  async close(): Promise<void> {
    await this.end('SIGKILL');
    spawnSync('umount', [join(this.#bundle, 'rootfs')]);
  }

  #kill(signal: NodeJS.Signals): void {
    spawnSync('crun', [...this.#crun(), 'kill', this.#id, signal]);
  }

  /** Without resource limits, which are not tested. */
  #crun(): string[] {
    return ['--root', join(dirname(this.#bundle), 'crun'), '--cgroup-manager=disabled'];
  }
}
