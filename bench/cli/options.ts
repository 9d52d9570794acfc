// The options of the command bench, read and checked. Pure.

import type { Invocation } from '../../src/command/cli/command.js';
import type { Format } from '../../src/command/cli/output/output.js';
import { UsageError } from '../../src/command/config/commandLine.js';
import type { ProgressForm } from '../output/progress.js';
import { METHODS, SCENARIOS, SIZES } from '../scenarios.js';
import type { BenchOptions, Size } from '../types.js';

/** The options that `--quick` replaces, in both forms. */
const USUAL = {
  full: { sizes: SIZES, repetitions: 5, budget: 30, sample: 50 },
  quick: { sizes: [{ services: 100, endpoints: 10 }], repetitions: 2, budget: 30, sample: 20 },
} as const satisfies Record<string, Pick<BenchOptions, 'sizes' | 'repetitions' | 'budget' | 'sample'>>;

/** Endpoints of each Service, if a size names none. */
const USUAL_ENDPOINTS = 10;

/** Most Services: node ports and cluster IPs of the benchmark's cluster have space for them. */
const MOST_SERVICES = 100_000;
const MOST_ENDPOINTS = 1000;

/** The options of a benchmark. Throws {@link UsageError}. */
export function benchOptions(options: Invocation['options']): BenchOptions {
  const usual = options['quick'] === true ? USUAL.quick : USUAL.full;
  const text = (name: string) => options[name] as string | undefined;
  return {
    sizes: text('sizes') === undefined ? usual.sizes : readSizes(text('sizes') as string),
    scenarios: readNames('--scenarios', text('scenarios'), SCENARIOS),
    methods: readNames('--methods', text('methods'), METHODS),
    repetitions: (options['repetitions'] as number | undefined) ?? usual.repetitions,
    budget: (options['budget'] as number | undefined) ?? usual.budget,
    sample: (options['sample'] as number | undefined) ?? usual.sample,
    seed: options['seed'] as number,
    countSystemCalls: options['systemCalls'] === true,
  };
}

/** Sizes as `--sizes` has them: `100,1000x5`. Throws {@link UsageError}. */
function readSizes(text: string): Size[] {
  const sizes = text.split(',').map((part): Size => {
    const [, services, endpoints] = /^(\d{1,6})(?:x(\d{1,6}))?$/.exec(part) ?? [];
    if (services === undefined) {
      throw new UsageError(
        `--sizes must be numbers of Services such as 100,1000x5, found ${JSON.stringify(part)}`,
      );
    }
    const size = { services: Number(services), endpoints: Number(endpoints ?? USUAL_ENDPOINTS) };
    checkRange('Services', size.services, MOST_SERVICES);
    checkRange('endpoints for each Service', size.endpoints, MOST_ENDPOINTS);
    return size;
  });
  return sizes.sort((a, b) => a.services - b.services || a.endpoints - b.endpoints);
}

function checkRange(what: string, value: number, most: number): void {
  if (value >= 1 && value <= most) return;
  throw new UsageError(`--sizes: the number of ${what} must be from 1 to ${most}, found ${value}`);
}

/** The names of a comma-separated list, in the order of `known`; all without a list. Throws {@link UsageError}. */
export function readNames<Name extends string>(
  option: string,
  text: string | undefined,
  known: readonly { readonly name: Name }[],
): Name[] {
  const names = known.map(({ name }) => name);
  if (text === undefined) return names;
  const wanted = text.split(',');
  for (const word of wanted) {
    if (!names.some((name) => name === word)) {
      throw new UsageError(`${option} must be of ${names.join(', ')}; found ${JSON.stringify(word)}`);
    }
  }
  return names.filter((name) => wanted.includes(name));
}

/**
 * The form of the progress.
 *
 * @param wanted the value of `--progress`
 * @param isTerminal whether standard error is a terminal
 */
export function progressForm(
  wanted: 'auto' | ProgressForm,
  format: Format,
  isTerminal: boolean,
): ProgressForm {
  if (wanted !== 'auto') return wanted;
  if (isTerminal) return 'bar';
  return format === 'json' || format === 'yaml' ? 'none' : 'lines';
}
