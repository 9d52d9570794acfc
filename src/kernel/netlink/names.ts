// Names of messages in errors and in reports of batches.
import { shown } from '../shared/arguments.js';
import type { Naming } from '../shared/batch.js';
import type { NetlinkRequest } from './types.js';

/** Names messages by their types. */
export const NAMING: Naming<NetlinkRequest> = {
  family: 'netlink',
  batchVerb: 'send',
  batchArgument: 'messages',
  attempt: (message) => ({ operation: 'netlink.send', target: targetOf(message) }),
  nameOf: targetOf,
};

/** `message type 16`. Accepts messages that break every rule. */
export function targetOf(message: NetlinkRequest): string {
  return `message type ${shown(message?.type)}`;
}
