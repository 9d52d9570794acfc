// Exports of the module of each client: its errors, its results and its options. Modules of clients with watches also export
// the types of these.
export { NetlinkError } from '../errors.js';
export { throwOnFailure } from './throwOnFailure.js';
export type {
  Batch,
  BatchSource,
  CallOptions,
  KernelClient,
  Listing,
  OpenOptions,
  OperationResult,
} from './types.js';
