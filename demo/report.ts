// The last screen, as lines of text. Pure.

import type { SyncedLine } from '../test/laboratory/proxyProcess.js';
import type { Flow, Outcomes } from './outcomes.js';
import { numberCells, type Row } from './table.js';

/** Maximum number of listed failures. */
const LISTED = 10;

/** Measurements other than requests. */
export interface Measured {
  /** Weight of the lost pod's real server at the end of each phase; undefined after its removal. */
  readonly weights: readonly (number | undefined)[];
  /** From the replacement of the manifest to the kernel's state, in ms. */
  readonly terminatingMs: number;
  readonly backMs: number;
  /** From the start of the second proxy to the end of its first pass, in ms. */
  readonly restartMs: number;
  /** That first pass. */
  readonly adopted: SyncedLine;
}

/** The heading of the last screen. */
export const LAST_SCREEN = 'Who answered how many requests, phase by phase';

const RUN = 'npm run vm -- node dist/src/command/cli/main.js';
const FLAGS =
  '--proxy-mode ipvs --manifests examples/ --hostname-override node-a --cluster-cidr 10.244.0.0/16';

/** Commands to try next; each runs on a separate kernel, without a cluster. */
export const NEXT: readonly string[] = [
  'Try next; none of this needs a cluster:',
  '  npm test                  whether this checkout works, in ten minutes',
  '  npm run demo -- --vm      this again, in QEMU',
  `  ${RUN} plan \\`,
  `    ${FLAGS}`,
  '                            what the proxy would put into a kernel, by Service',
  'docs/migrate.md moves the nodes of a cluster over, one by one, without dropping connections.',
];

/** The outcomes of each flow in each phase: a row for each endpoint, and two for the open connection. */
export function boardRows(
  outcomes: Outcomes,
  flows: readonly Flow[],
  servers: readonly string[],
  { weights }: Pick<Measured, 'weights'>,
): Row[] {
  const counts = (flow: Flow, by: string) =>
    numberCells(outcomes.phases.map((phase) => outcomes.count(flow.name, phase, by)));
  return [
    ...flows.flatMap((flow): Row[] => {
      const title: Row = { label: flow.name, cells: [] };
      const { server } = flow;
      if (server === undefined)
        return [title, ...servers.map((by) => ({ label: `  ${by}`, cells: counts(flow, by) }))];
      return [
        title,
        { label: `  ${server}`, cells: counts(flow, server) },
        { label: '  its weight', cells: numberCells(weights) },
      ];
    }),
    { label: 'failures', cells: numberCells(outcomes.phases.map((phase) => outcomes.failuresIn(phase))) },
  ];
}

/** The last screen of the whole output. */
export function lastScreen(output: string): string {
  const lines = output.split('\n');
  const start = lines.findIndex((line) => line.includes(LAST_SCREEN));
  if (start < 0) throw new Error(`the output has no line "${LAST_SCREEN}"`);
  return lines.slice(start).join('\n');
}

/** Failures, one per line; the last line has the number of the others. */
export function failureLines(failures: readonly string[]): string[] {
  const more = failures.length - LISTED;
  return [...failures.slice(0, LISTED), ...(more > 0 ? [`… and ${more} more`] : [])];
}

/** Times with their meaning, and the factor by which the test machine is slower. */
export function timeLines(
  { terminatingMs, backMs, restartMs, adopted }: Measured,
  slowestMs: number,
  factor: string,
): string[] {
  const { operations, planMs, kernelMs } = adopted;
  const times: [text: string, ...ms: number[]][] = [
    ['from file to kernel: terminating; back', terminatingMs, backMs],
    [`restart until the kernel is verified: ${operations} operations`, restartMs],
    ['  of that: planning; in the kernel', planMs, kernelMs],
    ['the slowest answer to a request', slowestMs],
  ];
  return times.map(([text, ...ms]) => {
    const numbers = ms.map((number) => number.toFixed(0)).join('; ');
    return `${text.padEnd(58)}${numbers.padStart(10)} ms  ${factor}`;
  });
}
