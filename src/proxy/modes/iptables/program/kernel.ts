// The parts of the kernel that iptables mode programs: real in production, in memory in tests.
import type { Iptables } from '../../../../kernel/iptables/types.js';
import type { Sysctl } from '../../../../kernel/sysctl/index.js';

/** The parts of one network namespace. */
export interface IptablesKernel {
  readonly iptables: Iptables;
  readonly sysctl: Sysctl;
  /** A mark of all rules, as `mark` of a mode. Absent: there is none. */
  mark?(): Promise<string | undefined>;
}
