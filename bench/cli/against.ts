// bench --against: another proxy beside this one.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Invocation } from '../../src/command/cli/command.js';
import type { Style } from '../../src/command/cli/output/colours.js';
import { type Output, writeReport } from '../../src/command/cli/output/output.js';
import { UsageError } from '../../src/command/config/commandLine.js';
import { wrapped } from '../../src/command/config/wrap.js';
import { findPackageRoot } from '../../src/kernel/packageRoot.js';
import { againstFiles } from '../against/page.js';
import { againstTable, failureLines, streamTable } from '../against/table.js';
import type { AgainstOptions, AgainstReport, ProxyCommand } from '../against/types.js';
import { machineLine } from '../output/machine.js';
import { sizeText } from '../output/table.js';
import type { BenchOptions, Size } from '../types.js';
import { writeFiles } from './folder.js';
import { plainTable } from './text.js';

/** kube-proxy's line, in ipvs mode with `-v=4` and in the other modes with `-v=2`. */
const KUBE_PROXY_PASS = 'syncProxyRules complete';

/** Sizes without `--sizes`: a first sync of kube-proxy in ipvs mode takes minutes with 1000 Services. */
const USUAL_SIZES: readonly Size[] = [100, 1000].map((services) => ({ services, endpoints: 10 }));

/** Changes of one endpoint, and of the node, after each start; one with `--quick`. */
const CHANGES = 5;

/** Duration of a stream of changes without `--seconds`, in s; 1 s with `--quick`. */
const SECONDS = 60;

/** Longest time of a first sync, in ms. */
const TIMEOUT = 1_800_000;

/** Options that have no effect with `--against`. */
const OTHERS = ['scenarios', 'methods', 'budget', 'sample', 'systemCalls', 'targets'] as const;

/** The options of a comparison; undefined without `--against`. Throws {@link UsageError}. */
export function againstOptions(
  options: Invocation['options'],
  bench: BenchOptions,
): AgainstOptions | undefined {
  const command = options['against'] as string | undefined;
  const pattern = options['passPattern'] as string | undefined;
  if (command === undefined) {
    const alone = ['passPattern', 'ownFlags', 'rate', 'seconds'].find((name) => options[name] !== undefined);
    if (alone !== undefined) throw new UsageError(`--${dashed(alone)} needs --against`);
    return undefined;
  }
  const wrong = OTHERS.find((name) => options[name] !== undefined);
  if (wrong !== undefined) throw new UsageError(`--${dashed(wrong)} has no effect with --against`);
  if (!command.includes('{kubeconfig}'))
    throw new UsageError('--against: the command must contain {kubeconfig}');
  const other: ProxyCommand = {
    name: 'other',
    command,
    passPattern: readPattern(pattern ?? KUBE_PROXY_PASS),
  };
  const rate = options['rate'] as number | undefined;
  const seconds = options['seconds'] as number | undefined;
  if (seconds !== undefined && rate === undefined) throw new UsageError('--seconds needs --rate');
  const usualSizes = options['sizes'] === undefined && options['quick'] !== true;
  return {
    proxies: [ownCommand(options['ownFlags'] as string | undefined), other],
    sizes: usualSizes ? USUAL_SIZES : bench.sizes,
    repetitions: bench.repetitions,
    changes: options['quick'] === true ? 1 : CHANGES,
    ...(rate !== undefined && {
      stream: { rate, seconds: seconds ?? (options['quick'] === true ? 1 : SECONDS) },
    }),
    seed: bench.seed,
    timeout: TIMEOUT,
  };
}

/** `passPattern` as a flag: `pass-pattern`. */
const dashed = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Upper and lower case are the same, because kube-proxy's modes write the line differently. */
function readPattern(text: string): RegExp {
  try {
    return new RegExp(text, 'i');
  } catch (error) {
    throw new UsageError(`--pass-pattern: ${(error as Error).message}`);
  }
}

/** The command of the package, whose memory is measured too; before it is bundled, the compiled one. */
function agentFile(): string {
  const root = findPackageRoot() ?? '';
  const bundled = join(root, 'dist/command/main.js');
  return existsSync(bundled) ? bundled : join(root, 'dist/src/command/cli/main.js');
}

/** The agent of this checkout. */
export function ownCommand(flags = '--proxy-mode=ipvs'): ProxyCommand {
  const program = [process.execPath, ...process.execArgv, agentFile()].map((word) => `"${word}"`);
  const usual = '--kubeconfig={kubeconfig} --hostname-override={node} --logging-format=json --v=2';
  return { name: 'ours', command: `${program.join(' ')} ${usual} ${flags}`, passPattern: /"msg":"synced"/ };
}

/** Measures and prints a comparison. */
export async function runAgainst(
  options: AgainstOptions,
  folder: string | undefined,
  output: Output,
): Promise<number> {
  // Imported late: it opens the addon.
  const { compareProxies } = await import('../against/compare.js');
  const report = await compareProxies(options, (proxy, size, repetition) => {
    output.note(`${proxy}, ${sizeText(size)}, run ${repetition} of ${options.repetitions}`);
  });
  if (folder !== undefined) writeFiles(folder, againstFiles(report));
  writeReport(output, report, () => againstLines(report, output.style, output.columns));
  return 0;
}

function againstLines(report: AgainstReport, style: Style, columns: number): string[] {
  return [
    ...wrapped(machineLine(report.machine), columns, 2).map((line) => style('heading', line)),
    ...plainTable(againstTable(report), { width: columns, keys: 2 }),
    ...(report.figures.some(({ streams }) => streams.length > 0)
      ? [
          ...wrapped('Endpoints that change steadily, each until a client reaches the new one:', columns),
          ...plainTable(streamTable(report), { width: columns, keys: 2 }),
        ]
      : []),
    ...failureLines(report)
      .flatMap((line) => wrapped(line, columns, 2))
      .map((line) => style('warning', line)),
    ...wrapped(
      'Medians. Started are processes and threads until the end of the first sync, and by one changed endpoint.',
      columns,
    ),
    ...wrapped(`The other proxy: ${report.commands.other}`, columns, 2),
  ];
}
