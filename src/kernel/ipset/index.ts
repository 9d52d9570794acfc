// ipset: sets of addresses, networks, ports and others that rules refer to. Written through libipset, which is loaded when a
// set is first written; listed over netlink without it.
export type { Family } from '../net/address.js';
export type { IpProtocol, Protocol } from '../net/protocol.js';
export * from '../shared/everyClient.js';
export type { TextInput } from '../shared/programs/textLines.js';
export { definitionOf } from './definition.js';
export { formatGivenEntry as formatEntry } from './givenEntry.js';
export { openIpset } from './open.js';
export {
  type ParsedSets,
  type ParseOptions,
  parseSets,
  parseSetsAsync,
  type SavedOperation,
  type SavedProblem,
} from './restore.js';
export { formatSets, formatSetsAsync, type ListedSet, type SavedSet } from './save.js';
export * from './types.js';
