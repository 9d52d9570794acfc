// The test machine of the demo, and how much slower it is than the machine.
import { execFile } from 'node:child_process';
import { release } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { REQUESTS } from './loopback.js';

/** The test machine as scripts/demo.mjs describes it, in the environment variable {@link HOST_VARIABLE} as JSON. */
interface Outside {
  /** `User Mode Linux`. */
  readonly machine: string;
  /** Time on the machine for the requests of loopback.ts, in ms. */
  readonly loopbackMs: number;
}

const PROCESS = fileURLToPath(new URL('./loopbackProcess.js', import.meta.url));
/** Maximum time of the measurement, in ms. */
const PATIENCE = 60_000;
const HOST_VARIABLE = 'KNP_DEMO_HOST';

/** A sentence about the test machine, and the factor. */
export interface Slowdown {
  readonly text: string;
  /** `×2.9`; `×?` if the time on the machine is unknown. */
  readonly factor: string;
}

/** Measures the time here, and compares it with the time on the machine. */
export async function measureSlowdown(): Promise<Slowdown> {
  const given = process.env[HOST_VARIABLE];
  if (given === undefined) {
    return {
      text: `Measured in Linux ${release()}; npm run demo also compares it with the host.`,
      factor: '×?',
    };
  }
  const { stdout } = await promisify(execFile)(process.execPath, [PROCESS], { timeout: PATIENCE });
  return describeSlowdown(JSON.parse(given) as Outside, Number(stdout), release());
}

/** The sentence, for times in ms. */
export function describeSlowdown(
  { machine, loopbackMs: outside }: Outside,
  here: number,
  kernel: string,
): Slowdown {
  const factor = `×${(here / outside).toFixed(1)}`;
  const times = `${here.toFixed(0)} ms here and ${outside.toFixed(0)} ms on this machine itself`;
  const measured = `${REQUESTS} HTTP requests over loopback took ${times}`;
  return {
    text: `Measured in ${machine} (Linux ${kernel}), which is slower, ${factor}: ${measured}.`,
    factor,
  };
}
