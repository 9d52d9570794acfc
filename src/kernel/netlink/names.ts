// Names of messages in errors and in reports of batches.
import type { Naming } from '../batch.js';
import type { NetlinkRequest } from './types.js';

/** Names messages by their types. */
export const NAMING: Naming<NetlinkRequest> = {
  family: 'netlink',
  attempt: (message) => ({ operation: 'netlink.send', target: targetOf(message) }),
  nameOf: targetOf,
};

/** `message type 16`. Accepts messages that break every rule. */
export function targetOf(message: NetlinkRequest): string {
  return `message type ${message?.type}`;
}
