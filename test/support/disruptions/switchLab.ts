// A lab in which the proxy changes its mode while many clients send requests, and is killed during each change.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { PlannedOperation } from '../../../src/proxy/index.js';
import { Crowd, type CrowdReport } from '../../laboratory/crowd.js';
import { type Lab, openLab } from '../../laboratory/lab.js';
import { ManifestFolder } from '../../laboratory/manifestFolder.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { CLIENT, CLUSTER_CIDR, NODE_A, SHELL, WEB, WEB_PORT } from '../../laboratory/places.js';
import { COMMAND, type Ended, type LogLine, ProxyProcess, runOnce } from '../../laboratory/proxyProcess.js';
import { Replicas } from '../../laboratory/replica.js';
import { closeAfter } from '../closeAfter.js';
import { service, slice } from '../clusters/manifests.js';
import { ask } from '../namespaces/witnesses.js';
import type { Obstacle } from './obstacles.js';

const CLUSTER_IP = '10.96.0.80';
const EXTERNAL_IP = '203.0.113.80';
/** Clients in each of the two crowds; half of them keep their connections. */
const CROWD = { port: 80, keepAlive: 8, short: 8 };
/** After each audit too, the removal of the former mode is tried again; an audit of nftables mode is rare. */
const AUDIT = ['--ipvs-sync-period=1s', '--iptables-sync-period=1s', '--iptables-min-sync-period=0s'];
/** The longest time after which a first pass is interrupted, in ms; on the slower test machines it takes longer. */
const FIRST_PASS = 1000;
/** The most responses until one of each endpoint is among them. */
const MOST_RESPONSES = 4000;
/** Before a command: its status 1, with which `plan` has operations and `status` faults, is no error. */
const OR_FAULT = ['sh', '-c', '"$@" || test $? = 1', 'sh'];
const ENDPOINTS = WEB.map(({ ipv4 }) => ipv4);

/** The mode has replaced a former one, but for what its connections use. */
const isReplacement = ({ msg }: LogLine) =>
  msg === 'removed items of another mode' || msg.startsWith('connections still use');

/** The lines that a mode plans on the node, of its own items and of those that another mode left. */
export interface SwitchPlan {
  readonly own: readonly string[];
  /** By the name of the mode that left them. */
  readonly former: Readonly<Record<string, readonly string[]>>;
  /** What clients notice of the change of the mode. */
  readonly changes: readonly string[];
}

/** A Service with clients, and the proxy of its node. */
export class SwitchLab {
  readonly #lab: Lab = closeAfter(openLab([SHELL, ...WEB]));
  readonly #manifests = closeAfter(new ManifestFolder(''));
  readonly #drain: string;
  #crowds: readonly Crowd[] = [];
  #proxy: ProxyProcess;

