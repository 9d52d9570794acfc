// The targets of the project, and their values. Pure.
import { NFTABLES_TARGETS, SCALABLE_TARGETS } from './nftables/targets.js';
import {
  blockOf,
  find,
  inputOf,
  LARGE,
  LARGE_NAME,
  MIDDLE,
  medianWall,
  NOT_NATIVE,
  nativeTime,
  of,
  quotient,
  resident,
  scaling,
  type Value,
  type Which,
} from './targetValues.js';
import type { Figure, ScenarioName, TargetDefinition, TargetInput, TargetResult } from './types.js';

/** All targets, in their order. */
export const TARGETS: readonly TargetDefinition[] = [
  ratio(
    'full-to-raw',
    `full programming, ${LARGE_NAME}: wall ÷ raw batched limit`,
    '≤',
    1.25,
    ['full', 'ours'],
    ['full', 'raw'],
  ),
  ratio(
    'commands-to-full',
    `full programming, ${LARGE_NAME}: one command each ÷ ours`,
    '≥',
    100,
    ['full', 'execFile'],
    ['full', 'ours'],
  ),
  ratio(
    'batch-modes-to-full',
    `full programming, ${LARGE_NAME}: tools' batch modes ÷ ours`,
    '≥',
    2,
    ['full', 'toolBatch'],
    ['full', 'ours'],
  ),
  ratio(
    'single-to-full',
    `full programming, ${LARGE_NAME}: one request each ÷ ours`,
    '≥',
    1.5,
    ['full', 'single'],
    ['full', 'ours'],
  ),
  scaling(
    'endpoint-scaling',
    'one endpoint changed: time at 10 000 ÷ time at 100 Services',
    'endpoint',
    '≤',
    1.2,
    medianWall,
  ),
  {
    id: 'endpoint-messages',
    name: 'one endpoint replaced: kernel messages (one addition, one deletion)',
    relation: '=',
    limit: 2,
    unit: '',
    compute: (measured) =>
      of(
        find(measured, 'endpoint', 'ours', LARGE),
        ({ messages }) => messages ?? 'messages were not counted',
      ),
  },
  {
    id: 'restart-operations',
    name: 'restart on a programmed kernel: operations',
    relation: '=',
    limit: 0,
    unit: '',
    compute: (measured) => of(find(measured, 'restart', 'ours', LARGE), ({ operations }) => operations),
  },
  ratio(
    'restart-to-raw',
    `restart, ${LARGE_NAME}: wall ÷ raw lists of the same state`,
    '≤',
    1.5,
    ['restart', 'ours'],
    ['restart', 'raw'],
  ),
  {
    id: 'node-label',
    name: 'label of the node changed, 10 000 Services, native',
    relation: '≤',
    limit: 50,
    unit: 'ms',
    compute: (measured) => natively(measured, 'nodeLabel', 'nodeLabelInMemory', ({ wall }) => wall.median),
  },
  {
    id: 'first-service',
    name: 'time to the first usable Service ÷ time of the full pass, 10 000 Services',
    relation: '≤',
    limit: 0.1,
    unit: '',
    compute: (measured) =>
      of(find(measured, 'full', 'ours', LARGE), ({ firstService, wall }) =>
        firstService ? firstService.median / wall.median : 'the vital Services were not seen',
      ),
  },
  {
    id: 'event-loop',
    name: 'longest block of the event loop, full programming of 10 000 Services, native',
    relation: '≤',
    limit: 20,
    unit: 'ms',
    compute: (measured) => natively(measured, 'full', 'fullInMemory', blockOf),
  },
  scaling(
    'iptables-endpoint-scaling',
    'iptables mode, one endpoint changed: own time at 10 000 ÷ at 100 Services',
    'iptablesEndpointInMemory',
    '≤',
    1.2,
    medianWall,
  ),
  scaling(
    'iptables-endpoint-input',
    'iptables mode, one endpoint changed: bytes for iptables-restore at 10 000 ÷ at 100 Services',
    'iptablesEndpointInMemory',
    '=',
    1,
    inputOf,
  ),
  {
    id: 'iptables-full',
    name: 'iptables mode, full programming, 1 000 x 10, native',
    relation: '≤',
    limit: 4300,
    unit: 'ms',
    compute: (measured) => nativeTime(measured, 'iptablesFull', MIDDLE, ({ wall }) => wall.median),
  },
  {
    id: 'iptables-full-own',
    name: 'iptables mode, full programming, 1 000 x 10: own time ÷ whole time, native',
    relation: '≤',
    limit: 0.1,
    unit: '',
    compute: (measured) =>
      measured.native
        ? quotient(
            medianWall(measured, 'iptablesFullInMemory', 'ours', MIDDLE),
            medianWall(measured, 'iptablesFull', 'ours', MIDDLE),
          )
        : NOT_NATIVE,
  },
  ...NFTABLES_TARGETS,
  ...SCALABLE_TARGETS,
  resident('resident-1000', 1000, 95),
  resident('resident-5000', 5000, 130),
  {
    id: 'bytes-per-endpoint',
    name: `heap for each endpoint above the idle process, ${LARGE_NAME}, Services included`,
    relation: '≤',
    limit: 400,
    unit: 'B',
    compute: (measured) =>
      of(find(measured, 'fullInMemory', 'ours', LARGE), ({ heap, size }) =>
        heap === undefined ? 'it was not measured' : heap / (size.services * size.endpoints),
      ),
  },
  ratio(
    'library-one',
    'library: one operation ÷ raw round trip',
    '≤',
    2,
    ['oneOperation', 'ours'],
    ['oneOperation', 'rawSingle'],
  ),
  ratio(
    'library-batch',
    'library: batch of 1 000 ÷ raw batch',
    '≤',
    1.2,
    ['batch', 'ours'],
    ['batch', 'raw'],
  ),
];

/** The targets with their values. */
export function targetsOf(measured: TargetInput): TargetResult[] {
  return TARGETS.map(({ id, name, relation, limit, unit, compute }) => {
    const target = `${relation} ${limit}${unit && ` ${unit}`}`;
    const value = compute(measured);
    if (typeof value === 'string') return { id, name, target, reason: value };
    return { id, name, target, value, met: holds(value, relation, limit) };
  });
}

function holds(value: number, relation: TargetDefinition['relation'], limit: number): boolean {
  if (relation === '=') return value === limit;
  return relation === '≤' ? value <= limit : value >= limit;
}

/** The quotient of two medians; scenarios without a size are compared at any. */
function ratio(
  id: string,
  name: string,
  relation: '≤' | '≥',
  limit: number,
  [scenario, method]: Which,
  [other, otherMethod]: Which,
): TargetDefinition {
  const compute = (measured: TargetInput): Value =>
    quotient(medianWall(measured, scenario, method, LARGE), medianWall(measured, other, otherMethod, LARGE));
  return { id, name, relation, limit, unit: '', compute };
}

/** A figure of a kernel that is not virtual: with IPVS, or else with the kernel in memory. */
function natively(
  measured: TargetInput,
  scenario: ScenarioName,
  inMemory: ScenarioName,
  read: (figure: Figure) => Value,
): Value {
  if (!measured.native) return NOT_NATIVE;
  const found = find(measured, scenario, 'ours', LARGE);
  return of(typeof found === 'string' ? find(measured, inMemory, 'ours', LARGE) : found, read);
}
