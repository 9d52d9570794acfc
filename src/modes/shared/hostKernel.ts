// The parts of the kernel that every mode needs: addresses of the host, flows, iptables' programs, settings.
import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { openConntrack } from '../../kernel/conntrack/index.js';
import { openIptables } from '../../kernel/iptables/index.js';
import type { Iptables } from '../../kernel/iptables/types.js';
import { openProcNet } from '../../kernel/procNet/index.js';
import { openRtnetlink, watchRtnetlink } from '../../kernel/rtnetlink/index.js';
import type { RtnetlinkEvent } from '../../kernel/rtnetlink/types.js';
import { openSysctl } from '../../kernel/sysctl/index.js';
import type { OpenOptions } from '../../kernel/types.js';
import type { Family } from '../../net/address.js';
import type { HostChange } from '../../services/types.js';
import { openParts } from './openParts.js';
import { sharedWatch } from './sharedWatch.js';

/** Time for which changes of links and addresses are collected, in ms: a network plugin makes several for each pod. */
const HOST_SETTLES = 200;

/** Parts of the kernel of this process's network namespace. */
export type HostKernel = Awaited<ReturnType<typeof openHostKernel>>;

/**
 * Opens all parts. If one cannot be opened, closes the others and rejects with its NetlinkError. The options are those of the
 * netlink families; iptables, settings and /proc/net are of the process.
 */
export async function openHostKernel(options: OpenOptions = {}) {
  const parts = await openParts({
    conntrack: () => openConntrack(options),
    rtnetlink: () => openRtnetlink(options),
  });
  const client = openIptables();
  const iptables: Iptables = client;
  return {
    ...parts,
    iptables,
    sysctl: openSysctl(),
    procNet: openProcNet(),
    /** Calls `changed` after changes of links or addresses, until closed. */
    watchHost: sharedWatch<HostChange>((changed) =>
      watchRtnetlink({ ...options, gather: HOST_SETTLES }, ({ lost, events }) =>
        changed({ lost, ...hostChanges(events) }),
      ),
    ),
    close: () => {
      for (const part of Object.values(parts)) part.close();
      // Nothing waits for its programs: they end with this process at the latest.
      client.close().catch(() => {});
    },
  };
}

function hostChanges(events: readonly RtnetlinkEvent[]): Pick<HostChange, 'addresses' | 'deletedLinks'> {
  return {
    addresses: events.flatMap((event) => {
      if (event.kind !== 'address') return [];
      const { link, address, prefix } = event.address;
      return [{ link, address, prefix, deleted: event.deleted }];
    }),
    deletedLinks: events.flatMap((event) =>
      event.kind === 'link' && event.deleted ? [event.link.name] : [],
    ),
  };
}

/** Families for which the host has both an IP stack and the iptables programs. Logs the other families. */
export async function usableFamilies(iptables: Iptables, log: Pick<Logger, 'warn'>): Promise<Family[]> {
  const { usable, unusable } = await findFamilies(iptables);
  for (const { family, reason } of unusable) log.warn({ err: reason }, `IPv${family} is left out`);
  return usable;
}

/** A family that cannot be programmed. */
export interface UnusableFamily {
  readonly family: Family;
  /** The kernel has the family: the iptables programs failed. */
  readonly inKernel: boolean;
  readonly reason: string;
}

/** The families that can be programmed on this host, and the others. */
export async function findFamilies(
  iptables: Pick<Iptables, 'save'>,
): Promise<{ readonly usable: Family[]; readonly unusable: readonly UnusableFamily[] }> {
  const families = [4, 6] as const;
  const obstacles = await Promise.all(families.map((family) => findObstacle(iptables, family)));
  return {
    usable: families.filter((_, i) => obstacles[i] === undefined),
    unusable: obstacles.filter((obstacle) => obstacle !== undefined),
  };
}

async function findObstacle(
  iptables: Pick<Iptables, 'save'>,
  family: Family,
): Promise<UnusableFamily | undefined> {
  if (family === 6 && !existsSync('/proc/net/if_inet6'))
    return { family, inKernel: false, reason: 'the kernel runs without IPv6' };
  try {
    await iptables.save(family);
    return undefined;
  } catch (error) {
    return { family, inKernel: true, reason: String(error) };
  }
}
