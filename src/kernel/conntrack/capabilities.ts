// What the kernel offers, found without a change of anything.
import { constants } from 'node:os';
import type { NativeNamespace, NativeNetlinkClient } from '../shared/addon.js';
import { isNativeError } from '../shared/calls.js';
import { type Attempt, toNetlinkError } from '../shared/failures.js';
import { deleteNothingRequest, getNothingRequest } from './encode/requests.js';
import type { ConntrackCapabilities } from './reports.js';
import { readSetting } from './settings.js';

const { ENOENT, EOPNOTSUPP } = constants.errno;

/** Reads the settings in a network namespace, and asks its kernel. */
export async function readCapabilities(
  client: NativeNetlinkClient,
  netns: string | NativeNamespace,
  attempt: Attempt,
): Promise<ConntrackCapabilities> {
  return {
    accounting: await readSetting(netns, 'nf_conntrack_acct'),
    timestamps: await readSetting(netns, 'nf_conntrack_timestamp'),
    events: await readSetting(netns, 'nf_conntrack_events'),
    zones: await hasZones(client),
    deleteByFilter: await deletesByFilter(client, attempt),
  };
}

async function hasZones(client: NativeNetlinkClient): Promise<boolean> {
  try {
    await client.query(getNothingRequest());
    return true;
  } catch (error) {
    if (isNativeError(error) && error.errno === ENOENT) return true;
    if (isNativeError(error) && error.errno === EOPNOTSUPP) return false;
    throw error;
  }
}

async function deletesByFilter(client: NativeNetlinkClient, attempt: Attempt): Promise<boolean> {
  const [failure] = await client.apply(deleteNothingRequest());
  if (failure && failure.errno !== ENOENT) throw toNetlinkError(failure, attempt);
  return failure === undefined;
}
