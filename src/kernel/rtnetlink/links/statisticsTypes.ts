// Counters of links, as JavaScript values. Source: include/uapi/linux/if_link.h (struct rtnl_link_stats64), which describes each.

/** Counters of a link since it was created: of packets, unless they say otherwise. A driver counts only what it knows. */
export interface LinkCounters {
  /** Received. */
  readonly rxPackets: bigint;
  /** Sent. */
  readonly txPackets: bigint;
  /** Bytes. */
  readonly rxBytes: bigint;
  /** Bytes. */
  readonly txBytes: bigint;
  /** Received, and bad: the errors below, and others. */
  readonly rxErrors: bigint;
  /** Not sent: the errors below, and others. */
  readonly txErrors: bigint;
  /** Received, and dropped for want of memory, or because nobody wanted them. */
  readonly rxDropped: bigint;
  /** Not sent, for want of memory or of a carrier. */
  readonly txDropped: bigint;
  /** Received multicasts. */
  readonly multicast: bigint;
  /** Collisions on the wire. */
  readonly collisions: bigint;
  /** With a wrong length. */
  readonly rxLengthErrors: bigint;
  /** Longer than the buffers of the host. */
  readonly rxOverErrors: bigint;
  /** With a wrong checksum. */
  readonly rxCrcErrors: bigint;
  /** Not aligned to bytes. */
  readonly rxFrameErrors: bigint;
  /** Events of a full queue of the device. */
  readonly rxFifoErrors: bigint;
  /** Missed by the host, for want of buffers. */
  readonly rxMissedErrors: bigint;
  /** Given up by the device. */
  readonly txAbortedErrors: bigint;
  /** Lost with the carrier. */
  readonly txCarrierErrors: bigint;
  /** Lost because the device got the data too late. */
  readonly txFifoErrors: bigint;
  /** Errors of the SQE test of Ethernet with half duplex. */
  readonly txHeartbeatErrors: bigint;
  /** Late collisions. */
  readonly txWindowErrors: bigint;
  /** Received compressed (CSLIP). */
  readonly rxCompressed: bigint;
  /** Sent compressed (CSLIP). */
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
