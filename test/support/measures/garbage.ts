// Garbage collections, for tests that measure memory.
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Collections of which the last one finds no more garbage: objects that promises and timers hold live until a later turn. */
const ROUNDS = 4;
/** Time between two, in ms. */
const PAUSE = 5;

/** Collects all garbage of this thread. */
export async function collectGarbage(): Promise<void> {
  for (let i = 0; i < ROUNDS; i++) {
    collect();
    await setTimeout(PAUSE);
  }
}

/** The bytes of the heap that are in use, without garbage. */
export async function heapInUse(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().heapUsed;
}
