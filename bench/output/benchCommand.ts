// The command line that measures a report again. Pure.
import { METHODS, SCENARIOS } from '../scenarios.js';
import type { BenchOptions } from '../types.js';

/** The command with all options that have an effect on the figures. */
export function benchCommand(options: BenchOptions): string {
  const { sizes, scenarios, methods, repetitions, budget, sample, seed, countSystemCalls } = options;
  return [
    'npm run bench --',
    ...(scenarios.length === SCENARIOS.length ? [] : [`--scenarios ${scenarios.join(',')}`]),
    ...(methods.length === METHODS.length ? [] : [`--methods ${methods.join(',')}`]),
    `--sizes ${sizes.map(({ services, endpoints }) => `${services}x${endpoints}`).join(',')}`,
    `--repetitions ${repetitions} --budget ${budget} --sample ${sample} --seed ${seed}`,
    ...(countSystemCalls ? ['--system-calls'] : []),
  ].join(' ');
}
