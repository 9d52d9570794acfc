// Rules of policy routing, as JavaScript values. Source of every rule: include/uapi/linux/fib_rules.h, ip-rule(8).
import type { Family } from '../../../net/address.js';
import type { RouteProtocol, RouteTable } from '../routes/types.js';

/** The effect of a rule (`FR_ACT_`). */
export type RuleAction = 'lookup' | 'goto' | 'nop' | 'blackhole' | 'unreachable' | 'prohibit';

/** Numbers from the first to the last one. */
export interface NumberRange {
  readonly first: number;
  readonly last: number;
}

/** A mark of packets. */
export interface RuleMark {
  readonly value: number;
  /** Bits that are compared. Default: all. */
  readonly mask?: number;
}

/** A rule that is written, and the name of one that is deleted: the first one with all these fields. */
export interface NewRule {
  /** Default: that of a prefix, else 4. */
  readonly family?: Family;
  /** Rules apply in the order of their priorities, 0 first. Default: one less than the lowest, at most 32765. */
  readonly priority?: number;
  /** Prefix of sources. Default: all. */
  readonly from?: string;
  /** Prefix of destinations. Default: all. */
  readonly to?: string;
  /** The rule applies to packets that do not match. */
  readonly invert?: boolean;
  /** 0–255. */
  readonly tos?: number;
  readonly mark?: RuleMark;
  /** Name of the link by which packets come, which need not exist; `lo` for packets of this host. */
  readonly inputLink?: string;
  /** Name of the link to which a socket is bound, which need not exist. */
  readonly outputLink?: string;
  /** The packet belongs to the VRF of its link. The table is then that of the VRF. Linux 4.8. */
  readonly l3mdev?: boolean;
  /** Number of the IP protocol. Linux 4.17. */
  readonly ipProtocol?: number;
  /** Linux 4.17. */
  readonly sourcePorts?: NumberRange;
  /** Linux 4.17. */
  readonly destinationPorts?: NumberRange;
  /** Users whose packets they are. Linux 4.10. */
  readonly uids?: NumberRange;
  /** Default `lookup`. */
  readonly action?: RuleAction;
  /** Of `lookup`; default `main`. */
  readonly table?: RouteTable;
  /** Of `goto`: the priority of a later rule. */
  readonly goto?: number;
  /** Ignores routes whose prefix is at most this long. */
  readonly suppressPrefixLength?: number;
  /** Ignores routes by links of this group. */
  readonly suppressGroup?: number;
  /** Default `boot`. Linux 4.17. */
  readonly protocol?: RouteProtocol;
}

/** A rule as the kernel lists it. It is also the name of the rule. */
export interface Rule extends NewRule {
  readonly family: Family;
  readonly priority: number;
  readonly action: RuleAction;
  /** The target of the goto does not exist. */
  readonly unresolved?: boolean;
  /** The input link does not exist. */
  readonly inputLinkMissing?: boolean;
  /** The output link does not exist. */
  readonly outputLinkMissing?: boolean;
}
