// The expected time of steps, for the progress: a guess, of which only the proportions matter. Pure.
import type { BenchOptions, MethodName, Step } from './types.js';

/** µs for each operation. */
const EACH: Readonly<Record<MethodName, number>> = {
  ours: 10,
  raw: 5,
  rawLibipset: 2,
  rawSingle: 30,
  single: 70,
  toolBatch: 60,
  spawn: 3000,
  execFile: 5000,
};

/** Preparation of any step, in µs. */
const FIXED = 100_000;

/** The expected time of a step, in µs; 0 if the time of its figure is then expected to be over. */
export function weightOf(step: Step, options: BenchOptions): number {
  const each = timeOf(step, options);
  const left = options.budget * 1e6 - each * (step.repetition - 1);
  return step.repetition <= 1 || each <= left ? each : 0;
}

function timeOf({ scenario, method, size }: Step, { sample }: BenchOptions): number {
  const { services, endpoints } = size;
  const all = { ipvs: services * (1 + endpoints), full: services * (4 + endpoints), ipset: 2 * services }[
    scenario as string
  ];
  const operations = all ?? services;
  const isSampled = method === 'spawn' || method === 'execFile';
  return FIXED + EACH[method] * (isSampled ? Math.min(sample, operations) : operations);
}
