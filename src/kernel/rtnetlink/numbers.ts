// Numbers that several kinds of objects share: include/uapi/linux/rtnetlink.h, netlink.h.
import type { Family } from '../net/address.js';
import type { Numbers } from './fields.js';
import type { RouteScope } from './types.js';

/** Types of messages. */
export const RTM = {
  newLink: 16,
  deleteLink: 17,
  getLink: 18,
  setLink: 19,
  newAddress: 20,
  deleteAddress: 21,
  getAddress: 22,
  newRoute: 24,
  deleteRoute: 25,
  getRoute: 26,
  newNeighbour: 28,
  deleteNeighbour: 29,
  getNeighbour: 30,
  newRule: 32,
  deleteRule: 33,
  getRule: 34,
  newNamespaceId: 88,
  getNamespaceId: 90,
  getStatistics: 94,
  newNextHop: 104,
  deleteNextHop: 105,
  getNextHop: 106,
  newLinkProperty: 108,
  deleteLinkProperty: 109,
} as const;

/** Flags of messages. */
export const NLM_F = {
  acknowledge: 0x4,
  dump: 0x300,
  replace: 0x100,
  exclusive: 0x200,
  create: 0x400,
  append: 0x800,
} as const;

/** Beside the type of an attribute that has others within: the kernel refuses some of them without it. */
export const NLA_F_NESTED = 0x8000;

/** How an object is written, as the verbs of `ip` do it. */
export const WRITE_FLAGS = {
  add: NLM_F.create | NLM_F.exclusive,
  change: NLM_F.replace,
  replace: NLM_F.create | NLM_F.replace,
  append: NLM_F.create | NLM_F.append,
  delete: 0,
} as const;

/** Address families. */
export const AF: Readonly<Record<Family, number>> = { 4: 2, 6: 10 };

/** The family of an address family number (AF_INET, AF_INET6); undefined for every other number. */
export function familyOfNumber(number: number): Family | undefined {
  if (number === AF[4]) return 4;
  return number === AF[6] ? 6 : undefined;
}

/** Scopes of addresses and routes (RT_SCOPE_). */
export const SCOPES: Numbers<Extract<RouteScope, string>> = {
  global: 0,
  site: 200,
  link: 253,
  host: 254,
  nowhere: 255,
};
