// A node with manifests: the complete path from text to kernel state, on a fake or a real kernel.
import { isDeepStrictEqual } from 'node:util';
import type { Configuration } from '../../../src/command/config/configuration.js';
import { servedAddresses } from '../../../src/command/config/servedAddresses.js';
import { settingRulesOf } from '../../../src/command/config/serviceSettings.js';
import { iptablesOptions } from '../../../src/command/modes/iptables/open.js';
import { ipvsOptions } from '../../../src/command/modes/ipvs/fromConfiguration.js';
import { nftablesOptions } from '../../../src/command/modes/nftables/fromConfiguration.js';
import { MODES } from '../../../src/command/modes/select.js';
import type { Conntrack } from '../../../src/kernel/conntrack/types.js';
import type { Problem } from '../../../src/kernel/errors.js';
import type { Family } from '../../../src/kernel/net/address.js';
import { FakeKernel } from '../../../src/kernel/testing/index.js';
import { FlowCleaner } from '../../../src/proxy/conntrack/flowCleaner.js';
import type { FrontendLookup } from '../../../src/proxy/conntrack/frontendLookup.js';
import {
  createIptablesMode,
  type Item as IptablesItem,
  type IptablesKernel,
  type Operation as IptablesModeOperation,
} from '../../../src/proxy/modes/iptables/index.js';
import {
  type Cure,
  createIpvsMode,
  type Item as IpvsItem,
  type IpvsKernel,
  type Operation as IpvsOperation,
  type IpvsOptions,
} from '../../../src/proxy/modes/ipvs/index.js';
import type { KeyedOperation, Mode } from '../../../src/proxy/modes/mode.js';
import {
  createNftablesMode,
  type Item as NftablesItem,
  type NftablesKernel,
  type NftablesLayout,
  type Operation as NftablesModeOperation,
} from '../../../src/proxy/modes/nftables/index.js';
import type { KubernetesObject } from '../../../src/proxy/objects/types.js';
import { NodeState } from '../../../src/proxy/reconcile/nodeState.js';
import { Reconciler } from '../../../src/proxy/reconcile/reconciler.js';
import { RETRY } from '../../../src/proxy/reconcile/retries.js';
import type { SyncSummary } from '../../../src/proxy/reconcile/summary.js';
import { ServiceCache } from '../../../src/proxy/services/serviceCache.js';
import type { AssignedAddress } from '../../../src/proxy/services/types.js';
import { readManifest } from '../../../src/proxy/source/manifestFile.js';
import { decodeConfiguration } from '../clusters/decodeConfiguration.js';
import { recordedObjects, type Scenario, SERVICE_CIDRS, type ToolOutput } from './oracle.js';

/** The flows that a node deletes. */
type NodeConntrack = Pick<Conntrack, 'list' | 'deleteFlows'>;

/** The parts of a recording that a node needs. */
export interface NodeScenario extends Pick<Scenario, 'configuration' | 'interfaces'> {
  /** Default: both. */
  readonly families?: readonly Family[];
}

const BOTH: readonly Family[] = [4, 6];

/** The text that a node read last, and its objects. */
let lastRead:
  | { readonly text: string; readonly manifest: Awaited<ReturnType<typeof readManifest>> }
  | undefined;

/** A node with its objects, and the reconciler that programs its kernel in one mode. */
export class TestNode<Item, Operation extends KeyedOperation<Item>> {
  readonly mode: Mode<Item, Operation>;
  readonly configuration: Configuration;
  readonly reconciler: Reconciler<Item, Operation>;
  readonly problems: Problem[] = [];
  /** Time of the clock, in ms. */
  now = 0;
  readonly #cache: ServiceCache;
  readonly #addresses: readonly AssignedAddress[];
  readonly #state: NodeState;
  #objects = new Map<string, KubernetesObject>();

