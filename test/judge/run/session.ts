// Judges a proxy for a time: one history after the other, the shortest form of the first failing one, and the report.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateHistory } from '../core/generate.js';
import { describeEvent, type FaultName, type History } from '../core/history.js';
import { reportPage } from '../core/html.js';
import { parseReplay, recordingText, replayText } from '../core/replay.js';
import type { Judged, Report } from '../core/report.js';
import type { Bounds } from '../core/rules.js';
import { shrink } from '../core/shrink.js';
import { Tally } from '../core/tally.js';
import { judge } from '../core/verdict.js';
import { faultsOf } from './faultModes.js';
import { Player } from './player.js';
import { OWN_PROXY, selectsMode } from './proxy.js';
import { hasSctp } from './sctp.js';
import type { JudgedMode } from './vandalism.js';

/** What is judged, and for how long. */
export interface SessionOrders {
  /** Words of the command line of the proxy; default: this project's. */
  readonly proxy?: readonly string[];
  readonly mode: JudgedMode;
  /** Rules of this project's proxy in ipvs mode: its `--ipvs-rules`. */
  readonly ipvsRules?: 'iptables' | 'nftables';
  /** The seed of the first history. */
  readonly seed: number;
  /** Time after which no history begins, in ms; at least one is played. */
  readonly time: number;
  readonly faults: readonly FaultName[];
  readonly bounds: Bounds;
  /** Events of a history, and the longest pause between two, in ms. */
  readonly steps: number;
  readonly pause: number;
  /** Sync period of the proxy, in s. */
  readonly syncPeriod: number;
  /** Most histories that are played to shrink a failing one. */
  readonly tries: number;
  /** Folder of the report, of failing histories, and of the log of the proxy. */
  readonly output: string;
  /** The texts of replay files, to play them instead of the histories of seeds. */
  readonly replays?: readonly string[];
}

/** Time of traffic after the last event, in ms: enough connections for the rule `every-endpoint`. */
const QUIET = 6_000;
/** What clients do, in ms. Their patience is long enough for TCP to repeat one lost packet, after 1 s. */
const TRAFFIC = { pause: 15, repeat: 400, patience: 2_500 };
/** The longest time of a fault, in ms. */
const FAULT_TIME = 4_000;

/**
 * Judges; resolves to the report, which is also written to the folder.
 *
 * @param tell gets lines about the progress
 */
export async function runSession(orders: SessionOrders, tell: (line: string) => void): Promise<Report> {
  const { mode, output, seed, syncPeriod } = orders;
  const bounds = { ...orders.bounds, localhost: mode === 'iptables', sctp: hasSctp() };
  const { ipvsRules = 'iptables' } = orders;
  const command = orders.proxy ?? [...OWN_PROXY, '--ipvs-rules', ipvsRules];
  mkdirSync(output, { recursive: true });
  tell(`starting ${command.join(' ')} in mode ${mode}`);
  const faults = possibleFaults(orders.faults, command);
  if (faults.length < orders.faults.length)
    tell('modeChanged is left out: the command has neither {config} nor {mode}');
  const run = { command, mode, folder: output, syncPeriod, bounds, traffic: TRAFFIC, quiet: QUIET };
  const player = await Player.open(run);
  try {
    const replays = orders.replays && possibleHistories(orders.replays.map(parseReplay), mode, tell);
    const tally = new Tally(bounds);
    const report = () => tally.report(orders.proxy?.join(' ') ?? 'kube-netlink-proxy', mode);
    let failing: Judged | undefined;
    let stopped: unknown;
    const began = performance.now();
    const goesOn = (i: number) =>
      replays ? i < replays.length : i === 0 || performance.now() - began < orders.time;
    for (let i = 0; goesOn(i); i++) {
      const history = replays?.[i] ?? generateHistory(seed + i, { ...orders, faults, faultTime: FAULT_TIME });
      const one = await play(player, history, bounds).catch((error: unknown) => {
        // The report has the histories before.
        stopped = error;
      });
      if (!one) break;
      tally.add(one);
      tell(lineOf(one));
      // After each history, so that a run that is ended early has a report.
      writeFileSync(join(output, 'report.json'), `${JSON.stringify(report(), undefined, 2)}\n`);
      if (one.violations.length === 0) continue;
      failing ??= one;
      writeFailure(output, one);
    }
    writeFileSync(join(output, 'report.html'), reportPage(report(), tally.kept));
    if (player.late > 0)
      tell(`${player.late} requests are left out: this machine was too slow to judge them`);
    if (stopped !== undefined) throw stopped;
    if (failing) await shrinkFailing(player, { ...orders, bounds }, failing, tell);
    return report();
  } finally {
    await player.close();
  }
}

