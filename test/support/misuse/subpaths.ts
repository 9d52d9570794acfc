// The clients of all exports over a stand-in for the addon, and their fakes.
import { openConntrack } from '../../../src/kernel/conntrack/index.js';
import { openIpset } from '../../../src/kernel/ipset/index.js';
import { openIpvs } from '../../../src/kernel/ipvs/index.js';
import { openNetlink } from '../../../src/kernel/netlink/index.js';
import { openNftables } from '../../../src/kernel/nftables/index.js';
import { openRtnetlink } from '../../../src/kernel/rtnetlink/index.js';
import {
  FakeConntrack,
  FakeIpset,
  FakeIpvs,
  FakeNetlink,
  FakeNftables,
  FakeRtnetlink,
} from '../../../src/kernel/testing/index.js';

/** How the client of each export is opened. Call while a {@link CountedAddon} is in place. */
export const OPEN = {
  ipvs: () => openIpvs(),
  ipset: () => openIpset(),
  rtnetlink: () => openRtnetlink(),
  conntrack: () => openConntrack(),
  netlink: () => openNetlink({ protocol: 'generic' }),
  nftables: () => openNftables(),
} as const;

/** A name of an export. */
export type Subpath = keyof typeof OPEN;

/** How the fake of each export is made. */
export const FAKES = {
  ipvs: () => new FakeIpvs(),
  ipset: () => new FakeIpset(),
  rtnetlink: () => new FakeRtnetlink(),
  conntrack: () => new FakeConntrack(),
  netlink: () => new FakeNetlink(),
  nftables: () => new FakeNftables(),
} as const satisfies Record<Subpath, () => object>;

/** Its methods by name, for calls with arguments of any type. */
export type Verbs = Readonly<Record<string, (...args: unknown[]) => unknown>>;