  constructor(
    scenario: NodeScenario,
    conntrack: NodeConntrack,
    openMode: (configuration: Configuration) => Mode<Item, Operation>,
  ) {
    const { mode: _, ...fields } = scenario.configuration; // The class selects the mode.
    const { configuration, problems } = decodeConfiguration(fields);
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
    this.configuration = configuration;
    this.mode = openMode(configuration);
    const { serviceSettings } = configuration;
    const settingRules = settingRulesOf({ serviceSettings, mode: this.mode.name }, MODES);
    this.#cache = new ServiceCache({ ...servedAddresses(configuration), settingRules });
    this.#addresses = [{ link: 'lo', address: '127.0.0.1', prefix: 8 }, ...scenario.interfaces];
    this.#state = new NodeState(this.mode.host, 'node-a');
    this.#state.hostListed(this.#addresses);
    this.#state.serviceCIDRsChanged(SERVICE_CIDRS);
    const inputs = {
      serviceNames: () => this.#cache.serviceNames(),
      order: (services: Iterable<string>) => this.#cache.order(services),
      totalEndpoints: () => this.#cache.totalEndpoints,
      planInput: (service: string) => this.#cache.planInput(service, this.#state.facts),
      planned: (service: string) => this.#cache.planned(service),
      node: () => this.#state.facts,
      refresh: async () => {},
      taken: () => {},
      followUp: new FlowCleaner(conntrack, this.#lookup(), {
        now: () => this.now,
        ownConnections: this.mode.upkeep?.ownConnections === true,
      }),
    };
    this.reconciler = new Reconciler(this.mode, inputs, () => this.now);
  }

  #lookup(): FrontendLookup {
    return {
      isFrontend: (address, port, protocol) => this.#cache.isFrontend(address, port, protocol),
      isNodePort: (port, family, protocol) => this.#cache.isNodePort(port, family, protocol),
      servesNodePorts: (address) => this.#state.servesNodePorts(address),
      frontendsOf: (service) => this.#cache.frontendsOf(service),
    };
  }

  /** Replaces the objects of the cluster by those of a recorded step. Reports the differences, as a source does. */
  load(step: string): Promise<void> {
    return this.loadText(recordedObjects(step));
  }

  async loadText(text: string): Promise<void> {
    // A restart reads the same text again, which takes seconds on an emulated machine.
    if (text !== lastRead?.text) lastRead = { text, manifest: await readManifest('objects.yaml', text) };
    const { objects, problems } = lastRead.manifest;
    this.problems.push(...problems);
    this.set(objects);
  }

  set(objects: ReadonlyMap<string, KubernetesObject>): void {
    for (const [identity, object] of this.#objects) {
      if (!objects.has(identity)) this.#apply('delete', object);
    }
    for (const [identity, object] of objects) {
      if (!isDeepStrictEqual(this.#objects.get(identity), object)) this.#apply('set', object);
    }
    this.#objects = new Map(objects);
  }

  sync(): Promise<SyncSummary> {
    return this.reconciler.sync();
  }

  /** Starts an audit, and runs its slices. Resolves to its summary. */
  async audit(): Promise<SyncSummary> {
    this.reconciler.startAudit();
    for (let slices = 0; slices < 1000; slices++) {
      const summary = await this.reconciler.auditSlice();
      if (summary) return summary;
    }
    throw new Error('the audit does not end');
  }

  /** Time passes until every failed item is due; the next pass retries them. */
  retryFailed(): void {
    this.now += RETRY.most;
    this.reconciler.retryFailed();
  }

  #apply(type: 'set' | 'delete', object: KubernetesObject): void {
    for (const touched of this.#cache.apply({ type, object })) {
      if ('service' in touched) this.reconciler.touch(touched.service);
      else {
        this.#state.nodeChanged(this.#cache.node('node-a'), new Set());
        this.#state.hostListed(this.#addresses);
        this.reconciler.touchAll();
      }
    }
  }
}

/** A node in ipvs mode. */
export class IpvsNode<Kernel extends IpvsKernel & { readonly conntrack: NodeConntrack }> extends TestNode<
  IpvsItem,
  IpvsOperation
> {
  readonly kernel: Kernel;

  constructor(
    scenario: NodeScenario,
    kernel: Kernel,
    kernelRelease: string,
    cures: readonly Cure[] = [],
    rules: IpvsOptions['rules'] = 'iptables',
  ) {
    const own = { families: scenario.families ?? BOTH, kernelRelease, cures: new Set(cures), rules };
    super(scenario, kernel.conntrack, (configuration) =>
      createIpvsMode(kernel, ipvsOptions(configuration, own)),
    );
    this.kernel = kernel;
  }
}

