// Rules of policy routing, as JavaScript values. Source of every rule: include/uapi/linux/fib_rules.h, ip-rule(8).
import type { Family } from '../../net/address.js';
import type { ListedAttribute } from '../../shared/types.js';
import type { RouteProtocol, RouteTable, UnnamedFlag } from '../routes/types.js';

/** The effect of a rule (`FR_ACT_`): one of those with a name, or a number from 0 to 255. */
export type RuleAction = 'lookup' | 'goto' | 'nop' | 'blackhole' | 'unreachable' | 'prohibit' | number;

/** Numbers from the first to the last one. */
export interface NumberRange {
  /** The first number. */
  readonly first: number;
  /** The last number, not less than `first`. */
  readonly last: number;
}

/** A mark of packets. */
export interface RuleMark {
  /** 0–4294967295. */
  readonly value: number;
  /** Bits that are compared. Default: all. */
  readonly mask?: number;
}

/** The packets to which a rule applies, and the order of rules. */
export interface RuleSelector {
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
  /** Mark of the packets (`fwmark`). */
  readonly mark?: RuleMark;
  /** Name of the link by which packets come, which need not exist; `lo` for packets of this host. */
  readonly inputLink?: string;
  /** Name of the link to which a socket is bound, which need not exist. */
  readonly outputLink?: string;
  /** Number of the IP protocol. Linux 4.17. */
  readonly ipProtocol?: number;
  /** Linux 4.17. */
  readonly sourcePorts?: NumberRange;
  /** Linux 4.17. */
  readonly destinationPorts?: NumberRange;
  /** Bits of the port that are compared, of `sourcePorts` with one port. Default: all. Linux 6.15. */
  readonly sourcePortMask?: number;
  /** The same of `destinationPorts`. Linux 6.15. */
  readonly destinationPortMask?: number;
  /** 0–63. Excludes `tos`. Linux 6.13. */
  readonly dscp?: number;
  /** Bits of `dscp` that are compared. Default: all. Linux 6.15. */
  readonly dscpMask?: number;
  /** Of IPv6: 0–1048575. Linux 6.14. */
  readonly flowLabel?: number;
  /** Bits of `flowLabel` that are compared. Default: all. Linux 6.14. */
  readonly flowLabelMask?: number;
  /** Number of the tunnel in the packet's metadata: 64 bits. Linux 4.3. */
  readonly tunnelId?: bigint;
  /** Of IPv4: the realms that packets get, as those of a route. A kernel without `CONFIG_IP_ROUTE_CLASSID` ignores them. */
  readonly realms?: number;
  /** Users whose packets they are. Linux 4.10. */
  readonly uids?: NumberRange;
  /** Ignores routes whose prefix is at most this long. */
  readonly suppressPrefixLength?: number;
  /** Ignores routes by links of this group. */
  readonly suppressGroup?: number;
  /** Default `boot`. Linux 4.17. */
  readonly protocol?: RouteProtocol;
}

/** The table of a rule. */
export type RuleLookup =
  | {
      /** Of `lookup`; default `main`. */
      readonly table?: RouteTable;
      readonly l3mdev?: false;
    }
  | {
      /** The packet belongs to the VRF of its link. The table is then that of the VRF. Linux 4.8. */
      readonly l3mdev: boolean;
      readonly table?: never;
    };

/** The effect of a rule on packets. */
export type RuleEffect =
  | {
      /** Default `lookup`. */
      readonly action?: Exclude<RuleAction, 'goto'>;
      readonly goto?: never;
    }
  | {
      /** Default of a rule with `goto`. */
      readonly action?: 'goto';
      /** The priority of a later rule. */
      readonly goto: number;
    };

/** A rule that is written. */
export type NewRule = RuleSelector & RuleLookup & RuleEffect;

/**
 * The name of a rule that is deleted: the first one with all these fields. One of them must be a field that few rules have; see
 * `Rtnetlink.deleteRule`.
 */
export interface RuleName extends RuleSelector {
  /** Default: any. */
  readonly action?: RuleAction;
  /** Default: any. */
  readonly table?: RouteTable;
  /** Default: any. */
  readonly l3mdev?: boolean;
  /** Default: any. */
  readonly goto?: number;
}

/** `never` for a name without fields, or with fields that the compiler does not know: it could name the first rule of all. */
export type WithFields<Given> = string extends keyof Given
  ? never
  : [keyof Given] extends [never]
    ? never
    : unknown;

/** What a rule has beside the fields that are written. */
export interface RuleState {
  /** Family of the rule. */
  readonly family: Family;
  /** 0–4294967295. */
  readonly priority: number;
  /** The effect. */
  readonly action: RuleAction;
  /** The target of the goto does not exist. */
  readonly unresolved?: boolean;
  /** The input link does not exist. */
  readonly inputLinkMissing?: boolean;
  /** The output link does not exist. */
  readonly outputLinkMissing?: boolean;
  /** Flags that have no field here (`fib_rule_hdr.flags`). The rule cannot be written with them. */
  readonly flags?: readonly UnnamedFlag[];
  /** Attributes that have no field here. The rule cannot be written with them: it would apply to more packets. */
  readonly attributes?: readonly ListedAttribute[];
}

/** A rule as the kernel lists it. It is also the name of the rule. */
export type Rule = NewRule & RuleState;
