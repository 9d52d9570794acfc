// The targets of nftables mode, in both layouts. Costs are CPU times, in which the kernel's work is: it is done in the call that sends a
// transaction. Times with a limit are wall-clock times. Pure.
import {
  blockOf,
  find,
  HUGE,
  HUGE_NAME,
  LARGE,
  LARGE_NAME,
  medianCpu,
  nativeTime,
  of,
  quotient,
  resident,
  scaling,
  type Which,
} from '../targetValues.js';
import type { Figure, ScenarioName, TargetDefinition } from '../types.js';

const FULL: Which = ['nftablesFull', 'ours'];
const ENDPOINT: Which = ['nftablesEndpoint', 'ours'];

/** Those with the layout of kube-proxy. */
export const NFTABLES_TARGETS: readonly TargetDefinition[] = [
  cost('nftables-full-to-raw', `full programming, ${LARGE_NAME}: CPU ÷ raw limit`, 1.5, FULL, [
    'nftablesFull',
    'raw',
  ]),
  cost('nftables-full-to-nft', `full programming, ${LARGE_NAME}: CPU ÷ nft -f`, 0.25, FULL, [
    'nftablesFull',
    'toolBatch',
  ]),
  cost('nftables-endpoint-to-raw', `one endpoint changed, ${LARGE_NAME}: CPU ÷ raw limit`, 1.3, ENDPOINT, [
    'nftablesEndpoint',
    'raw',
  ]),
  cost(
    'nftables-endpoint-to-raw-44125',
    `one endpoint changed, ${HUGE_NAME}: CPU ÷ raw limit`,
    1.3,
    ENDPOINT,
    ['nftablesEndpoint', 'raw'],
    HUGE,
  ),
  cost(
    'nftables-service-to-nft',
    `one Service added, ${LARGE_NAME}: CPU ÷ nft -f`,
    0.125,
    ['nftablesService', 'ours'],
    ['nftablesService', 'toolBatch'],
  ),
  cost(
    'nftables-endpoints-to-one',
    `1 000 endpoints changed at once, ${LARGE_NAME}: CPU ÷ one`,
    60,
    ['nftablesEndpoints', 'ours'],
    ENDPOINT,
  ),
  longest(
    'nftables-event-loop',
    'nftables mode, longest block of the event loop, full programming of 10 000 Services, native',
    'nftablesFull',
    LARGE,
  ),
  longest(
    'nftables-event-loop-44125',
    'nftables mode, longest block of the event loop, full programming of 44 125 Services, native',
    'nftablesFull',
    HUGE,
  ),
  resident('nftables-resident-5000', 5000, 130, 'nftables'),
  resident('nftables-resident-44125', HUGE, 400, 'nftables'),
];

/** Those with layout `scalable`. */
export const SCALABLE_TARGETS: readonly TargetDefinition[] = [
  time('scalable-full', `full programming, ${HUGE_NAME}, native`, 3000, 'scalableFull'),
  {
    id: 'scalable-full-kernel',
    name: `nftables mode, layout scalable, full programming, ${HUGE_NAME}: system CPU time ÷ CPU of the raw limit`,
    relation: '≤',
    limit: 1.5,
    unit: '',
    compute: (measured) =>
      quotient(
        of(find(measured, 'scalableFull', 'ours', HUGE), ({ cpuTime }) => cpuTime.system),
        medianCpu(measured, 'scalableFull', 'raw', HUGE),
      ),
  },
  scaling(
    'scalable-endpoint-scaling',
    'nftables mode, layout scalable, one endpoint changed: CPU at 44 125 ÷ at 100 Services',
    'scalableEndpoint',
    '≤',
    1.5,
    medianCpu,
    HUGE,
  ),
  time('scalable-endpoint', `one endpoint changed, ${HUGE_NAME}, native`, 2, 'scalableEndpoint'),
  {
    id: 'scalable-restart-operations',
    name: `nftables mode, layout scalable, restart on a programmed kernel, ${HUGE_NAME}: operations`,
    relation: '=',
    limit: 0,
    unit: '',
    compute: (measured) =>
      of(find(measured, 'scalableRestart', 'ours', HUGE), ({ operations }) => operations),
  },
  time('scalable-restart', `restart on a programmed kernel, ${HUGE_NAME}, native`, 4000, 'scalableRestart'),
  longest(
    'scalable-event-loop',
    'nftables mode, layout scalable, longest block of the event loop, full programming of 44 125 Services, native',
    'scalableFull',
    HUGE,
  ),
  resident('scalable-resident-5000', 5000, 130, 'scalable'),
  resident('scalable-resident-44125', HUGE, 400, 'scalable'),
];

/** The quotient of the CPU times of two figures of one size. */
function cost(
  id: string,
  name: string,
  limit: number,
  one: Which,
  other: Which,
  services = LARGE,
): TargetDefinition {
  return {
    id,
    name: `nftables mode, ${name}`,
    relation: '≤',
    limit,
    unit: '',
    compute: (measured) =>
      quotient(medianCpu(measured, ...one, services), medianCpu(measured, ...other, services)),
  };
}

/** A time with layout `scalable`. @param limit in ms */
function time(id: string, name: string, limit: number, scenario: ScenarioName): TargetDefinition {
  const read = ({ wall }: Figure) => wall.median;
  return {
    id,
    name: `nftables mode, layout scalable, ${name}`,
    relation: '≤',
    limit,
    unit: 'ms',
    compute: (measured) => nativeTime(measured, scenario, HUGE, read),
  };
}

/** The longest block of the event loop. */
function longest(id: string, name: string, scenario: ScenarioName, services: number): TargetDefinition {
  return {
    id,
    name,
    relation: '≤',
    limit: 20,
    unit: 'ms',
    compute: (measured) => nativeTime(measured, scenario, services, blockOf),
  };
}