/** A node in iptables mode. */
export class IptablesNode<
  Kernel extends IptablesKernel & { readonly conntrack: NodeConntrack },
> extends TestNode<IptablesItem, IptablesModeOperation> {
  readonly kernel: Kernel;

  /** @param nfacct the kernel counts packets with nfacct, as that of the recordings */
  constructor(scenario: NodeScenario, kernel: Kernel, nfacct = true) {
    const own = { families: scenario.families ?? BOTH, nfacct, conntrackLiberal: false };
    super(scenario, kernel.conntrack, (configuration) =>
      createIptablesMode(kernel, iptablesOptions(configuration, own)),
    );
    this.kernel = kernel;
  }
}

/** A node in nftables mode. */
export class NftablesNode<
  Kernel extends NftablesKernel & { readonly conntrack: NodeConntrack },
> extends TestNode<NftablesItem, NftablesModeOperation> {
  readonly kernel: Kernel;

  constructor(scenario: NodeScenario, kernel: Kernel, layout: NftablesLayout = 'kube-proxy') {
    super(scenario, kernel.conntrack, (configuration) =>
      createNftablesMode(
        kernel,
        nftablesOptions(configuration, { families: scenario.families ?? BOTH, layout }),
      ),
    );
    this.kernel = kernel;
  }
}

/** A node in ipvs mode with a fake kernel. */
export class FakeNode extends IpvsNode<FakeKernel> {
  /** @param kernel a kernel that has state, to test a restart */
  constructor(
    scenario: NodeScenario,
    kernel = new FakeKernel(),
    cures: readonly Cure[] = [],
    rules?: IpvsOptions['rules'],
  ) {
    super(scenario, kernel, '6.1.0', cures, rules);
  }

  /** The state of the fake kernel in the format of the tools. */
  output(): ToolOutput {
    return outputOf(this.kernel);
  }
}

/** A node in ipvs mode with rules of nf_tables, with a fake kernel. */
export class FakeTablesNode extends FakeNode {
  /** @param kernel a kernel that has state, to test a restart */
  constructor(scenario: NodeScenario, kernel?: FakeKernel, cures: readonly Cure[] = []) {
    super(scenario, kernel, cures, 'nftables');
  }

  /** The state of the fake kernel with the tables in place of the rules of iptables. */
  override output(): ToolOutput {
    return { ...super.output(), iptables: '', ip6tables: '', ipset: tableLines(this.kernel).join('\n') };
  }
}

/** The tables of a kernel as sorted lines: the kernel lists elements in no order. */
export function tableLines({ nftables }: FakeKernel): string[] {
  return nftables
    .dump()
    .replaceAll(/elements = \{ |,\s+| \}$/gm, '\n')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .sort();
}

/** A node in iptables mode with a fake kernel. */
export class FakeIptablesNode extends IptablesNode<FakeKernel> {
  /** @param kernel a kernel that has state, to test a restart */
  constructor(scenario: NodeScenario, kernel = new FakeKernel()) {
    super(scenario, kernel);
  }

  /** The state of the fake kernel in the format of the tools. */
  output(): ToolOutput {
    return outputOf(this.kernel);
  }
}

/** A node in nftables mode with a fake kernel. */
export class FakeNftablesNode extends NftablesNode<FakeKernel> {
  /** @param kernel a kernel that has state, to test a restart */
  constructor(scenario: NodeScenario, kernel = new FakeKernel(), layout: NftablesLayout = 'kube-proxy') {
    super(scenario, kernel, layout);
  }
}

/** The state of a fake kernel in the format of the tools. */
export function outputOf({ ipvs, ipset, iptables, rtnetlink, sysctl }: FakeKernel): ToolOutput {
  return {
    ipvsadm: ipvs.dump(),
    ipset: ipset.dump(),
    iptables: iptables.dump(4),
    ip6tables: iptables.dump(6),
    address: rtnetlink.dump('kube-ipvs0'),
    sysctl: [...sysctl.values].map(([name, value]) => `${name.replaceAll('/', '.')} = ${value}\n`).join(''),
  };
}
