// What the proxy sends to the kernel in nftables mode, recorded from a proxy whose kernel is in memory. The other methods make the
// same changes.
import type { NftablesOperation } from '../../src/kernel/nftables/types.js';
import { makeCluster, NODE_ADDRESS } from '../cluster.js';
import { emptyKernel, nftablesMode } from '../modes.js';
import { ProxyRun } from '../proxyRun.js';
import type { Size } from '../types.js';

/** Number of measured changes of one kind in one life. */
export const CHANGES = 20;
/** Number of endpoints that are replaced at once, at most: one of each Service. */
export const AT_ONCE = 1000;
/** Number of measured changes of as many endpoints at once. */
export const CHANGES_AT_ONCE = 3;

/** The operations of one pass, in their order. */
export type Pass = readonly NftablesOperation[];

/** The passes in the life of a proxy. A change cannot be made twice: `methods` share the changes of each kind. */
export interface Recording {
  readonly full: Pass;
  readonly endpoint: readonly Pass[];
  readonly service: readonly Pass[];
  readonly endpoints: readonly Pass[];
}

/** Numbers of changes of each kind. */
export interface Counts {
  readonly endpoint: number;
  readonly service: number;
  readonly endpoints: number;
  /** Endpoints of each of the last. */
  readonly atOnce: number;
}

/** Records them. @param methods number of methods that make the changes of a life each; 0: only the full pass */
export async function recordNftables(
  size: Size,
  seed: number,
  methods: number,
  counts: Counts = {
    endpoint: CHANGES * methods,
    service: CHANGES * methods,
    endpoints: CHANGES_AT_ONCE * methods,
    atOnce: AT_ONCE,
  },
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
  const run = new ProxyRun(nftablesMode, { ...kernel, rtnetlink, nftables });
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
