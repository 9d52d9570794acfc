// The process that judges, in a network namespace of its own. Its argument is the JSON of its orders; scripts/judge.mjs starts it.
import { exitOnSignals } from '../../laboratory/atExit.js';
import { reportLines } from '../core/report.js';
import { runSession, type SessionOrders } from './session.js';

exitOnSignals();
const began = performance.now();
const tell = (line: string) => {
  process.stdout.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}\n`);
};
const orders = JSON.parse(process.argv[2] ?? '') as SessionOrders;
const report = await runSession(orders, tell);
process.stdout.write(`${reportLines(report).join('\n')}\n`);
process.exit(report.violations.length === 0 ? 0 : 1);
