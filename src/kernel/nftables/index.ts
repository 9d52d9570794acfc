// nftables over netlink: the ruleset of one network namespace. Its text is an export of its own: `text/`.
export * from '../shared/everyClient.js';
export type { EventStream, ListedAttribute, Resync, WatchOptions } from '../shared/types.js';
export { bytesOf } from './bytesOf.js';
export type * from './expressions/types.js';
export { openNftables } from './open.js';
export type * from './types.js';
