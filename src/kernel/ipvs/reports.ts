// What the kernel reports about IPVS itself: its version, table and modules.

/** The kernel's own description of its IPVS (`IPVS_CMD_GET_INFO`). */
export interface IpvsInfo {
  /** `1.2.1`. */
  readonly version: string;
  /** Buckets of the connection table, 4096 by default (`conn_tab_bits`). */
  readonly connectionTableSize: number;
}

/** Names of kernel modules, without `ip_vs_`. */
export interface IpvsModules {
  /** Loaded or built in. */
  readonly loaded: readonly string[];
  /** Not loaded, but in the folder of the kernel's modules: the kernel loads them when they are first used. */
  readonly loadable: readonly string[];
}

/** The abilities of the kernel's IPVS. */
export interface IpvsCapabilities extends IpvsInfo {
  readonly schedulers: IpvsModules;
  readonly persistenceEngines: IpvsModules;
  /**
   * Whether `loadable` is known: the folder /lib/modules/RELEASE can be read. In a container without it, the kernel may load
   * more modules than are listed.
   */
  readonly modulesKnown: boolean;
  /** Types of encapsulation, by the release of the kernel: distributions may have added them to an older one. */
  readonly encapsulations: readonly ('ipip' | 'gue' | 'gre')[];
  /** Whether counters have 64 bits (kernel 4.1), by the release of the kernel. */
  readonly counters64: boolean;
  /** Whether sync daemons have `maxLength`, `group`, `port` and `ttl` (kernel 4.3), by the release of the kernel. */
  readonly daemonAttributes: boolean;
}
