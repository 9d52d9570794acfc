// The files of a benchmark: a document in Markdown, a chart for each scenario, and the report.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenarioChart } from '../output/chart.js';
import { machineLine } from '../output/machine.js';
import { markdownDocument } from '../output/markdown.js';
import type { MergedReport } from '../output/merge.js';
import { type ScenarioFigures, scenariosOf } from '../output/table.js';
import type { BenchReport } from '../types.js';

/** The folder of the charts and of the report, beside the document. */
const PARTS = 'benchmarks';

/** A file, by its path relative to the folder. */
export interface BenchFile {
  readonly path: string;
  readonly text: string;
}

/** A document with explanations of targets, beside that of the benchmark. Each has the heading of the target's id. */
const EXPLANATIONS = 'performance.md';

/**
 * The files of a report. Pure.
 *
 * @param explanations a document in the same folder; targets with a heading in it have a link to it
 */
export function benchFiles(merged: MergedReport, explanations = ''): BenchFile[] {
  const charts = chartsOf(merged.reports);
  const document = markdownDocument({
    ...merged,
    chart: (report, { scenario }) => charts.get(report)?.get(scenario.name)?.path,
    explanation: (id) =>
      explanations.split('\n').includes(`### ${id}`) ? `${EXPLANATIONS}#${id}` : undefined,
  });
  return [
    { path: 'benchmarks.md', text: document },
    { path: `${PARTS}/report.json`, text: `${JSON.stringify(merged)}\n` },
    ...[...charts.values()].flatMap((byScenario) => [...byScenario.values()]),
  ];
}

/** The text of the document with explanations in a folder; undefined without it. */
export function readExplanations(folder: string): string | undefined {
  const path = join(folder, EXPLANATIONS);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Writes the files. */
export function writeFiles(folder: string, files: readonly BenchFile[]): void {
  mkdirSync(join(folder, PARTS), { recursive: true });
  for (const { path, text } of files) writeFileSync(join(folder, path), text);
}

/** The charts by report and scenario. A scenario that several reports have has the kernel in the name of its file. */
function chartsOf(reports: readonly BenchReport[]): Map<BenchReport, Map<string, BenchFile>> {
  const names = new Set<string>();
  return new Map(
    reports.map((report) => {
      const charts = scenariosOf(report).flatMap((found) => {
        const text = scenarioChart(found, report.machine, report.options.repetitions);
        if (text === undefined) return [];
        return [[found.scenario.name, { path: `${nameOf(report, found)}.svg`, text }] as const];
      });
      return [report, new Map(charts)];
    }),
  );

  function nameOf({ machine }: BenchReport, { scenario }: ScenarioFigures): string {
    const plain = `${PARTS}/${scenario.name}`;
    const named = `${plain}-${machineLine(machine).replaceAll(/[^\w.]+/g, '-')}`;
    const free = [plain, named].find((one) => !names.has(one)) ?? `${plain}-${names.size}`;
    names.add(free);
    return free;
  }
}
