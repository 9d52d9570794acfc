// Settings of V8's heap that keep the agent small.
import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the young generation at the size with which V8 starts it: two semi-spaces of 1 MiB. By default, V8 enlarges them
 * with the first objects of a cluster, by version of Node.js up to 16 or 64 MiB each, and keeps that memory.
 *
 * V8 reads the factor each time it enlarges them, and forgets it at the start of a thread: call it again then. It reads their maximum only at the start of the process, from the
 * command line of Node.js, which belongs to the user.
 */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  // One thread collects so little sooner than it wakes others, which a busy node may not schedule at once.
  setFlagsFromString('--no-parallel-scavenge');
}
