// The effect of signals on a process that runs an agent, and on one that runs another command.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';

/**
 * A process that runs a command, sends itself a signal, and prints the reason of its end after 50 ms. On a busy machine, these may
 * be over before the event loop has read the signal, which it does before it runs callbacks of setImmediate().
 */
const PROGRAM = `
  import { readFlags } from ${JSON.stringify(import.meta.resolve('../../../../src/command/config/commandLine.js'))};
  import { logHangups, stopSignal } from ${JSON.stringify(import.meta.resolve('../../../../src/command/cli/signals.js'))};
  import { openLog } from ${JSON.stringify(import.meta.resolve('../../../../src/command/agent/log.js'))};
  const [signal, ...args] = process.env.ARGS.split(' ');
  const stop = stopSignal(readFlags(args));
  logHangups(openLog({ verbosity: 0, format: 'text' }));
  process.kill(process.pid, signal);
  setTimeout(() => setImmediate(() => console.log('stop: ' + stop.reason)), 50);
`;

const NODE = ['--input-type=module', '-e', PROGRAM];

function sent(...args: string[]) {
  const env = { ...process.env, ARGS: args.join(' ') };
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, NODE, { env, encoding: 'utf8' });
  return { ended: signal ?? status, stdout: stdout.trim(), stderr: stderr.replace(/^\S+Z /, '').trim() };
}

it('SIGTERM and SIGINT end an agent gracefully', () => {
  for (const name of ['SIGTERM', 'SIGINT']) {
    assert.deepEqual(sent(name, 'run'), { ended: 0, stdout: `stop: ${name}`, stderr: '' });
  }
});

it('SIGHUP is ignored by an agent without a terminal, with a log line', () => {
  assert.deepEqual(sent('SIGHUP', 'run'), {
    ended: 0,
    stdout: 'stop: undefined',
    stderr: 'INFO  SIGHUP is ignored; a new configuration needs a restart',
  });
});

it('SIGHUP ends an agent on a terminal gracefully', () => {
  const env = { ...process.env, ARGS: 'SIGHUP run', PROGRAM };
  const command = `'${process.execPath}' --input-type=module -e "$PROGRAM"`;
  const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { env, encoding: 'utf8' });
  assert.equal(stdout.trim(), 'stop: SIGHUP');
});

it('each of these signals ends other commands at once', () => {
  for (const name of ['SIGHUP', 'SIGTERM', 'SIGINT']) {
    assert.equal(sent(name, '--once').ended, name);
  }
});

it('a warning of Node.js is a line of the log', () => {
  const program = `
    import { EventEmitter } from 'node:events';
    import { logWarnings } from ${JSON.stringify(import.meta.resolve('../../../../src/command/cli/signals.js'))};
    import { openLog } from ${JSON.stringify(import.meta.resolve('../../../../src/command/agent/log.js'))};
    logWarnings(openLog({ verbosity: 0, format: 'json' }));
    const emitter = new EventEmitter();
    for (let i = 0; i < 11; i++) emitter.on('x', () => {});
  `;
  const args = ['--input-type=module', '-e', program];
  const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const [line = '', ...rest] = stderr.trim().split('\n');
  assert.deepEqual(rest, []);
  const { level, msg, name } = JSON.parse(line);
  assert.deepEqual([level, msg, name], ['warn', 'warning of Node.js', 'MaxListenersExceededWarning']);
});
