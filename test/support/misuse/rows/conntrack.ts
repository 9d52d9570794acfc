// Valid calls of conntrack.
import type {
  Conditions,
  Conntrack,
  FlowChanges,
  FlowFilter,
  FlowId,
  FlowOperation,
  FlowSelection,
  NewFlow,
  TupleFilter,
  TupleName,
} from '../../../../src/kernel/conntrack/types.js';
import { alone, CALL, type Rows } from './row.js';

const TUPLE: TupleName = {
  source: '10.0.0.1',
  destination: '10.0.0.2',
  sourcePort: 1000,
  destinationPort: 80,
};
const ICMP: TupleName = {
  ...{ source: '10.0.0.1', destination: '10.0.0.2' },
  icmp: { type: 8, code: 0, id: 1 },
};
const FLOWS: readonly FlowId[] = [
  { protocol: 'tcp', original: TUPLE, zone: 1, id: 7 },
  { protocol: 1, original: ICMP },
];
const TRANSLATION = { address: '10.1.0.1', lastAddress: '10.1.0.9', port: 1, lastPort: 9 };
const NEW: readonly NewFlow[] = [
  {
    ...{ protocol: 'tcp', original: TUPLE, reply: TUPLE, timeout: 60, zone: 1, replyZone: 1, mark: 1 },
    ...{ status: ['ASSURED'], helper: 'ftp', tcpState: 'ESTABLISHED', labels: [1] },
    ...{ sourceNat: TRANSLATION, destinationNat: TRANSLATION, master: { protocol: 'tcp', original: TUPLE } },
  },
  {
    ...{ protocol: 'sctp', original: TUPLE, timeout: 60 },
    sctp: { state: 'ESTABLISHED', originalTag: 1, replyTag: 2 },
  },
  { protocol: 1, original: ICMP, reply: ICMP, timeout: 5, master: { protocol: 1, original: ICMP } },
];
const CHANGES: readonly (readonly [FlowId, FlowChanges])[] = [
  [
    { protocol: 'tcp', original: TUPLE },
    {
      ...{ timeout: 60, status: ['ASSURED'], helper: 'ftp', tcpState: 'ESTABLISHED' },
      ...{ mark: { value: 1, mask: 1 }, labels: [1] },
    },
  ],
  [
    { protocol: 'sctp', original: TUPLE },
    { sctp: { state: 'ESTABLISHED', originalTag: 1, replyTag: 2 }, addLabels: [1], removeLabels: [2] },
  ],
  ...FLOWS.map((flow) => [flow, { mark: 1 }] as const),
];
const PORTS = { source: '10.0.0.0/8', destination: '10.0.0.2', sourcePort: 1, destinationPort: 2 } as const;
const KIND = { icmp: { type: 8, code: 0, id: 1 } } as const;
const CONDITIONS: Conditions = {
  ...{ mark: { value: 1, mask: 1 }, status: ['ASSURED'], notStatus: ['DYING'], zone: 1 },
  ...{ replyZone: 1, labels: [1] },
};
const SELECTIONS: readonly FlowSelection[] = [
  { family: 4, protocol: 'tcp', original: PORTS, reply: PORTS, ...CONDITIONS },
  { family: 4, protocol: 1, original: KIND as TupleFilter, reply: KIND as TupleFilter, mark: 1 },
];
const WATCH = { ...CALL, gather: 1, keepAlive: false, receiveBuffer: 65_536 } as const;

/** Valid calls of each verb. */
export const CONNTRACK: Rows<Conntrack> = {
  list: [
    [undefined, { ...CALL, partial: true, table: 'conntrack', zeroCounters: true }],
    [SELECTIONS, { ...CALL }],
    ...SELECTIONS.map((selection) => [selection] as const),
  ],
  get: FLOWS.map((flow) => [flow, { zeroCounters: true, ...CALL }]),
  add: NEW.map((flow) => [flow, CALL]),
  update: CHANGES.map(([flow, changes]) => [flow, changes, CALL]),
  delete: SELECTIONS.map((selection) => [selection as FlowFilter, CALL]),
  deleteFlows: FLOWS.map((flow) => [[flow], CALL]),
  apply: alone<FlowOperation>(
    ...NEW.map((flow) => ({ do: 'addFlow', flow }) as const),
    ...CHANGES.map(([flow, changes]) => ({ do: 'updateFlow', flow, changes }) as const),
    ...FLOWS.map((flow) => ({ do: 'deleteFlow', flow }) as const),
  ),
  flush: [[{ confirm: 'delete every flow', ...CALL }]],
  watch: [
    [{ ...WATCH, kinds: ['new'], selection: SELECTIONS }],
    ...SELECTIONS.map((selection) => [{ selection }] as const),
  ],
  statistics: [[CALL]],
  expectations: [[CALL]],
  capabilities: [[CALL]],
};
