// The load figures: which are wanted, and a simulation for each. Pure.
import type { Invocation } from '../../src/command/cli/command.js';
import { UsageError } from '../../src/command/config/commandLine.js';
import { readNames } from '../cli/options.js';
import { type Load, simulate } from './simulation.js';
import { type Case, SPEEDS, type Surroundings, TRAFFIC, VARIANTS, type Variant } from './traffic.js';

const MOST_NODES = 1000;

/** What is simulated. */
export interface LoadOptions extends Surroundings {
  readonly nodes: readonly number[];
  readonly traffic: readonly Case['traffic'][];
  readonly speeds: readonly Case['speeds'][];
  readonly variants: readonly Variant[];
}

/** The figures of one kind of traffic and number of nodes: a load for each variant, in their order. */
export interface Figure {
  readonly traffic: Case['traffic'];
  readonly speeds: Case['speeds'];
  readonly nodes: number;
  readonly loads: Readonly<Record<string, Load>>;
}

/** Reads the options of the command. Throws {@link UsageError}. */
export function loadOptions(options: Invocation['options']): LoadOptions {
  const text = (name: string) => options[name] as string | undefined;
  const number = (name: string) => options[name] as number;
  const variants = readNames('--schedulers', text('schedulers'), VARIANTS);
  return {
    nodes: readNodes(text('nodes') as string),
    traffic: readNames('--traffic', text('traffic'), TRAFFIC),
    speeds: readNames('--speeds', text('speeds'), SPEEDS),
    variants: VARIANTS.filter(({ name }) => variants.includes(name)),
    endpoints: number('endpoints'),
    clients: number('clients'),
    rate: number('rate'),
    open: number('open'),
    order: text('order') as Surroundings['order'],
    seed: number('seed'),
  };
}

function readNodes(text: string): number[] {
  return text.split(',').map((part) => {
    const nodes = /^\d{1,4}$/.test(part) ? Number(part) : 0;
    if (nodes >= 1 && nodes <= MOST_NODES) return nodes;
    throw new UsageError(`--nodes must be numbers from 1 to ${MOST_NODES}, found ${JSON.stringify(part)}`);
  });
}

/** Endpoints are replaced by equal ones only, and equal ones have equal weights: other simulations would be the same again. */
const isOfInterest = (traffic: Case['traffic'], speeds: Case['speeds']) =>
  traffic !== 'rollout' || speeds === 'equal';
const differs = ({ weighted }: Variant, speeds: Case['speeds']) => weighted !== true || speeds !== 'equal';

/** Runs the simulations of all figures. */
export function loadFigures(options: LoadOptions): Figure[] {
  return options.traffic.flatMap((traffic) =>
    options.speeds
      .filter((speeds) => isOfInterest(traffic, speeds))
      .flatMap((speeds) =>
        options.nodes.map((nodes) => {
          const variants = options.variants.filter((variant) => differs(variant, speeds));
          const loads = variants.map(
            (variant) => [variant.name, simulate({ traffic, speeds, nodes, variant }, options)] as const,
          );
          return { traffic, speeds, nodes, loads: Object.fromEntries(loads) };
        }),
      ),
  );
}
