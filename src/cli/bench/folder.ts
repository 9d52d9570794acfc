// The files of a benchmark: a document in Markdown, a chart for each scenario, and the report.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machineLine } from '../../bench/output/machine.js';
import { markdownDocument } from '../../bench/output/markdown.js';
import type { MergedReport } from '../../bench/output/merge.js';
import { scenarioChart } from '../../bench/output/scenarioChart.js';
import { type ScenarioFigures, scenariosOf } from '../../bench/output/table.js';
import type { BenchReport } from '../../bench/types.js';

/** The folder of the charts and of the report, beside the document. */
const PARTS = 'benchmarks';

/** A file, by its path relative to the folder. */
export interface BenchFile {
  readonly path: string;
  readonly text: string;
}

/** The files of a report. Pure. */
export function benchFiles(merged: MergedReport): BenchFile[] {
  const charts = chartsOf(merged.reports);
  const document = markdownDocument({
    ...merged,
    chart: (report, { scenario }) => charts.get(report)?.get(scenario.name)?.path,
  });
  return [
    { path: 'benchmarks.md', text: document },
    { path: `${PARTS}/report.json`, text: `${JSON.stringify(merged, undefined, 2)}\n` },
    ...[...charts.values()].flatMap((byScenario) => [...byScenario.values()]),
  ];
}

/** Writes the files. */
export function writeFiles(folder: string, files: readonly BenchFile[]): void {
  mkdirSync(join(folder, PARTS), { recursive: true });
  for (const { path, text } of files) writeFileSync(join(folder, path), text);
}

/** The charts by report and scenario. A scenario that several reports have has the kernel in the name of its file. */
function chartsOf(reports: readonly BenchReport[]): Map<BenchReport, Map<string, BenchFile>> {
  const paths = new Set<string>();
  return new Map(
    reports.map((report) => {
      const charts = scenariosOf(report).flatMap((found) => {
        const text = scenarioChart(found, report.machine, report.options.repetitions);
        return text === undefined
          ? []
          : [[found.scenario.name, { path: pathOf(report, found), text }] as const];
      });
      return [report, new Map(charts)];
    }),
  );

  function pathOf({ machine }: BenchReport, { scenario }: ScenarioFigures): string {
    const plain = `${PARTS}/${scenario.name}.svg`;
    const named = machineLine(machine).replaceAll(/[^\w.]+/g, '-');
    const path = [plain, `${PARTS}/${scenario.name}-${named}.svg`].find((one) => !paths.has(one));
    const free = path ?? `${PARTS}/${scenario.name}-${paths.size}.svg`;
    paths.add(free);
    return free;
  }
}
