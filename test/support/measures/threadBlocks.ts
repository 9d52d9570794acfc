// The times in which the event loop does not turn, measured by the time for which its thread runs.
import { performance } from 'node:perf_hooks';
import { threadTimes } from './threadTimes.js';

/** A time in which the event loop did not turn. */
export interface Block {
  /** Its start, by `performance.now()`, in ms. */
  readonly start: number;
  /** Its end. */
  readonly end: number;
  /** Time for which the thread ran, in ms. Neither other processes nor other threads of this one prolong it. */
  readonly ran: number;
}

/** The times in which the event loop does not turn until some work ends. */
export async function blocksOf(work: () => Promise<unknown>): Promise<Block[]> {
  const blocks: Block[] = [];
  let [start, ran] = [performance.now(), threadTimes().ran];
  let done = false;
  const record = () => {
    const [end, total] = [performance.now(), threadTimes().ran];
    blocks.push({ start, end, ran: total - ran });
    [start, ran] = [end, total];
  };
  const turn = () => {
    if (done) return;
    record();
    setImmediate(turn);
  };
  setImmediate(turn);
  try {
    await work();
  } finally {
    done = true;
  }
  record();
  return blocks;
}
