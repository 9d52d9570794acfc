// Counters of links, as JavaScript values. Source: include/uapi/linux/if_link.h (struct rtnl_link_stats64), which describes each.

/** Counters of a link since it was created: of packets, unless they say otherwise. A driver counts only what it knows. */
export interface LinkCounters {
  readonly rxPackets: bigint;
  readonly txPackets: bigint;
  /** Bytes. */
  readonly rxBytes: bigint;
  /** Bytes. */
  readonly txBytes: bigint;
  readonly rxErrors: bigint;
  readonly txErrors: bigint;
  /** Received, and dropped for want of memory, or because nobody wanted them. */
  readonly rxDropped: bigint;
  readonly txDropped: bigint;
  /** Received multicasts. */
  readonly multicast: bigint;
  readonly collisions: bigint;
  readonly rxLengthErrors: bigint;
  readonly rxOverErrors: bigint;
  readonly rxCrcErrors: bigint;
  readonly rxFrameErrors: bigint;
  readonly rxFifoErrors: bigint;
  readonly rxMissedErrors: bigint;
  readonly txAbortedErrors: bigint;
  readonly txCarrierErrors: bigint;
  readonly txFifoErrors: bigint;
  readonly txHeartbeatErrors: bigint;
  readonly txWindowErrors: bigint;
  readonly rxCompressed: bigint;
  readonly txCompressed: bigint;
  /** Received by a link that is not active: a port of a bond that is a backup. */
  readonly rxNoHandler: bigint;
  /** Received, and for another host. Linux 5.19. */
  readonly rxOtherHostDropped?: bigint;
}

/** The counters of a link, with its name. */
export interface LinkStatistics extends LinkCounters {
  /** Name of the link. */
  readonly link: string;
  /** Index of the link. */
  readonly index: number;
}
