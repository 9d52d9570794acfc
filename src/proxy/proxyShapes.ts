// The checks of the parts of a proxy.

import { ADDRESS } from '../kernel/net/shapes.js';
import {
  ANY_TEXT,
  FLAG,
  FUNCTION,
  integer,
  listOf,
  MILLISECONDS,
  mapOf,
  methods,
  number,
  oneOf,
  optional,
  partOf,
  ruled,
  type Shape,
  TEXT,
} from '../kernel/shapes.js';
import { RANGE_RULE, rangeOf } from './input/addressRanges.js';
import { SETTING_NAMES } from './input/settingNames.js';
import type { KeyedOperation, Mode } from './modes/mode.js';

const RANGES = optional(listOf(ruled('string', RANGE_RULE, (text: string) => rangeOf(text) !== undefined)));

const MODE = partOf({
  name: TEXT,
  auditPeriod: MILLISECONDS,
  host: partOf({
    facts: FUNCTION,
    uses: FUNCTION,
    servesOnAll: optional(FUNCTION),
    usesLink: optional(FUNCTION),
    podNetworks: optional(FLAG),
  }),
  items: partOf({
    isOurs: FUNCTION,
    isUsed: optional(FUNCTION),
    groups: optional(methods('of', 'affectsNode')),
    keep: partOf({
      found: FUNCTION,
      beyond: FUNCTION,
      join: FUNCTION,
      inFormOf: optional(FUNCTION),
      behind: optional(FUNCTION),
      contradicts: optional(FUNCTION),
    }),
  }),
  transactions: optional(methods('dependsOn', 'refusedBy')),
  sharedEndpoints: optional(methods('formOf')),
  pieces: optional(partOf({ largest: integer(1, 0x7fff_ffff), ahead: FLAG })),
  planService: FUNCTION,
  planNode: FUNCTION,
  compare: FUNCTION,
  acknowledged: optional(FUNCTION),
  describe: FUNCTION,
  apply: FUNCTION,
  observe: FUNCTION,
  mark: optional(FUNCTION),
  prepare: optional(FUNCTION),
  observeAlone: FUNCTION,
  upkeep: optional(partOf({ ownConnections: FLAG, due: FUNCTION })),
  watch: optional(FUNCTION),
} satisfies Shape<Mode<unknown, KeyedOperation>>);

const EVENTS = partOf({
  changed: optional(FUNCTION),
  queued: optional(FUNCTION),
  taken: optional(FUNCTION),
  planned: optional(FUNCTION),
  refused: optional(FUNCTION),
  synced: FUNCTION,
  incomplete: optional(FUNCTION),
  problems: FUNCTION,
  mended: optional(FUNCTION),
  reachChanged: optional(FUNCTION),
  reachJudged: optional(FUNCTION),
  reachFailed: optional(FUNCTION),
  failed: FUNCTION,
  retrying: FUNCTION,
  kept: optional(FUNCTION),
  switched: optional(FUNCTION),
  unswitched: optional(FUNCTION),
});

/** The checks of the parts of a proxy, by their names. */
export const PARTS = {
  source: methods('start', 'stop'),
  mode: MODE,
  formerModes: optional(listOf(partOf({ name: TEXT, open: FUNCTION }))),
  drainBound: optional(number(0, Number.MAX_SAFE_INTEGER)),
  rtnetlink: methods('listAddresses', 'listLinks'),
  conntrack: optional(methods('list', 'deleteFlows')),
  watchHost: FUNCTION,
  watchNodes: optional(FUNCTION),
  nodeName: TEXT,
  bindAddress: optional(ADDRESS),
  externalIPs: optional(FLAG),
  addressRanges: optional(partOf({ externalIPs: RANGES, loadBalancerIPs: RANGES })),
  settingRules: optional(mapOf(oneOf(...SETTING_NAMES), optional(ANY_TEXT))),
  rest: optional(MILLISECONDS),
  restFactor: optional(number(0, Number.MAX_SAFE_INTEGER)),
  events: EVENTS,
};
