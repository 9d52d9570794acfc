// A process of program.test.ts, also as a worker thread of itself: starts a program in each way, and then ends in the way that its
// arguments say.
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { runProgram } from '../../src/kernel/shared/programs/program.js';
import { readProgram } from '../../src/kernel/shared/programs/programReading.js';
import { ProgramSession } from '../../src/kernel/shared/programs/programSession.js';

const [folder = '', how = ''] = process.argv.slice(2);

/** A program that writes its id to a file and does not end. */
const program = (name: string): [string, string[]] => {
  const file = `${folder}/${name}`;
  return ['sh', ['-c', `echo $$ > ${file}.new; mv ${file}.new ${file}; exec sleep 600`]];
};

async function start(): Promise<void> {
  const running = [
    runProgram(...program('run')),
    readProgram(...program('reading')).next(),
    new ProgramSession(...program('session')).exchange([Buffer.from('x\n')], 'never', 600_000),
  ];
  // When the thread goes on with them, they have ended before it.
  for (const each of running) each.then(() => process.stdout.write('a program has ended\n'));
  for (const name of ['run', 'reading', 'session']) {
    while (!existsSync(`${folder}/${name}`)) await delay(5);
  }
}

if (!isMainThread) {
  await start();
  parentPort?.postMessage('started');
} else if (how === 'terminate') {
  const worker = new Worker(new URL(import.meta.url), { argv: [folder, how] });
  worker.once('message', () => worker.terminate());
} else {
  await start();
  if (how === 'exit') process.exit(7);
  setImmediate(() => {
    throw new Error('nobody handles this');
  });
}
