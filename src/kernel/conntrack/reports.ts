// What connection tracking reports beside flows: its numbers and its abilities.

/** Counters of one CPU since the namespace began (`struct ip_conntrack_stat`). */
export interface CpuStatistics {
  readonly cpu: number;
  /** Packets of flows that were found. */
  readonly found: number;
  /** Packets that cannot be tracked. */
  readonly invalid: number;
  /** Flows that were added. */
  readonly insert: number;
  /** Flows that could not be added, because another flow had one of their tuples. */
  readonly insertFailed: number;
  /** Packets dropped because a flow could not be added. */
  readonly drop: number;
  /** Flows that were ended early because the table was full. */
  readonly earlyDrop: number;
  /** ICMP errors that cannot be tracked. */
  readonly error: number;
  /** Searches that began again because the table was resized. */
  readonly searchRestart: number;
  /** Flows that were merged with a flow of the same tuple. Since 5.10. */
  readonly clashResolve: number;
  /** Flows that were not added because their bucket was full. Since 5.15. */
  readonly chainTooLong: number;
}

/** The numbers of connection tracking. */
export interface ConntrackStatistics {
  /** Flows that are tracked. */
  readonly entries: number;
  /** Maximum of them (`net.netfilter.nf_conntrack_max`). Undefined before 4.18. */
  readonly maxEntries: number | undefined;
  readonly cpus: readonly CpuStatistics[];
}

/**
 * What the kernel offers in the namespace of the client. A setting may be changed at any time; it counts for new flows. It is
 * undefined where it cannot be read, because `/proc/sys` is masked.
 */
export interface ConntrackCapabilities {
  /** Whether new flows have counters: the setting `net.netfilter.nf_conntrack_acct`. */
  readonly accounting: boolean | undefined;
  /** Whether new flows have timestamps: the setting `net.netfilter.nf_conntrack_timestamp`. */
  readonly timestamps: boolean | undefined;
  /** Whether new flows have events: the setting `net.netfilter.nf_conntrack_events`. */
  readonly events: boolean | undefined;
  /** Whether the kernel has zones (`CONFIG_NF_CONNTRACK_ZONES`). */
  readonly zones: boolean;
  /** Whether the kernel deletes by a filter itself (6.11). delete() does not use that: the kernel does not return a number. */
  readonly deleteByFilter: boolean;
}
