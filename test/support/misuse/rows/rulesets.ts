// Valid rulesets for the text of nft, which together have every field of their types.
import type { Expression } from '../../../../src/kernel/nftables/index.js';
import type { Ruleset } from '../../../../src/kernel/nftables/text/index.js';
import { EXPRESSIONS } from '../../nftables/everything.js';
import {
  DATA_RANGE,
  DATA_RANGES,
  FLOW_TABLE,
  NEW_CHAINS,
  NEW_ELEMENTS,
  NEW_SETS,
  NEW_TABLE,
  OBJECTS,
  OF_OBJECT,
  OF_OBJECTS,
  PAIR,
  PAIRS,
  RULES,
  VERDICT,
  VERDICTS,
} from './nftables.js';

/** Names of links. */
export const LINKS = new Map([[1, 'lo']]);

const HANDLE = { handle: 5n } as const;
const UNREAD = { attributes: [{ type: 99, value: Uint8Array.of(1) }], userData: Uint8Array.of(1) };
const EMPTY: Ruleset = { tables: [], chains: [], rules: [], sets: [], objects: [] };
const UNKNOWN: Expression = { kind: 'unknown', name: 'xt', data: Uint8Array.of(1) };
const LISTED = {
  keyLength: 8,
  dataLength: 8,
  count: 1,
  backend: 'hash',
  anonymous: true,
  ...HANDLE,
} as const;
const [FULL, SIMPLE] = NEW_SETS;

/** One for each kind of object. */
export const RULESETS: readonly Ruleset[] = [
  { ...EMPTY, tables: [{ ...NEW_TABLE, ...HANDLE, use: 1, owner: 7, ...UNREAD }], links: LINKS },
  { ...EMPTY, chains: NEW_CHAINS.map((chain) => ({ ...chain, ...HANDLE, use: 1, flags: 2, ...UNREAD })) },
  ...RULES.map((rule): Ruleset => ({ ...EMPTY, rules: [{ ...rule, ...HANDLE, after: 4n, ...UNREAD }] })),
  { ...EMPTY, rules: [{ family: 'ip', table: 't', chain: 'c', expressions: [UNKNOWN], ...HANDLE }] },
  {
    ...EMPTY,
    sets: [
      {
        set: { flags: [], ...(FULL as NonNullable<typeof FULL>), ...LISTED, ...UNREAD },
        elements: NEW_ELEMENTS,
      },
      { set: { flags: [], ...(SIMPLE as NonNullable<typeof SIMPLE>), ...LISTED }, elements: [] },
      { set: { ...VERDICTS, flags: [], keyLength: 4, ...HANDLE }, elements: [VERDICT] },
      { set: { ...DATA_RANGES, keyLength: 4, dataLength: 8, ...HANDLE }, elements: [DATA_RANGE] },
      { set: { ...OF_OBJECTS, flags: [], keyLength: 4, ...HANDLE }, elements: [OF_OBJECT] },
      { set: { ...PAIRS, keyLength: 8, ...HANDLE }, elements: [{ ...PAIR, ...UNREAD }] },
      {
        set: { family: 'ip', table: 't', name: 'u', key: 63, data: 62, flags: [], keyLength: 4, ...HANDLE },
        elements: [{ key: Uint8Array.of(1), data: Uint8Array.of(1) }],
      },
    ],
  },
  ...EXPRESSIONS.map(
    (expression): Ruleset => ({
      ...EMPTY,
      sets: [
        {
          set: { ...VERDICTS, flags: [], keyLength: 4, ...HANDLE },
          elements: [{ ...VERDICT, expressions: [expression] }],
        },
      ],
    }),
  ),
  { ...EMPTY, objects: OBJECTS.map((object) => ({ ...object, ...HANDLE, use: 1, ...UNREAD })) },
  { ...EMPTY, flowTables: [{ ...FLOW_TABLE, ...HANDLE, use: 1, ...UNREAD }] },
  { ...EMPTY, objects: [{ family: 'ip', table: 't', name: 'o', type: 99, ...HANDLE, use: 1 }] },
];
