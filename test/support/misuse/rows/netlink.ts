// Valid calls of netlink.
import type { Netlink, NetlinkRequest } from '../../../../src/kernel/netlink/types.js';
import { CALL, type Rows } from './row.js';

const MESSAGE: NetlinkRequest = { type: 16, flags: 4, payload: Uint8Array.of(1, 0, 0, 0) };

/** Valid calls of each verb. */
export const NETLINK: Rows<Netlink> = {
  resolveFamily: [['nlctrl', CALL]],
  send: [[[MESSAGE], CALL]],
  query: [[MESSAGE, CALL]],
  dump: [[MESSAGE, CALL]],
  watch: [[[1], { ...CALL, gather: 1, keepAlive: false, receiveBuffer: 65_536 }]],
};
