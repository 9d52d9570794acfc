// The features of the kernel, found by requests that change nothing.
import { NetlinkError } from '../errors.js';
import type { Attempt } from '../shared/failures.js';
import { encodeTrial } from './links/write.js';
import type { MessageWriter } from './message.js';
import { attemptToRead } from './names.js';
import { encodeGetRoute } from './routes/query.js';
import { encodeListRules } from './rules/codec.js';
import type { RtnetlinkCapabilities } from './types.js';

/** Sends a message; rejects with the kernel's error. */
type Send = (attempt: Attempt, message: MessageWriter) => Promise<unknown>;

const KINDS = ['dummy', 'veth', 'bridge', 'vlan'] as const;

/** Finds the features. */
export async function findCapabilities(send: Send): Promise<RtnetlinkCapabilities> {
  const attempt = attemptToRead('capabilities');
  const codeOf = async (message: MessageWriter): Promise<string> => {
    try {
      await send(attempt, message);
    } catch (error) {
      if (error instanceof NetlinkError && error.errno !== 0) return error.code;
      throw error;
    }
    return '';
  };
  const found: [string, boolean | undefined][] = [];
  for (const kind of KINDS) {
    const code = await codeOf(encodeTrial(kind));
    found.push([kind, code === 'EPERM' ? undefined : code !== 'EOPNOTSUPP']);
  }
  return {
    linkKinds: Object.fromEntries(found) as RtnetlinkCapabilities['linkKinds'],
    ipv6: (await codeOf(encodeGetRoute('::1'))) !== 'EOPNOTSUPP',
    rules: (await codeOf(encodeListRules(4))) !== 'EAFNOSUPPORT',
  };
}
