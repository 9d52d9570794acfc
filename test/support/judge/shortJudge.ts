// A short judge in a test: histories of some seeds on a real proxy.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAULTS, type FaultName } from '../../judge/core/history.js';
import { type Report, reportLines } from '../../judge/core/report.js';
import { runSession, type SessionOrders } from '../../judge/run/session.js';

/** Time after which no history begins, in ms. */
const TIME = 40_000;

/** Judges this project's proxy, or another; prints the report. A machine that is busy has longer bounds. */
export async function shortJudge(orders: Pick<SessionOrders, 'mode' | 'seed' | 'proxy'>): Promise<Report> {
  const output = mkdtempSync(join(tmpdir(), 'knp-judge-'));
  try {
    const report = await runSession(
      {
        ...orders,
        ...{ time: TIME, steps: 15, pause: 1000, syncPeriod: 3, tries: 0, output },
        faults: Object.keys(FAULTS) as FaultName[],
        bounds: { programming: 4000, recovery: 12_000, chance: 1e-9, refusal: 900 },
      },
      (line) => console.log(line),
    );
    console.log(reportLines(report).join('\n'));
    return report;
  } finally {
    rmSync(output, { recursive: true });
  }
}