/** The faults that can happen to a proxy: the mode changes with its command line alone. */
function possibleFaults(faults: readonly FaultName[], command: readonly string[]): FaultName[] {
  return faults.filter((fault) => fault !== 'modeChanged' || selectsMode(command));
}

/** The histories whose faults can be made in a mode. */
function possibleHistories(
  histories: readonly History[],
  mode: JudgedMode,
  tell: (line: string) => void,
): History[] {
  const faults = new Set(faultsOf(mode));
  const possible = histories.filter((history) => {
    const other = history.steps.find(({ event }) => event.do === 'fault' && !faults.has(event.fault));
    if (other) tell(`seed ${history.seed} is left out: mode ${mode} has no ${describeEvent(other.event)}`);
    return !other;
  });
  if (possible.length === 0) throw new Error(`no history to replay can be played in mode ${mode}`);
  return possible;
}

async function play(player: Player, history: History, bounds: Bounds): Promise<Judged> {
  const recording = await player.play(history);
  return { recording, violations: judge(recording, bounds) };
}

/** Writes the file that replays a history, and what happened in it. */
function writeFailure(output: string, { recording }: Judged): void {
  writeFileSync(replayFile(output, recording.history), replayText(recording.history));
  writeFileSync(replayFile(output, recording.history, 'recording'), recordingText(recording));
}

/** Shrinks a failing history, and writes the file that replays it. */
async function shrinkFailing(
  player: Player,
  { bounds, output, tries }: Pick<SessionOrders, 'bounds' | 'output' | 'tries'>,
  { recording: { history }, violations: [first] }: Judged,
  tell: (line: string) => void,
): Promise<void> {
  const rule = first?.rule;
  if (rule === undefined || tries === 0) return;
  tell(`shrinking seed ${history.seed} for rule ${rule}, at most ${tries} histories`);
  const fails = async (candidate: History) => {
    const { violations } = await play(player, candidate, bounds);
    const found = violations.some((violation) => violation.rule === rule);
    tell(`  ${candidate.steps.length} events: ${found ? 'fails' : 'holds'}`);
    return found;
  };
  const shortest = await shrink(history, fails, tries);
  if (!shortest) {
    tell(`  seed ${history.seed} holds when it is played again: it is not shrunk`);
    return;
  }
  writeFileSync(replayFile(output, history, 'shortest'), replayText(shortest));
  for (const { after, event } of shortest.steps) tell(`  +${after} ms ${describeEvent(event)}`);
}

function replayFile(output: string, { seed }: History, form = 'seed'): string {
  return join(output, `${form}-${seed}.json`);
}

function lineOf({ recording, violations }: Judged): string {
  const { changes, ended, faults, history, observations } = recording;
  const counts = `${changes.length} events, ${faults.length} faults, ${observations.length} requests`;
  const time = `${Math.round(ended / 1000)} s`;
  const verdict = violations.length === 0 ? 'no violation' : `${violations.length} VIOLATIONS`;
  const first = violations[0];
  const text = first ? `; ${first.rule}: ${first.message}` : '';
  return `seed ${history.seed}: ${counts}, ${time}: ${verdict}${text}`;
}
