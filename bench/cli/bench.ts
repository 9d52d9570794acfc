// The command line of the benchmark: measures in namespaces of its own, or reads earlier reports, and shows them.
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { Invocation } from '../../src/command/cli/command.js';
import { type Output, writeReport } from '../../src/command/cli/output/output.js';
import { markdownDocument } from '../output/markdown.js';
import { type MergedReport, mergeReports } from '../output/merge.js';
import { Progress, type ProgressForm, type ProgressOutput } from '../output/progress.js';
import { readReports } from '../output/readReport.js';
import type { BenchOptions, BenchReport } from '../types.js';
import { againstOptions, ownCommand, runAgainst } from './against.js';
import { benchFiles, readExplanations, writeFiles } from './folder.js';
import { isIsolated, runIsolated } from './isolate.js';
import { benchOptions, progressForm } from './options.js';
import type { ProgramInvocation } from './program.js';
import { reportLines, targetLines } from './text.js';

/** Runs the benchmark, or shows earlier reports; resolves to its exit status. */
export async function runBenchCommand({ args, options, output }: ProgramInvocation): Promise<number> {
  const wanted = benchOptions(options);
  const against = againstOptions(options, wanted);
  if (args.length === 0 && !isIsolated()) {
    output.note(
      'bench: measures in a new network namespace; virtual services, sets, rules and interfaces of this node stay as they are',
    );
    return runIsolated();
  }
  if (against !== undefined) return runAgainst(against, options['folder'] as string | undefined, output);
  const reports = args.length > 0 ? args.flatMap(readFile) : [await measure(wanted, options, output)];
  show(reports, options, output);
  return 0;
}

function readFile(path: string): BenchReport[] {
  return readReports(readFileSync(path, 'utf8'), path);
}

async function measure(
  wanted: BenchOptions,
  options: Invocation['options'],
  { format }: Output,
): Promise<BenchReport> {
  const form = progressForm(
    options['progress'] as 'auto' | ProgressForm,
    format,
    process.stderr.isTTY === true,
  );
  const progress = new Progress(form, TERMINAL);
  // Imported late: the measurement opens the addon, which showing earlier reports does not need.
  const { runBench } = await import('../bench.js');
  try {
    return await runBench(wanted, progress, undefined, ownCommand());
  } finally {
    progress.close();
  }
}

const TERMINAL: ProgressOutput = {
  columns: () => process.stderr.columns || 100,
  write: (text) => void process.stderr.write(text),
  now: () => performance.now(),
};

function show(reports: readonly BenchReport[], options: Invocation['options'], output: Output): void {
  const merged = mergeReports(reports);
  const folder = options['folder'] as string | undefined;
  if (folder !== undefined) writeFiles(folder, benchFiles(merged, readExplanations(folder)));
  const { targets } = merged;
  if (options['targets'] === true) {
    writeReport(output, { targets }, () => targetLines(targets, output.style, output.columns));
    return;
  }
  const [only] = reports;
  const result = reports.length === 1 && only ? only : merged;
  writeReport(output, result, ({ wide }) => {
    if (output.format === 'markdown') return markdown(merged).split('\n');
    return [
      ...reports.flatMap((report) => reportLines(report, wide, output.style, output.columns)),
      ...targetLines(targets, output.style, output.columns),
    ];
  });
}

/** The document without charts, which are files. */
function markdown(merged: MergedReport): string {
  return markdownDocument({ ...merged, pictures: [], explanation: () => undefined }).trimEnd();
}
