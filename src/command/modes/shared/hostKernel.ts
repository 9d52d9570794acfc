// The parts of the kernel that every mode needs: addresses of the host, flows, iptables' programs, settings.
import type { Logger } from 'pino';
import { openConntrack } from '../../../kernel/conntrack/index.js';
import { openIptables } from '../../../kernel/iptables/index.js';
import type { Iptables } from '../../../kernel/iptables/types.js';
import { openRtnetlink, watchRtnetlink } from '../../../kernel/rtnetlink/index.js';
import type { RtnetlinkEvent } from '../../../kernel/rtnetlink/types.js';
import type { OpenOptions } from '../../../kernel/shared/types.js';
import { openSysctl } from '../../../kernel/sysctl/index.js';
import type { ReachListener, ReachWatch } from '../../../proxy/nodes/types.js';
import { watchNodes } from '../../../proxy/nodes/watch.js';
import { hostLink } from '../../../proxy/services/nodeFacts.js';
import type { HostChange } from '../../../proxy/services/types.js';
import { openParts } from './openParts.js';
import { sharedWatch } from './sharedWatch.js';

/** Time for which changes of links and addresses are collected, in ms: a network plugin makes several for each pod. */
const HOST_SETTLES = 200;

/** Parts of the kernel of this process's network namespace. */
export type HostKernel = Awaited<ReturnType<typeof openHostKernel>>;

/**
 * Opens all parts. If one cannot be opened, closes the others and rejects with its NetlinkError. The options are those of the
 * netlink families; iptables and settings are of the process.
 */
export async function openHostKernel(options: OpenOptions = {}) {
  const open = () =>
    openParts({
      conntrack: () => openConntrack(options),
      rtnetlink: () => openRtnetlink(options),
    });
  const parts = await open();
  const client = openIptables();
  const iptables: Iptables = client;
  return {
    ...parts,
    iptables,
    sysctl: openSysctl(),
    /** Calls `changed` after changes of links or addresses, until closed. */
    watchHost: sharedWatch<HostChange>((changed) =>
      watchRtnetlink({ ...options, gather: HOST_SETTLES }, ({ lost, events }) =>
        changed({ lost, ...hostChanges(events) }),
      ),
    ),
    /** Watches other nodes, by sockets of its own: its questions wait for no pass, and no metric of operations counts them. */
    watchNodes: async (listener: ReachListener): Promise<ReachWatch> => {
      const own = await open();
      const watch = watchNodes(own, listener);
      const close = () => {
        watch.close();
        for (const part of Object.values(own)) part.close();
      };
      return { follow: (nodes) => watch.follow(nodes), close };
    },
    close: () => {
      for (const part of Object.values(parts)) part.close();
      // Nothing waits for its programs: they end with this process at the latest.
      client.close().catch(() => {});
    },
  };
}

/** Logs that no iptables-restore of a family can run for long. */
export function logFallback(iptables: Iptables, log: Pick<Logger, 'warn'>): void {
  iptables.onFallback = (program, reason) => {
    log.warn(
      { program, reason },
      'the program cannot run for long: each change of its rules starts a process',
    );
  };
  iptables.onReplaced = (program, before, now) => {
    log.warn(
      { program, before, now },
      'the backend of iptables was changed: all rules are written with the new one; those of the old one stay until they are deleted',
    );
  };
}

function hostChanges(events: readonly RtnetlinkEvent[]): Pick<HostChange, 'addresses' | 'links'> {
  return {
    addresses: events.flatMap((event) => {
      if (event.kind !== 'address') return [];
      const { link, address, prefix } = event.address;
      return [{ link, address, prefix, deleted: event.deleted }];
    }),
    links: events.flatMap((event) =>
      event.kind === 'link' ? [{ ...hostLink(event.link), deleted: event.deleted }] : [],
    ),
  };
}
