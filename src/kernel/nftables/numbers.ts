// Numbers of messages and attributes: include/uapi/linux/netfilter/nf_tables.h. Those of expressions are in expressions/.
import type { BaseChain, FlowTableFlag, Hook, SetFlag, TableFlag } from './types.js';

/** `NFNL_SUBSYS_NFTABLES`, in the upper byte of the type of a message. */
export const SUBSYSTEM = 10;

/** `enum nf_tables_msg_types` */
export const MESSAGE = {
  newTable: 0,
  getTable: 1,
  deleteTable: 2,
  newChain: 3,
  getChain: 4,
  deleteChain: 5,
  newRule: 6,
  getRule: 7,
  deleteRule: 8,
  newSet: 9,
  getSet: 10,
  deleteSet: 11,
  newElements: 12,
  getElements: 13,
  deleteElements: 14,
  newGeneration: 15,
  getGeneration: 16,
  newObject: 18,
  getObject: 19,
  deleteObject: 20,
  newFlowTable: 22,
  getFlowTable: 23,
  deleteFlowTable: 24,
  destroyTable: 26,
  destroyChain: 27,
  destroyRule: 28,
  destroySet: 29,
  destroyElements: 30,
  destroyObject: 31,
  destroyFlowTable: 32,
} as const;

/** Flags of messages (`NLM_F_`). */
export const NLM_F = {
  request: 1,
  replace: 0x100,
  exclusive: 0x200,
  create: 0x400,
  append: 0x800,
} as const;

/** `NLA_F_NESTED` */
export const NESTED = 0x8000;

/** Bytes of `struct nfgenmsg`: family, version, resource. */
export const NFGEN_HEADER = 4;

/** `NFTA_TABLE_` */
export const TABLE = { name: 1, flags: 2, use: 3, handle: 4, pad: 5, userData: 6, owner: 7 } as const;
/** `NFTA_CHAIN_` */
export const CHAIN = {
  table: 1,
  handle: 2,
  name: 3,
  hook: 4,
  policy: 5,
  use: 6,
  type: 7,
  pad: 9,
  flags: 10,
  id: 11,
  userData: 12,
} as const;
/** `NFTA_HOOK_` */
export const HOOK = { number: 1, priority: 2, device: 3, devices: 4 } as const;
/** `NFTA_DEVICE_NAME`, `NFTA_DEVICE_PREFIX` */
export const DEVICE = { name: 1, prefix: 2 } as const;
/** `NFTA_RULE_` */
export const RULE = {
  table: 1,
  chain: 2,
  handle: 3,
  expressions: 4,
  position: 6,
  userData: 7,
  pad: 8,
  id: 9,
} as const;
/** `NFTA_SET_` */
export const SET = {
  table: 1,
  name: 2,
  flags: 3,
  keyType: 4,
  keyLength: 5,
  dataType: 6,
  dataLength: 7,
  description: 9,
  id: 10,
  policy: 8,
  timeout: 11,
  gcInterval: 12,
  userData: 13,
  pad: 14,
  objectType: 15,
  handle: 16,
  expression: 17,
  expressions: 18,
  type: 19,
  count: 20,
} as const;
/** `NFTA_SET_DESC_`, `NFTA_SET_FIELD_LEN` */
export const DESCRIPTION = { size: 1, concatenation: 2, fieldLength: 1 } as const;
/** `NFTA_SET_ELEM_LIST_` */
export const ELEMENTS = { table: 1, set: 2, list: 3, setId: 4 } as const;
/** `NFTA_SET_ELEM_` */
export const ELEMENT = {
  key: 1,
  data: 2,
  flags: 3,
  timeout: 4,
  expires: 5,
  userData: 6,
  expression: 7,
  pad: 8,
  object: 9,
  keyEnd: 10,
  expressions: 11,
} as const;
/** `NFT_SET_ELEM_INTERVAL_END` */
export const INTERVAL_END = 1;
/** `NFT_SET_ELEM_CATCHALL` */
export const CATCH_ALL = 2;
/** `NFTA_LIST_ELEM` */
export const LIST_ELEMENT = 1;
/** `NFTA_EXPR_` */
export const EXPRESSION = { name: 1, data: 2 } as const;
/** `NFTA_DATA_` */
export const DATA = { value: 1, verdict: 2 } as const;
/** `NFTA_VERDICT_` */
export const VERDICT = { code: 1, chain: 2 } as const;
/** `NFTA_OBJ_` */
export const OBJECT = {
  table: 1,
  name: 2,
  type: 3,
  data: 4,
  use: 5,
  handle: 6,
  pad: 7,
  userData: 8,
} as const;
/** `NFTA_FLOWTABLE_`, and `NFTA_FLOWTABLE_HOOK_` in its hook. */
export const FLOW_TABLE = { table: 1, name: 2, hook: 3, use: 4, handle: 5, pad: 6, flags: 7 } as const;
export const FLOW_TABLE_HOOK = { number: 1, priority: 2, devices: 3 } as const;
/** `NFT_FLOWTABLE_` */
export const FLOW_TABLE_FLAGS: Readonly<Record<Exclude<FlowTableFlag, number>, number>> = {
  offload: 1,
  counter: 2,
};
/** `NFTA_GEN_` */
export const GENERATION = { id: 1, pid: 2, program: 3 } as const;

