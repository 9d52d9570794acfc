// The checks of what nftables mode is made of.
import {
  FLAG,
  FUNCTION,
  listOf,
  object,
  oneOf,
  optional,
  partOf,
  type Shape,
  TEXT,
} from '../../../../kernel/shapes.js';
import { OPTIONS as SHARED } from '../../shared/program/shapes.js';
import { LAYOUTS, type NftablesOptions } from '../plan/options.js';
import type { NftablesKernel } from './kernel.js';

const PROTOCOLS = listOf(oneOf('tcp', 'udp', 'sctp'));

/** The check of the options. */
export const OPTIONS = object<NftablesOptions>({
  ...SHARED,
  layout: oneOf(...LAYOUTS),
  directSingleEndpoint: FLAG,
  flowTable: optional(listOf(TEXT)),
  localhostRejects: object({ 4: PROTOCOLS, 6: PROTOCOLS }),
});

const NFTABLES = partOf({
  apply: FUNCTION,
  generation: FUNCTION,
  getChain: FUNCTION,
  getElements: FUNCTION,
  getSet: FUNCTION,
  getTable: FUNCTION,
  listChains: FUNCTION,
  listElementBytes: FUNCTION,
  listElements: FUNCTION,
  listFlowTables: FUNCTION,
  listObjects: FUNCTION,
  listRules: FUNCTION,
  listSets: FUNCTION,
  listTables: FUNCTION,
  port: FUNCTION,
  watchCommits: FUNCTION,
  onBatch: optional(FUNCTION),
} satisfies Shape<NftablesKernel['nftables']>);

/** The check of the kernel. */
export const KERNEL = partOf({ nftables: NFTABLES } satisfies Shape<NftablesKernel>);
