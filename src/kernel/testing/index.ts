// Fakes of every part of the kernel that the libraries use: they keep state, fail on demand, and print their state as the
// tools do. For tests of agents built on the libraries, and for the tests of this package.

import { FakeConntrack } from './conntrack.js';
import type { Fault, Faults } from './faults.js';
import { FakeIpset } from './ipset.js';
import { FakeIptables } from './iptables.js';
import { FakeIpvs } from './ipvs.js';
import { FakeNftables } from './nftables.js';
import { FakeRtnetlink } from './rtnetlink.js';
import { FakeSysctl } from './sysctl.js';

export type {
  Iptables,
  IptablesOperation,
  IptablesRestore,
  Policy,
  RuleReplacement,
  SavedChain,
  SavedRules,
  SavedTables,
  Table,
} from '../iptables/types.js';
export type { Sysctl, SysctlWrite } from '../sysctl/index.js';
export { FakeConntrack, type TrackedFlow } from './conntrack.js';
export { FakeEvents } from './events.js';
export { type Fault, type Faults, failNth } from './faults.js';
export { FakeIpset } from './ipset.js';
export { FakeIptables } from './iptables.js';
export type { Refuse } from './iptablesRules.js';
export { FakeIpvs } from './ipvs.js';
export { FakeNetlink, type NetlinkAnswer } from './netlink.js';
export { FakeNftables } from './nftables.js';
export { FakeRtnetlink } from './rtnetlink.js';
export { FakeSysctl } from './sysctl.js';

/** A whole kernel in memory. */
export class FakeKernel {
  readonly conntrack = new FakeConntrack();
  readonly ipvs = new FakeIpvs();
  readonly ipset = new FakeIpset();
  readonly rtnetlink = new FakeRtnetlink();
  readonly iptables = new FakeIptables();
  readonly nftables = new FakeNftables();
  readonly sysctl = new FakeSysctl();

  /** One fault for all parts, so that "the nth operation" counts through all of them. */
  set fault(fault: Fault) {
    for (const part of this.#parts()) part.fault = fault;
  }

  /** The same for everything that reads. */
  set readFault(fault: Fault) {
    for (const part of this.#parts()) part.readFault = fault;
  }

  #parts(): Faults[] {
    return [this.conntrack, this.ipvs, this.ipset, this.rtnetlink, this.iptables, this.nftables, this.sysctl];
  }
}
