// Notifications of flows: which are reported, and how a watch is opened.
import { constants } from 'node:os';
import { NetlinkError } from '../errors.js';
import { loadAddon, type NativeNamespace } from '../shared/addon.js';
import { toNetlinkError } from '../shared/failures.js';
import type { Resync } from '../shared/types.js';
import type { WatchKind } from '../shared/watch.js';
import { FlowReader } from './decode/flows.js';
import { FLAG, MESSAGE, NETLINK_NETFILTER } from './numbers.js';
import type { Selector } from './selector.js';
import { readSetting } from './settings.js';
import type { FlowEvent, FlowEventKind } from './types.js';

const OPERATION = 'conntrack.watch';
const SILENT = {
  errno: constants.errno.EOPNOTSUPP,
  code: '',
  message: 'net.netfilter.nf_conntrack_events is 0: new flows have no events',
};

/** The watch of groups, which reports the selected flows. */
export function watchOf(
  groups: readonly number[],
  selector: Selector | undefined,
): WatchKind<FlowEvent | Resync> {
  return {
    operation: OPERATION,
    create: () => new (loadAddon().NetlinkWatch)(NETLINK_NETFILTER, groups),
    read: (messages) => readEvents(messages, selector),
    opened: checkEvents,
  };
}

/** Rejects with EOPNOTSUPP when the kernel reports nothing. A setting that cannot be read is not known to be 0. */
async function checkEvents(netns: string | NativeNamespace, target: string | undefined): Promise<void> {
  if ((await readSetting(netns, 'nf_conntrack_events')) === false) {
    throw toNetlinkError(SILENT, { operation: OPERATION, target });
  }
}

/** Reads the events of the selected flows. What cannot be read is lost, with all that follow. */
export function* readEvents(messages: Uint8Array, selector?: Selector): Generator<FlowEvent | Resync, void> {
  const reader = new FlowReader(messages, OPERATION);
  try {
    while (reader.message.next()) {
      const kind = kindOf(reader.message);
      if (!kind) continue;
      reader.read();
      if (selector?.selects(reader) ?? true) yield { kind, flow: reader.flow() };
    }
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
    let dropped = 1;
    while (reader.message.next()) dropped++;
    yield { kind: 'resync', lost: true, dropped };
  }
}

/** Undefined for messages about something else. */
function kindOf({
  type,
  flags,
}: {
  readonly type: number;
  readonly flags: number;
}): FlowEventKind | undefined {
  if (type === MESSAGE.delete) return 'destroy';
  if (type !== MESSAGE.new) return undefined;
  return (flags & (FLAG.create | FLAG.exclusive)) === 0 ? 'update' : 'new';
}