  private constructor(mode: string, drain: string) {
    this.#drain = drain;
    // Only ipvs mode enables it by itself.
    ask(this.node, 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1');
    this.#manifests.write('service.yaml', service('web', CLUSTER_IP, `  externalIPs: [${EXTERNAL_IP}]`));
    this.#manifests.write('slice.yaml', slice('web', ...ENDPOINTS));
    this.#proxy = this.#start(mode);
  }

  /**
   * Opens it, with a proxy that has programmed its mode.
   *
   * @param drain the drain timeout of all proxies: `10s`
   */
  static async open(mode: string, drain: string): Promise<SwitchLab> {
    const opened = new SwitchLab(mode, drain);
    const namespaceOf = (place: typeof SHELL | typeof CLIENT) => opened.#lab.namespace(place);
    opened.#crowds = await Promise.all(
      [SHELL, CLIENT].map(async (place) => closeAfter(await Crowd.open(namespaceOf(place)))),
    );
    await Promise.all(
      WEB.map(async (pod) => {
        const replicas = closeAfter(await Replicas.open(opened.#lab.namespace(pod)));
        await replicas.ask({ do: 'serve', address: pod.ipv4, port: WEB_PORT });
      }),
    );
    await opened.#programmed();
    return opened;
  }

  /** The node's network namespace. */
  get node(): string {
    return this.#lab.namespace(NODE_A);
  }

  /** The proxy that was started last. */
  get proxy(): ProxyProcess {
    return this.#proxy;
  }

  /** Lets both crowds send requests, before the step, during it and until each has reached every endpoint again. */
  async whileAsking(step: () => Promise<void>): Promise<void> {
    const addresses = [CLUSTER_IP, EXTERNAL_IP];
    await Promise.all(
      this.#crowds.map((crowd, i) => crowd.start({ ...CROWD, address: addresses[i] as string })),
    );
    await this.#answered(0);
    const failed = await step().then(
      () => undefined,
      (error: unknown) => error,
    );
    await this.#answered(40);
    const reports = await Promise.all(this.#crowds.map((crowd) => crowd.stop()));
    for (const { requests, failures, answers } of reports) {
      assert.deepEqual(failures, [], `${failures.length} of ${requests} requests failed`);
      assert.deepEqual(Object.keys(answers).sort(), ENDPOINTS.toSorted());
    }
    if (failed !== undefined) throw failed;
  }

  /** Waits until each crowd has reached all endpoints, and has had this many more responses. A slow machine has time as long as there are any. */
  async #answered(more: number): Promise<void> {
    const report = () => Promise.all(this.#crowds.map((crowd) => crowd.report()));
    const total = (reports: readonly CrowdReport[]) =>
      reports.reduce(
        (sum, { answers }) => sum + Object.values(answers).reduce((all, each) => all + each, 0),
        0,
      );
    const from = await report();
    let last = { responses: total(from), at: performance.now() };
    for (; ; await delay(200)) {
      const reports = await report();
      const done = reports.every(
        ({ answers, requests }, i) =>
          ENDPOINTS.every((address) => answers[address]) && requests >= (from[i]?.requests ?? 0) + more,
      );
      if (done) return;
      const responses = total(reports);
      if (responses > last.responses) last = { responses, at: performance.now() };
      const late = performance.now() - last.at >= PATIENCE || responses - total(from) >= MOST_RESPONSES;
      assert.ok(!late, `too few responses: ${JSON.stringify(reports)}`);
    }
  }

  /**
   * Ends the proxy, and starts it in another mode, or with other flags, twice: the first time it is killed at a random time of its first
   * pass.
   */
  async change(mode: string, ...flags: readonly string[]): Promise<void> {
    assert.equal(await this.#proxy.end('SIGTERM'), 0);
    this.#proxy = this.#start(mode, flags);
    await this.#proxy.logged(({ msg }) => msg === 'starting', 'its start');
    await delay(Math.random() * FIRST_PASS);
    assert.equal(await this.#proxy.end('SIGKILL'), 'SIGKILL');
    this.#proxy = this.#start(mode, flags);
    await this.#programmed();
  }

  /**
   * Ends the proxy, and starts it in another mode with an obstacle, twice: the first time it is killed, as a container that starts again
   * without its init container. Each time it must not be ready, and the mode before it must serve. Then the obstacle goes.
   */
  async obstruct({ raise, reason }: Obstacle, mode: string, ...flags: readonly string[]): Promise<void> {
    assert.equal(await this.#proxy.end('SIGTERM'), 0);
    const { launcher, remove } = await raise(this.node);
    for (const isLast of [false, true]) {
      this.#proxy = this.#start(mode, flags, launcher);
      await this.#proxy.logged(({ msg, failures }) => msg === 'synced' && failures !== 0, 'a failed pass');
      await this.#answered(40);
      assert.equal(this.#readiness(), '503');
      assert.deepEqual(this.#proxy.log.filter(isReplacement), []);
      if (!isLast) assert.equal(await this.#proxy.end('SIGKILL'), 'SIGKILL');
    }
    assert.match(ask(this.node, ...OR_FAULT, process.execPath, COMMAND, 'status', '-o', 'json'), reason);
    remove(this.#proxy.pid);
  }

  /** Waits until the mode has replaced the former one, and is ready. */
  async replaced(): Promise<void> {
    await this.#proxy.logged(isReplacement, 'the end of the switch');
    for (const deadline = performance.now() + PATIENCE; this.#readiness() !== '200'; await delay(200))
      assert.ok(performance.now() < deadline, 'not ready after the obstacle has gone');
  }

  /** The status of the answer to the readiness probe. */
  #readiness(): string {
    const request = `fetch('http://127.0.0.1:10256/readyz').then(({ status }) => console.log(status))`;
    return ask(this.node, process.execPath, '-e', request).trim();
  }

  /** Waits for the first pass, which must have no failures. */
  async #programmed(): Promise<void> {
    const pass = await this.#proxy.logged(({ msg }) => msg === 'synced', 'a pass');
    assert.equal(pass['failures'], 0, JSON.stringify(this.#proxy.log));
  }

  /** Runs the proxy in a mode until its first pass has ended. No other one may run. */
  once(mode: string): Promise<Ended> {
    return runOnce(this.node, this.#manifests.path, this.#flags(mode));
  }

  /** What a mode plans on the node. */
  planOf(mode: string): SwitchPlan {
    const flags = [
      ...['--manifests', this.#manifests.path],
      ...['--hostname-override', NODE_A.name],
      ...['--cluster-cidr', CLUSTER_CIDR],
    ];
    const command = [process.execPath, COMMAND, 'plan', '-o', 'json', `--proxy-mode=${mode}`, ...flags];
    const printed = ask(this.node, ...OR_FAULT, ...command);
    const { operations, changes = [] } = JSON.parse(printed) as {
      operations: readonly PlannedOperation[];
      changes?: readonly string[];
    };
    const former: Record<string, string[]> = {};
    for (const { formerMode, lines } of operations)
      if (formerMode !== undefined) former[formerMode] = [...(former[formerMode] ?? []), ...lines];
    const own = operations.filter(({ formerMode }) => formerMode === undefined);
    return { own: own.flatMap(({ lines }) => lines), former, changes };
  }

  /** Removes the state of all modes. Returns what is printed. */
  cleanUp(): string {
    return ask(this.node, process.execPath, COMMAND, '--cleanup');
  }

  #flags(mode: string, flags: readonly string[] = []): string[] {
    return [`--proxy-mode=${mode}`, `--drain-timeout=${this.#drain}`, ...AUDIT, ...flags];
  }

  #start(mode: string, flags: readonly string[] = [], launcher: readonly string[] = []): ProxyProcess {
    return closeAfter(new ProxyProcess(this.node, this.#manifests.path, this.#flags(mode, flags), launcher));
  }
}
