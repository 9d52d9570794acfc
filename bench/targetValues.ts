// What targets are computed from: figures by scenario, method and size. Pure.
import { LIVES, SIZELESS } from './scenarios.js';
import type {
  Figure,
  LifeName,
  MemoryFigure,
  MethodName,
  ScenarioName,
  TargetDefinition,
  TargetInput,
} from './types.js';

/** Sizes of which targets speak, each with 10 endpoints of each Service. */
export const HUGE = 44_125;
export const LARGE = 10_000;
export const MIDDLE = 1000;
export const SMALL = 100;

/** How the sizes are written in names. */
export const HUGE_NAME = '44 125 x 10';
export const LARGE_NAME = '10 000 x 10';

/** Why an absolute time has no value. */
export const NOT_NATIVE = 'times in User Mode Linux and QEMU do not count';

/** The figure of a scenario by a method. */
export type Which = readonly [scenario: ScenarioName, method: MethodName];
/** A value, or the reason why it was not measured. */
export type Value = number | string;

/** An absolute time of a figure by this project, in ms. */
export function nativeTime(
  measured: TargetInput,
  scenario: ScenarioName,
  services: number,
  read: (figure: Figure) => Value,
): Value {
  return measured.native ? of(find(measured, scenario, 'ours', services), read) : NOT_NATIVE;
}

/** The longest block of the event loop, in ms. */
export function blockOf({ longestBlock }: Figure): Value {
  return longestBlock ?? 'it was not measured';
}

/** The quotient of one of our figures at a large number of Services, by default 10 000, and at 100. */
export function scaling(
  id: string,
  name: string,
  scenario: ScenarioName,
  relation: '≤' | '=',
  limit: number,
  figureOf: typeof medianWall,
  large = LARGE,
): TargetDefinition {
  const compute = (measured: TargetInput): Value =>
    quotient(figureOf(measured, scenario, 'ours', large), figureOf(measured, scenario, 'ours', SMALL));
  return { id, name, relation, limit, unit: '', compute };
}

/** The lives whose memory has targets, as names begin. */
const BEGINNINGS = { ipvs: '', nftables: 'nftables mode, ', scalable: 'nftables mode, layout scalable, ' };

/** The resident memory of the agent. @param limit in MB */
export function resident(
  id: string,
  services: number,
  limit: number,
  life: keyof typeof BEGINNINGS = 'ipvs',
): TargetDefinition {
  return {
    id,
    name: `${BEGINNINGS[life]}resident memory, ${`${services}`.replace(/(?=\d{3}$)/, ' ')} x 10`,
    relation: '≤',
    limit,
    unit: 'MB',
    compute: (measured) => of(memoryOf(measured, services, life), ({ resident: bytes }) => bytes / 1e6),
  };
}

/** The quotient of two values. */
export function quotient(dividend: Value, divisor: Value): Value {
  if (typeof dividend === 'string') return dividend;
  return typeof divisor === 'string' ? divisor : dividend / divisor;
}

/** In ms. */
export function medianWall(
  measured: TargetInput,
  scenario: ScenarioName,
  method: MethodName,
  services: number,
): Value {
  return of(find(measured, scenario, method, services), ({ wall }) => wall.median);
}

/** In ms, of user, system and children. */
export function medianCpu(
  measured: TargetInput,
  scenario: ScenarioName,
  method: MethodName,
  services: number,
): Value {
  return of(find(measured, scenario, method, services), ({ cpu }) => cpu.median);
}

/** In bytes, for iptables-restore. */
export function inputOf(
  measured: TargetInput,
  scenario: ScenarioName,
  method: MethodName,
  services: number,
): Value {
  return of(find(measured, scenario, method, services), ({ input }) => input ?? 'it was not measured');
}

/** What is read of a figure that was found. */
export function of<T>(found: T | string, read: (found: T) => Value): Value {
  return typeof found === 'string' ? found : read(found);
}

/** The figure, or the reason why there is none. */
export function find(
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
  life: LifeName,
): MemoryFigure | string {
  const { mode, layout, memory: scenario } = LIVES[life];
  const found = memory.find(
    ({ size, mode: found = 'ipvs', layout: itsLayout }) =>
      found === mode && itsLayout === layout && size.services === services && size.endpoints === 10,
  );
  const reason = unavailable.find((one) => one.scenario === scenario)?.reason;
  return found ?? reason ?? `the memory was not measured at ${services} x 10`;
}