/** `NFPROTO_` */
export const FAMILIES = { inet: 1, ip: 2, arp: 3, netdev: 5, bridge: 7, ip6: 10 } as const;

/** `NFT_TABLE_F_` */
export const TABLE_FLAGS: Readonly<Record<Exclude<TableFlag, number>, number>> = {
  dormant: 1,
  owner: 2,
  persist: 4,
};

/** `NFT_CHAIN_BASE` */
export const CHAIN_IS_BASE = 1;

/** `NFT_SET_` */
export const SET_FLAGS: Readonly<Record<Exclude<SetFlag, number>, number>> = {
  constant: 2,
  interval: 4,
  timeout: 0x10,
  dynamic: 0x20,
};
/** Flags of sets that follow from other fields. */
export const DERIVED_SET_FLAGS = {
  anonymous: 1,
  map: 8,
  object: 0x40,
  concatenation: 0x80,
  expressions: 0x100,
} as const;
/** `NFT_SET_POL_` */
export const SET_POLICIES = { performance: 0, memory: 1 } as const;

/** Numbers of the hooks of a family. */
type Hooks = Readonly<Partial<Record<Exclude<Hook, number>, number>>>;

/** `enum nf_inet_hooks`, `NF_BR_`; `NF_INET_INGRESS`. */
const HOOKS: Hooks = {
  prerouting: 0,
  input: 1,
  forward: 2,
  output: 3,
  postrouting: 4,
  ingress: 5,
};
/** `enum nf_dev_hooks` */
const DEVICE_HOOKS: Hooks = { ingress: 0, egress: 1 };
/** `NF_ARP_` */
const ARP_HOOKS: Hooks = { input: 0, output: 1, forward: 2 };

/** The hooks of the family with this number. */
export function hooksOf(family: number): Hooks {
  if (family === FAMILIES.netdev) return DEVICE_HOOKS;
  return family === FAMILIES.arp ? ARP_HOOKS : HOOKS;
}

/** `NF_DROP`, `NF_ACCEPT` */
export const POLICIES: Readonly<Record<NonNullable<BaseChain['policy']>, number>> = { drop: 0, accept: 1 };

/** `NFT_OBJECT_` */
export const OBJECT_TYPES = {
  counter: 1,
  quota: 2,
  'ct helper': 3,
  limit: 4,
  'ct timeout': 7,
  secmark: 8,
  'ct expectation': 9,
  synproxy: 10,
} as const;
