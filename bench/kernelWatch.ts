// Watches the operations of a proxy on its kernel: their number, the restores, and the vital Services.
import { performance } from 'node:perf_hooks';
import type { Iptables, IptablesOperation } from '../src/kernel/iptables/types.js';
import type { NewElement, NftablesOperation } from '../src/kernel/nftables/types.js';
import type { Batch, BatchSource } from '../src/kernel/shared/types.js';
import { VITAL_ADDRESSES } from './cluster.js';
import type { ProxyKernel } from './modes.js';
import type { Restore } from './phases.js';

/** Counts the operations of a pass, and notices when the vital Services are complete. */
export class KernelWatch {
  /** iptables of the kernel, with each restore recorded. */
  readonly iptables: Iptables;
  /** All restores, in order. */
  readonly restores: Restore[] = [];
  /** Netlink operations of the pass. */
  operations = 0;
  readonly #parts: BatchSource<unknown>[];
  #began = 0;
  /** Number of restores before the pass. */
  #restoresBefore = 0;
  /** Addresses of vital Services that have not been added. */
  readonly #missing = new Set<string>();
  #firstService: number | undefined;

  constructor(kernel: ProxyKernel) {
    const { ipvs, ipset, rtnetlink, nftables, conntrack } = kernel;
    this.iptables = this.#watching(kernel.iptables);
    this.#parts = [ipvs, ipset, rtnetlink, nftables, conntrack].filter(
      (part) => part !== undefined,
    ) as BatchSource<unknown>[];
    for (const part of this.#parts) part.onBatch = (batch) => this.#count(batch);
  }

  /** Begins a pass. */
  begin(): void {
    this.operations = 0;
    this.#restoresBefore = this.restores.length;
    for (const address of VITAL_ADDRESSES) this.#missing.add(address);
    this.#firstService = undefined;
    this.#began = performance.now();
  }

  /** Time until the vital Services were complete, in ms; undefined if they were not added. */
  get firstService(): number | undefined {
    return this.#firstService;
  }

  /** The restores of the pass, in order. */
  get restoresOfPass(): readonly Restore[] {
    return this.restores.slice(this.#restoresBefore);
  }

  close(): void {
    for (const part of this.#parts) part.onBatch = undefined;
  }

  #watching(iptables: Iptables): Iptables {
    return {
      chains: (family) => iptables.chains(family),
      save: (family) => iptables.save(family),
      saveTables: (family) => iptables.saveTables(family),
      listRules: (family, table, chain) => iptables.listRules(family, table, chain),
      restore: async (family, operations) => {
        this.restores.push({ family, operations });
        const results = await iptables.restore(family, operations);
        this.#look(operations, results, restoredAddresses);
        return results;
      },
    };
  }

  #count({ operations, results }: Batch<unknown>): void {
    this.operations += operations.length;
    this.#look(operations, results, addedAddresses);
  }

  /** The vital Services are the first, and the operations are many: nothing else is looked at. */
  #look<Operation>(
    operations: readonly Operation[],
    results: readonly unknown[],
    addressesOf: (operation: Operation) => readonly string[],
  ): void {
    if (this.#missing.size === 0) return;
    for (const [i, operation] of operations.entries()) {
      if (results[i]) continue;
      for (const address of addressesOf(operation)) this.#missing.delete(address);
    }
    if (this.#missing.size === 0) this.#firstService = performance.now() - this.#began;
  }
}

/** ipvs mode adds an address after everything else of its Service; nftables mode in the same transaction, in `service-ips`. */
function addedAddresses(operation: unknown): readonly string[] {
  const { do: verb, elements, set } = operation as Partial<Extract<NftablesOperation, { do: 'addElements' }>>;
  if (verb === 'addElements' && set?.name === 'service-ips')
    return (elements as readonly NewElement[]).map(({ key }) => (Array.isArray(key) ? String(key[0]) : ''));
  const { address } = (operation as { readonly address?: { readonly address?: string } }).address ?? {};
  return address === undefined ? [] : [address];
}

/** iptables mode adds the rule of an address in the restore that has everything else of its Service. */
function restoredAddresses(operation: IptablesOperation): readonly string[] {
  if (operation.do !== 'insertRule' && operation.do !== 'appendRule') return [];
  if (operation.rule.chain !== 'KUBE-SERVICES') return [];
  return /^-d ([^/ ]+)\//.exec(operation.rule.text)?.slice(1) ?? [];
}
