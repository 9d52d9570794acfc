// Prints whether each link has a carrier, as ethtool does, through the kernel's family `ethtool` of generic netlink, for which the
// library has no client:
//
//   node linkState.js [NETNS]        NETNS is a path (/run/netns/blue)
//
// Needs no privilege in the namespace of the process, and Linux 5.6.
import { pathToFileURL } from 'node:url';
import {
  AttributeReader,
  AttributeWriter,
  GENERIC_HEADER_SIZE,
  genericHeader,
  type Netlink,
  type NetlinkMessage,
  openNetlink,
} from 'kube-netlink-proxy/netlink';

// include/uapi/linux/ethtool_netlink.h
const ETHTOOL_MSG_LINKSTATE_GET = 6;
const ETHTOOL_A_LINKSTATE = { header: 1, link: 2 } as const;
const ETHTOOL_A_HEADER_DEV_NAME = 2;

/** A link, and whether it has a carrier. */
export interface LinkState {
  readonly name: string;
  readonly carrier: boolean;
}

/** The states of all links for which the driver tells one. */
export async function linkStates(netlink: Pick<Netlink, 'resolveFamily' | 'dump'>): Promise<LinkState[]> {
  // The id of a family is another one after its module was loaded again.
  const { id, version } = await netlink.resolveFamily('ethtool');
  const payload = new AttributeWriter(genericHeader(ETHTOOL_MSG_LINKSTATE_GET, version))
    .nested(ETHTOOL_A_LINKSTATE.header, () => {}) // empty: every link
    .payload();
  const replies = await netlink.dump({ type: id, payload }).toArray();
  return replies.flatMap(readLinkState);
}

function readLinkState({ payload }: NetlinkMessage): LinkState[] {
  let name: string | undefined;
  let carrier: boolean | undefined;
  // Attributes that this program does not know are skipped: newer kernels have more.
  for (const attribute of new AttributeReader(payload, { offset: GENERIC_HEADER_SIZE })) {
    if (attribute.type === ETHTOOL_A_LINKSTATE.link) carrier = attribute.u8() === 1;
    if (attribute.type !== ETHTOOL_A_LINKSTATE.header) continue;
    for (const inner of attribute.nested()) {
      if (inner.type === ETHTOOL_A_HEADER_DEV_NAME) name = inner.text();
    }
  }
  return name === undefined || carrier === undefined ? [] : [{ name, carrier }];
}

async function main(netns?: string): Promise<void> {
  await using netlink = await openNetlink({ protocol: 'generic', netns });
  for (const { name, carrier } of await linkStates(netlink)) console.log(`${name} ${carrier ? 'up' : 'down'}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv[2]);
