// A short judge in a test: histories of some seeds on a real proxy.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Report, reportLines } from '../../judge/core/report.js';
import { faultsOf } from '../../judge/run/faultModes.js';
import { runSession, type SessionOrders } from '../../judge/run/session.js';

/** Time after which no history begins, in ms. */
const TIME = 40_000;

/** What is judged; by default this project's proxy, with all faults, for {@link TIME}. */
type ShortOrders = Pick<SessionOrders, 'mode' | 'seed' | 'proxy'> &
  Partial<Pick<SessionOrders, 'time' | 'faults' | 'replays'>>;

/** Judges a proxy, and prints the report. */
export async function shortJudge(orders: ShortOrders): Promise<Report> {
  const output = mkdtempSync(join(tmpdir(), 'knp-judge-'));
  try {
    const report = await runSession(
      {
        ...{ time: TIME, steps: 15, pause: 1000, syncPeriod: 3, tries: 0, output },
        faults: faultsOf(orders.mode),
        bounds: { programming: 4000, recovery: 12_000, chance: 1e-9, refusal: 900 },
        ...orders,
      },
      (line) => console.log(line),
    );
    console.log(reportLines(report).join('\n'));
    return report;
  } finally {
    rmSync(output, { recursive: true });
  }
}
