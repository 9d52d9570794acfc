// A node with manifests: the complete path from text to kernel state, on a fake or a real kernel.
import { readFileSync } from 'node:fs';
import { StaleFlowCleaner } from '../../src/conntrack/staleFlowCleaner.js';
import type { Problem } from '../../src/errors.js';
import type { Conntrack } from '../../src/kernel/conntrack/types.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { ipvsOptions } from '../../src/modes/ipvs/fromConfiguration.js';
import { createIpvsMode, type IpvsKernel, type Item, type Operation } from '../../src/modes/ipvs/index.js';
import type { Mode } from '../../src/modes/mode.js';
import type { KubernetesObject } from '../../src/objects/types.js';
import { Reconciler } from '../../src/reconcile/reconciler.js';
import type { SyncSummary } from '../../src/reconcile/summary.js';
import { nodeFacts } from '../../src/services/nodeFacts.js';
import { ServiceCache } from '../../src/services/serviceCache.js';
import type { NodeFacts } from '../../src/services/types.js';
import { readManifest } from '../../src/source/manifestFile.js';
import { decodeConfiguration } from './decodeConfiguration.js';
import type { Scenario, ToolOutput } from './oracle.js';

/** The parts of the kernel that a node needs. */
type NodeKernel = IpvsKernel & { readonly conntrack: Pick<Conntrack, 'list' | 'deleteFlows'> };

/** A node with its objects, and the reconciler that programs its kernel. */
export class TestNode<Kernel extends NodeKernel> {
  readonly kernel: Kernel;
  readonly mode: Mode<Item, Operation>;
  readonly reconciler: Reconciler<Item, Operation>;
  readonly problems: Problem[] = [];
  /** Time of the clock, in ms. */
  now = 0;
  readonly #cache = new ServiceCache();
  readonly #scenario: Pick<Scenario, 'configuration' | 'interfaces'>;
  #facts: NodeFacts | undefined;
  #objects = new Map<string, KubernetesObject>();

  constructor(
    scenario: Pick<Scenario, 'configuration' | 'interfaces'>,
    kernel: Kernel,
    kernelRelease: string,
  ) {
    this.#scenario = scenario;
    this.kernel = kernel;
    const { configuration, problems } = decodeConfiguration(scenario.configuration);
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
    this.mode = createIpvsMode(kernel, ipvsOptions(configuration, { families: [4, 6], kernelRelease }));
    const inputs = {
      serviceNames: () => this.#cache.serviceNames(),
      order: (services: Iterable<string>) => this.#cache.order(services),
      planInput: (service: string) => this.#cache.planInput(service, this.#node()),
      node: () => this.#node(),
      refresh: async () => {},
      taken: () => {},
      followUp: new StaleFlowCleaner(kernel.conntrack, (address, port) =>
        this.#cache.isUdpFrontend(address, port),
      ),
    };
    this.reconciler = new Reconciler(this.mode, inputs, () => this.now);
  }

  /** Replaces the objects of the cluster. Reports the differences, as a source does. */
  load(file: string): Promise<void> {
    return this.loadText(readFileSync(file, 'utf8'));
  }

  async loadText(text: string): Promise<void> {
    const { objects, problems } = await readManifest('objects.yaml', text);
    this.problems.push(...problems);
    this.set(objects);
  }

  set(objects: ReadonlyMap<string, KubernetesObject>): void {
    for (const [identity, object] of this.#objects) {
      if (!objects.has(identity)) this.#apply('delete', object);
    }
    for (const [identity, object] of objects) {
      if (this.#objects.get(identity) !== object) this.#apply('set', object);
    }
    this.#objects = new Map(objects);
  }

  sync(): Promise<SyncSummary> {
    return this.reconciler.sync();
  }

  #apply(type: 'set' | 'delete', object: KubernetesObject): void {
    for (const touched of this.#cache.apply({ type, object })) {
      if ('service' in touched) this.reconciler.touch(touched.service);
      else {
        this.#facts = undefined;
        this.reconciler.touchAll();
      }
    }
  }

  #node(): NodeFacts {
    const hostAddresses = [{ link: 'lo', address: '127.0.0.1' }, ...this.#scenario.interfaces];
    this.#facts ??= nodeFacts('node-a', {
      node: this.#cache.node('node-a'),
      host: (nodeIPs) => this.mode.host.facts(hostAddresses, nodeIPs),
    });
    return this.#facts;
  }
}

/** A node with a fake kernel. */
export class FakeNode extends TestNode<FakeKernel> {
  /** @param kernel a kernel that has state, to test a restart */
  constructor(scenario: Pick<Scenario, 'configuration' | 'interfaces'>, kernel = new FakeKernel()) {
    super(scenario, kernel, '6.1.0');
  }

  /** The state of the fake kernel in the format of the tools. */
  output(): ToolOutput {
    const { ipvs, ipset, iptables, rtnetlink, sysctl } = this.kernel;
    return {
      ipvsadm: ipvs.dump(),
      ipset: ipset.dump(),
      iptables: iptables.dump(4),
      ip6tables: iptables.dump(6),
      address: rtnetlink.dump('kube-ipvs0'),
      sysctl: [...sysctl.values].map(([name, value]) => `${name.replaceAll('/', '.')} = ${value}\n`).join(''),
    };
  }
}
