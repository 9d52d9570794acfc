// The part of the kernel that nftables mode programs: real in production, in memory in tests.
import type { Nftables } from '../../../../kernel/nftables/types.js';

/** The ruleset of one network namespace, as the mode uses it. */
export interface NftablesKernel {
  readonly nftables: Pick<
    Nftables,
    | 'apply'
    | 'generation'
    | 'getChain'
    | 'getElements'
    | 'getSet'
    | 'getTable'
    | 'listChains'
    | 'listElementBytes'
    | 'listElements'
    | 'listFlowTables'
    | 'listObjects'
    | 'listRules'
    | 'listSets'
    | 'listTables'
    | 'port'
    | 'watchCommits'
    | 'onBatch'
  >;
}
