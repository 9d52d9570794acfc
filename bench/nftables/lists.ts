// The raw limit of reading: lists what nftables mode reads at its start, and nothing of it is decoded.

import {
  chainsRequest,
  elementsRequest,
  rulesRequest,
  setsRequest,
  tablesRequest,
} from '../../src/kernel/nftables/requests.js';
import { HOST_IS_LITTLE } from '../../src/kernel/shared/wire/messages.js';
import { CONTAINERS, SLOT_MAPS } from '../../src/proxy/modes/nftables/plan/containers.js';
import { TABLE } from '../../src/proxy/modes/nftables/plan/names.js';
import { loadBenchAddon } from '../addon.js';
import { costOf, sumOf } from '../cost.js';
import type { Run } from '../methods.js';
import type { Life } from '../scenarios.js';

const NETLINK_NETFILTER = 12;
const NLM_F_REQUEST = 1;
/** Place of `nlmsg_flags` in a message. */
const FLAGS_AT = 6;
/** Bytes offered for a piece of a listing: the kernel fills as much. */
const DATAGRAM = 32 * 1024;

/** The client of the library sets this flag when it sends a message. */
function asked(request: Uint8Array): Uint8Array {
  const view = new DataView(request.buffer, request.byteOffset, request.length);
  view.setUint16(FLAGS_AT, view.getUint16(FLAGS_AT, HOST_IS_LITTLE) | NLM_F_REQUEST, HOST_IS_LITTLE);
  return request;
}

/** Lists the table of IPv4 with its chains, sets, rules and the elements of shared sets and maps. */
export function prepareLists(layout: Life['layout']): Run {
  const where = { family: 'ip', table: TABLE } as const;
  // The map of node ports on loopback addresses is only there with a feature gate.
  const containers = Object.values(CONTAINERS[4]).filter(
    ({ name }) => name !== 'localhost-nodeport-reject-ports',
  );
  const { addresses, nodePorts } = SLOT_MAPS[4];
  const shared = [...containers, ...(layout ? [...addresses, nodePorts] : [])];
  const requests = [
    tablesRequest({ family: 'ip' }),
    setsRequest(where),
    chainsRequest(where),
    rulesRequest(where),
    ...shared.map((set) => elementsRequest({ ...where, ...set, family: 'ip' })),
  ];
  const lists = requests.map(
    (request) => new (loadBenchAddon().PreparedMessages)(NETLINK_NETFILTER, asked(request), 1, DATAGRAM),
  );
  return async () => sumOf(lists.map((list) => costOf(list.send())));
}
