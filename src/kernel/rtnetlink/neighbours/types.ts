// Neighbours (ARP, neighbour discovery), as JavaScript values. Source of every rule: include/uapi/linux/neighbour.h,
// ip-neighbour(8).
import type { Family } from '../../net/address.js';
import type { ListedAttribute } from '../../shared/types.js';
import type { LinkReference } from '../links/reference.js';
import type { RouteProtocol, UnnamedFlag } from '../routes/types.js';

/** The state of a neighbour (`NUD_`): one of those with a name, or a number from 0 to 65535. */
export type NeighbourState =
  | 'none'
  | 'incomplete'
  | 'reachable'
  | 'stale'
  | 'delay'
  | 'probe'
  | 'failed'
  | 'noarp'
  | 'permanent'
  | number;

/** A flag of a neighbour (`NTF_`). `use` and `managed` (Linux 5.16) are written only. */
export type NeighbourFlag =
  | 'use'
  | 'router'
  | 'extern_learn'
  | 'offload'
  | 'managed'
  | 'proxy'
  | 'self'
  | 'master'
  | 'sticky'
  | UnnamedFlag;

/** The name of a neighbour. */
export interface NeighbourId {
  /** Name or index of the link. */
  readonly link: LinkReference;
  /** Address of IP. */
  readonly address: string;
  /** An address for which this host answers, and no neighbour. Default false. */
  readonly proxy?: boolean;
}

/** A neighbour that is written. */
export interface NewNeighbour extends NeighbourId {
  /** Hardware address: `02:00:00:00:00:01`. Required in the states in which it is known. */
  readonly hardwareAddress?: string;
  /** Default `permanent`. */
  readonly state?: NeighbourState;
  /** Flags that are set; default none. */
  readonly flags?: readonly NeighbourFlag[];
  /** Linux 5.1. */
  readonly protocol?: RouteProtocol;
}

/** A neighbour as the kernel lists it. It is also the name of the neighbour. */
export interface Neighbour extends NewNeighbour {
  /** Name of the link. */
  readonly link: string;
  /** Family of the address. */
  readonly family: Family;
  /** Whether its hardware address is known. */
  readonly state: NeighbourState;
  /** Flags that are set. */
  readonly flags: readonly NeighbourFlag[];
  /** Probes without an answer so far. */
  readonly probes?: number;
  /** Time since it was used, in s. */
  readonly used?: number;
  /** Time since it was confirmed, in s. */
  readonly confirmed?: number;
  /** Time since it changed, in s. */
  readonly updated?: number;
  /** Attributes that have no field here. The neighbour cannot be written with them. */
  readonly attributes?: readonly ListedAttribute[];
}

/** Which neighbours are listed; default: all of both families, without proxies. */
export interface NeighbourFilter {
  /** Default: both. */
  readonly family?: Family;
  /** Name or index of the link; ENODEV when there is none. */
  readonly link?: LinkReference;
  /** Lists proxies instead. Default false. */
  readonly proxy?: boolean;
}
