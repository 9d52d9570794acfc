// Watches a namespace for rtnetlinkWatch.test.ts: as a worker thread, or as a process with the options as its argument.
// Prints `watching`, then for each report the kinds of its changes: `links`, `addresses`, or `lost`.
import { parentPort, workerData } from 'node:worker_threads';
import { type RtnetlinkWatchOptions, watchRtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { kindsOf } from '../support/tables/rtnetlinkChanges.js';

interface Orders extends RtnetlinkWatchOptions {
  /** Throw at the first change. */
  readonly fail?: boolean;
  /** End the watch at the first change. */
  readonly close?: boolean;
}

const orders = (workerData ?? JSON.parse(process.argv[2] ?? '{}')) as Orders;
const { fail = false, close = false, ...options } = orders;
const say = (what: string) => (parentPort ? parentPort.postMessage(what) : process.stdout.write(`${what}\n`));

const watch = await watchRtnetlink(options, (change) => {
  say(kindsOf([change]));
  if (close) watch.close();
  if (fail) throw new Error('from onChange');
});
process.on('uncaughtException', (error) => {
  say(`uncaught: ${error.message}`);
  process.exit(3);
});
say('watching');
