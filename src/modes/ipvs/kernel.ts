// The parts of the kernel that ipvs mode speaks to: real ones in production, fakes that keep state in tests.
import type { Conntrack } from '../../kernel/conntrack/types.js';
import type { Ipset } from '../../kernel/ipset/types.js';
import type { Iptables } from '../../kernel/iptables/types.js';
import type { Ipvs } from '../../kernel/ipvs/types.js';
import type { Rtnetlink } from '../../kernel/rtnetlink/types.js';
import type { Sysctl } from '../../kernel/sysctl/index.js';

/** What ipvs mode is given to work with. */
export interface IpvsKernel {
  readonly ipvs: Pick<
    Ipvs,
    'listServices' | 'listRealServers' | 'get' | 'apply' | 'timeouts' | 'setTimeouts'
  >;
  readonly conntrack: Pick<Conntrack, 'list' | 'deleteFlows'>;
  readonly ipset: Pick<Ipset, 'list' | 'get' | 'apply'>;
  readonly rtnetlink: Pick<Rtnetlink, 'getLink' | 'listAddresses' | 'apply'>;
  readonly iptables: Iptables;
  readonly sysctl: Sysctl;
}
