// What the proxy sends to the kernel in nftables mode, recorded from a proxy whose kernel is in memory. The other methods make the
// same changes.
import type { NftablesOperation } from '../../src/kernel/nftables/types.js';
import { makeCluster, NODE_ADDRESS } from '../cluster.js';
import { emptyKernel, MODES } from '../modes.js';
import { ProxyRun } from '../proxyRun.js';
import type { LifeName, Size } from '../types.js';

/** Number of measured changes of one kind in one life. */
export const CHANGES = 20;
/** Number of endpoints that are replaced at once, at most: one of each Service. */
export const AT_ONCE = 1000;
/** Number of measured changes of as many endpoints at once. */
export const CHANGES_AT_ONCE = 3;

/** The operations of one pass, in their order. */
export type Pass = readonly NftablesOperation[];

/** The passes in the life of a proxy. A change cannot be made twice: the methods share the changes of each kind. */
export interface Recording {
  readonly full: Pass;
  readonly endpoint: readonly Pass[];
  readonly service: readonly Pass[];
  readonly endpoints: readonly Pass[];
}

/** The lives in nftables mode: one for each layout. */
export type RecordedLife = Extract<LifeName, 'nftables' | 'scalable'>;

/** Whose passes are recorded: a layout, on the cluster of a size and a seed. */
export interface Recorded {
  readonly life: RecordedLife;
  readonly size: Size;
  readonly seed: number;
}

/** Numbers of changes of each kind. */
export interface Counts {
  readonly endpoint: number;
  readonly service: number;
  readonly endpoints: number;
  /** Endpoints of each of the last. */
  readonly atOnce: number;
}

/** Only the full pass is recorded. */
const NO_CHANGES: Counts = { endpoint: 0, service: 0, endpoints: 0, atOnce: 0 };

/** Records them. @param counts default: no changes */
export async function recordNftables(
  { life, size, seed }: Recorded,
  counts: Counts = NO_CHANGES,
): Promise<Recording> {
  const kernel = emptyKernel();
  let pass: NftablesOperation[] = [];
  const apply = async (operations: readonly NftablesOperation[]) => {
    for (const operation of operations) pass.push(operation);
    return new Array<undefined>(operations.length).fill(undefined);
  };
  // Node ports are on the address of the node.
  const node = { link: 'node0', address: NODE_ADDRESS, prefix: 24, scope: 'global', flags: [] } as const;
  const rtnetlink = { ...kernel.rtnetlink, listAddresses: async () => [node] };
  const nftables = { ...kernel.nftables, apply };
  const run = new ProxyRun(MODES[life], { ...kernel, rtnetlink, nftables });
  const cluster = makeCluster(size, seed);
  const passOf = async (work: () => Promise<unknown>): Promise<Pass> => {
    pass = [];
    await work();
    return pass;
  };
  const repeated = async (times: number, work: () => Promise<unknown>) => {
    const passes: Pass[] = [];
    for (let i = 0; i < times; i++) passes.push(await passOf(work));
    return passes;
  };
  try {
    return {
      full: await passOf(() => run.begin(cluster.objects())),
      endpoint: await repeated(counts.endpoint, () => run.report([cluster.replaceEndpoint()])),
      service: await repeated(counts.service, () => run.report(cluster.addService())),
      endpoints: await repeated(counts.endpoints, () => run.report(cluster.replaceEndpoints(counts.atOnce))),
    };
  } finally {
    await run.stop();
  }
}
