// The fakes keep the contracts that test/kernel/contract-*.test.ts hold the kernel to.
import { constants } from 'node:os';
import { describe } from 'node:test';
import type { Conntrack } from '../../../../src/kernel/conntrack/types.js';
import type { Ipset } from '../../../../src/kernel/ipset/types.js';
import type { Iptables } from '../../../../src/kernel/iptables/types.js';
import type { Ipvs } from '../../../../src/kernel/ipvs/types.js';
import type { Nftables } from '../../../../src/kernel/nftables/types.js';
import type { Rtnetlink } from '../../../../src/kernel/rtnetlink/types.js';
import type { Sysctl } from '../../../../src/kernel/sysctl/index.js';
import {
  FakeConntrack,
  FakeIpset,
  FakeIptables,
  FakeIpvs,
  FakeKernel,
  FakeNetlink,
  FakeNftables,
  FakeRtnetlink,
} from '../../../../src/kernel/testing/index.js';
import { conntrackContract } from '../../../support/contract/conntrack.js';
import { ipsetContract } from '../../../support/contract/ipset.js';
import { iptablesContract } from '../../../support/contract/iptables.js';
import { ipvsContract } from '../../../support/contract/ipvs.js';
import { serverListsContract } from '../../../support/contract/ipvsServerLists.js';
import { GET_NONE, LINK_TYPE, netlinkContract } from '../../../support/contract/netlink.js';
import { nftablesContract } from '../../../support/contract/nftables.js';
import { nftablesElementBytesContract } from '../../../support/contract/nftablesElementBytes.js';
import { nftablesObjectsContract } from '../../../support/contract/nftablesObjects.js';
import { rtnetlinkContract } from '../../../support/contract/rtnetlink.js';
import { rtnetlinkKindsContract } from '../../../support/contract/rtnetlinkKinds.js';
import { rtnetlinkObjectsContract } from '../../../support/contract/rtnetlinkObjects.js';
import { withVeth } from '../../../support/contract/rtnetlinkVeth.js';
import { nftablesRoundTrips } from '../../../support/roundTrips/nftables.js';
import { rtnetlinkRoundTrips } from '../../../support/roundTrips/rtnetlink.js';

/** A fake takes the place of the real one: the compiler checks it. */
new FakeKernel() satisfies {
  conntrack: Conntrack;
  ipvs: Ipvs;
  ipset: Ipset;
  rtnetlink: Rtnetlink;
  iptables: Iptables;
  nftables: Nftables;
  sysctl: Sysctl;
};

describe('a fake of IPVS', () => {
  ipvsContract(async () => new FakeIpvs());
  serverListsContract(async () => new FakeIpvs());
});
describe('a fake of ipset', () => ipsetContract(async () => new FakeIpset()));
describe('a fake of iptables', () => iptablesContract(async () => new FakeIptables()));
describe('a fake of rtnetlink', () => {
  rtnetlinkContract(async () => new FakeRtnetlink(), 'dummy');
  rtnetlinkObjectsContract(async () => new FakeRtnetlink(), true);
  rtnetlinkKindsContract(async () => new FakeRtnetlink());
  rtnetlinkRoundTrips(async () => {
    const rtnetlink = new FakeRtnetlink();
    await withVeth(async () => rtnetlink);
    await rtnetlink.setLink('lo', { up: true });
    const show = () => [rtnetlink.dump('va'), rtnetlink.dumpRoutes(), rtnetlink.dumpNeighbours()];
    return { rtnetlink, show: () => [...show(), rtnetlink.dumpRules(4), rtnetlink.dumpRules(6)] };
  });
});
describe('a fake of rtnetlink before Linux 6.2', () =>
  rtnetlinkObjectsContract(
    async () => Object.assign(new FakeRtnetlink(), { renamesLinksThatAreUp: false }),
    false,
  ));
describe('a fake of netlink', () => {
  netlinkContract(async (protocol) => {
    const fake = new FakeNetlink(protocol);
    const groups = new Map([['notify', 16]]);
    fake.families.set('nlctrl', { name: 'nlctrl', id: 16, version: 2, headerSize: 0, groups });
    const lo = { type: LINK_TYPE, flags: 0, payload: Uint8Array.of(0, 0, 4, 3, 1, 0, 0, 0) };
    const none = GET_NONE.payload?.toString();
    fake.answer = ({ payload }) => (payload.toString() === none ? constants.errno.ENODEV : [lo]);
    return fake;
  });
});
describe('a fake of nftables', () => {
  nftablesContract(async () => new FakeNftables());
  nftablesObjectsContract(async () => new FakeNftables());
  nftablesElementBytesContract(async () => new FakeNftables());
  // The rest of a lifetime, without a lifetime.
  const isOptional = (value: object) => 'expires' in value && value.expires === 1n;
  nftablesRoundTrips(async () => new FakeNftables(), isOptional);
});
describe('a fake of conntrack', () => {
  conntrackContract(async (...datagrams) => {
    const fake = new FakeConntrack();
    for (const datagram of datagrams) fake.track(translated(datagram));
    return fake;
  });
});

/** The flow that a datagram begins in a tracking namespace. */
function translated(datagram: string) {
  const [from = '', to = ''] = datagram.split(' ');
  const [source, sourcePort] = split(from);
  const [destination, destinationPort] = split(to);
  const last = sourcePort > 4999 ? 2 : 1;
  const endpoint = source.includes(':') ? `fd00::${last}` : `10.0.0.${last}`;
  return {
    protocol: 'udp',
    status: ['CONFIRMED', 'DST_NAT', 'SRC_NAT_DONE', 'DST_NAT_DONE'],
    original: { source, destination, sourcePort, destinationPort },
    reply: { source: endpoint, destination: source, sourcePort: 5353, destinationPort: sourcePort },
  } as const;
}

function split(end: string): [address: string, port: number] {
  const colon = end.lastIndexOf(':');
  return [end.slice(0, colon).replace(/[[\]]/g, ''), Number(end.slice(colon + 1))];
}
