// The targets of the project, and their values. Pure.
import { SIZELESS } from './scenarios.js';
import type {
  Figure,
  MemoryFigure,
  MethodName,
  ModeName,
  ScenarioName,
  TargetDefinition,
  TargetInput,
  TargetResult,
} from './types.js';

/** Sizes of which targets speak. */
const LARGE = 10_000;
const MIDDLE = 1000;
const SMALL = 100;

const NOT_NATIVE = 'times in User Mode Linux and QEMU do not count';

const LARGE_NAME = '10 000 x 10';

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
    compute: (measured) =>
      natively(measured, 'full', 'fullInMemory', ({ longestBlock }) => longestBlock ?? 'it was not measured'),
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
    compute: (measured) =>
      measured.native ? medianWall(measured, 'iptablesFull', 'ours', MIDDLE) : NOT_NATIVE,
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
  ...nftablesTargets(),
  resident('resident-1000', 1000, 80),
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

type Which = readonly [scenario: ScenarioName, method: MethodName];
type Value = number | string;

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

/** The quotient of one of our figures at 10 000 Services and at 100. */
function scaling(
  id: string,
  name: string,
  scenario: ScenarioName,
  relation: '≤' | '=',
  limit: number,
  figureOf: typeof medianWall,
): TargetDefinition {
  const compute = (measured: TargetInput): Value =>
    quotient(figureOf(measured, scenario, 'ours', LARGE), figureOf(measured, scenario, 'ours', SMALL));
  return { id, name, relation, limit, unit: '', compute };
}

/**
 * Those of nftables mode, with the layout of kube-proxy. Costs are CPU times, in which the kernel's work is: it is done in the call that
 * sends a transaction. A mode with another layout has scenarios of its own, and targets beside these.
 */
function nftablesTargets(): TargetDefinition[] {
  const cost = (id: string, name: string, limit: number, one: Which, other: Which): TargetDefinition => ({
    id,
    name: `nftables mode, ${name}`,
    relation: '≤',
    limit,
    unit: '',
    compute: (measured) => quotient(medianCpu(measured, ...one, LARGE), medianCpu(measured, ...other, LARGE)),
  });
  const full: Which = ['nftablesFull', 'ours'];
  const endpoint: Which = ['nftablesEndpoint', 'ours'];
  return [
    cost('nftables-full-to-raw', `full programming, ${LARGE_NAME}: CPU ÷ raw limit`, 1.5, full, [
      'nftablesFull',
      'raw',
    ]),
    cost('nftables-full-to-nft', `full programming, ${LARGE_NAME}: CPU ÷ nft -f`, 0.25, full, [
      'nftablesFull',
      'toolBatch',
    ]),
    cost('nftables-endpoint-to-raw', `one endpoint changed, ${LARGE_NAME}: CPU ÷ raw limit`, 1.3, endpoint, [
      'nftablesEndpoint',
      'raw',
    ]),
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
      endpoint,
    ),
    {
      id: 'nftables-event-loop',
      name: 'nftables mode, longest block of the event loop, full programming of 10 000 Services, native',
      relation: '≤',
      limit: 20,
      unit: 'ms',
      compute: (measured) =>
        measured.native
          ? of(find(measured, ...full, LARGE), ({ longestBlock }) => longestBlock ?? 'it was not measured')
          : NOT_NATIVE,
    },
    resident('nftables-resident-5000', 5000, 130, 'nftables'),
  ];
}

function resident(id: string, services: number, limit: number, mode: ModeName = 'ipvs'): TargetDefinition {
  return {
    id,
    name: `${mode === 'ipvs' ? '' : `${mode} mode, `}resident memory, ${services === 1000 ? '1 000' : '5 000'} x 10`,
    relation: '≤',
    limit,
    unit: 'MB',
    compute: (measured) => of(memoryOf(measured, services, mode), ({ resident: bytes }) => bytes / 1e6),
  };
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

function quotient(dividend: Value, divisor: Value): Value {
  if (typeof dividend === 'string') return dividend;
  return typeof divisor === 'string' ? divisor : dividend / divisor;
}

function medianWall(
  measured: TargetInput,
  scenario: ScenarioName,
  method: MethodName,
  services: number,
): Value {
  return of(find(measured, scenario, method, services), ({ wall }) => wall.median);
}

function medianCpu(
  measured: TargetInput,
  scenario: ScenarioName,
  method: MethodName,
  services: number,
): Value {
  return of(find(measured, scenario, method, services), ({ cpu }) => cpu.median);
}

function inputOf(measured: TargetInput, scenario: ScenarioName, method: MethodName, services: number): Value {
  return of(find(measured, scenario, method, services), ({ input }) => input ?? 'it was not measured');
}

function of<T>(found: T | string, read: (found: T) => Value): Value {
  return typeof found === 'string' ? found : read(found);
}

function find(
  measured: TargetInput,
  scenario: ScenarioName,
  method: MethodName,
  services: number,
): Figure | string {
  const found = measured.figures.find(
    (figure) =>
      figure.scenario === scenario &&
      figure.method === method &&
      (SIZELESS.has(scenario) || (figure.size.services === services && figure.size.endpoints === 10)),
  );
  if (found) return found;
  const reason = measured.unavailable.find(
    (one) => one.scenario === scenario && (one.method === undefined || one.method === method),
  );
  return reason?.reason ?? `${scenario} by ${method} was not measured at ${services} x 10`;
}

function memoryOf(
  { memory, unavailable }: TargetInput,
  services: number,
  wanted: ModeName,
): MemoryFigure | string {
  const found = memory.find(
    ({ size, mode = 'ipvs' }) => mode === wanted && size.services === services && size.endpoints === 10,
  );
  const name = wanted === 'ipvs' ? 'memory' : `${wanted}Memory`;
  const reason = unavailable.find(({ scenario }) => scenario === name)?.reason;
  return found ?? reason ?? `the memory was not measured at ${services} x 10`;
}
