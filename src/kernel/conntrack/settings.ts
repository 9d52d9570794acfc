// Settings of connection tracking in a network namespace: files below /proc/sys/net/netfilter.
import { loadAddon, type NativeNamespace } from '../shared/addon.js';
import { isNativeError } from '../shared/calls.js';

const FOLDER = '/proc/sys/net/netfilter';
const ZERO = 0x30;

/** Whether a setting is not 0; undefined where it cannot be read. One that the kernel was built without is off. */
export async function readSetting(
  netns: string | NativeNamespace,
  name: string,
): Promise<boolean | undefined> {
  const digits = await read(netns, name);
  if (digits) return digits[0] !== ZERO;
  // The kernel has this file wherever it has connection tracking.
  return (await read(netns, 'nf_conntrack_count')) ? false : undefined;
}

async function read(netns: string | NativeNamespace, name: string): Promise<Uint8Array | undefined> {
  try {
    return await loadAddon().readSetting(netns, `${FOLDER}/${name}`);
  } catch (error) {
    if (isNativeError(error)) return undefined;
    throw error;
  }
}
