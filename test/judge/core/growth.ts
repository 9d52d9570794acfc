// Whether a proxy grows: its resident memory and its descriptors after each history, when it has no objects.

/** A proxy at one time. */
export interface ProxySample {
  /** Its process. */
  readonly pid: number;
  /** In ms since any fixed time. */
  readonly at: number;
  /** Resident memory, in KiB. */
  readonly resident: number;
  /** Open descriptors. */
  readonly descriptors: number;
}

/** The values of a run, and their slope per hour with its standard error. Both are undefined with too few values after the start. */
export interface Growth {
  readonly least: number;
  readonly most: number;
  readonly slope?: number;
  readonly error?: number;
}

/** How a proxy grew in a run. */
export interface ProxyGrowth {
  readonly samples: readonly ProxySample[];
  readonly processes: number;
  /** In KiB. */
  readonly resident: Growth;
  readonly descriptors: Growth;
}

const HOUR = 3_600_000;
/** Time since the first sample of a process whose samples are left out of the slopes, in ms: its heap and its buffers get their size then. */
const WARM_UP = 600_000;

/** How a proxy grew; undefined without samples. */
export function growthOf(samples: readonly ProxySample[]): ProxyGrowth | undefined {
  if (samples.length === 0) return undefined;
  const pids = [...new Set(samples.map(({ pid }) => pid))];
  const byProcess = pids.flatMap((pid) => {
    const own = samples.filter((sample) => sample.pid === pid);
    const from = (own[0]?.at ?? 0) + WARM_UP;
    const settled = own.filter(({ at }) => at >= from);
    return settled.length > 0 ? [settled] : [];
  });
  const of = (value: (sample: ProxySample) => number): Growth => {
    const values = samples.map(value);
    const fit = slopeOf(byProcess.map((own) => own.map((one) => ({ x: one.at / HOUR, y: value(one) }))));
    return { least: Math.min(...values), most: Math.max(...values), ...fit };
  };
  return {
    ...{ samples, processes: pids.length },
    resident: of(({ resident }) => resident),
    descriptors: of(({ descriptors }) => descriptors),
  };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The common slope of groups of points, each with a level of its own, by least squares, and its standard error. A process that starts
 * anew has another level, and no slope follows from that.
 */
export function slopeOf(
  groups: readonly (readonly Point[])[],
): { readonly slope: number; readonly error: number } | undefined {
  const centred = groups.flatMap((points) => {
    const [x0, y0] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
    return points.map(({ x, y }) => ({ x: x - x0, y: y - y0 }));
  });
  const free = centred.length - groups.length - 1;
  const spread = sum(centred.map(({ x }) => x * x));
  if (free < 1 || spread === 0) return undefined;
  const slope = sum(centred.map(({ x, y }) => x * y)) / spread;
  const rest = sum(centred.map(({ x, y }) => (y - slope * x) ** 2));
  return { slope, error: Math.sqrt(rest / free / spread) };
}

/** A line about each, for people. */
export function growthLines({ samples, processes, resident, descriptors }: ProxyGrowth): string[] {
  const line = (name: string, unit: string, { least, most, slope, error }: Growth, of: number) => {
    const number = (value: number) => (value / of).toFixed(of === 1 ? 0 : 1);
    const range = `${name}: ${number(least)} to ${number(most)}${unit}`;
    if (slope === undefined || error === undefined) return `${range}; too few samples for a slope`;
    const digits = (value: number) => (value / of).toFixed(2);
    return `${range}, slope ${digits(slope)} ± ${digits(error)}${unit} per hour (standard error)`;
  };
  return [
    `after ${samples.length} histories, of ${processes} processes of the proxy:`,
    line('  resident memory', ' MiB', resident, 1024),
    line('  descriptors', '', descriptors, 1),
  ];
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
