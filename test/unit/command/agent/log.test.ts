// The output of the log: its two formats, with and without a terminal, and on a full disk.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { describe, it } from 'node:test';
import { PATIENCE } from '../../../laboratory/patience.js';

const LOG = JSON.stringify(import.meta.resolve('../../../../src/command/agent/log.js'));

/** A program that logs with these options and exits. */
function logging(options: { verbosity: number; format: string }, ...lines: string[]): string {
  const statements = lines.map((line) => `log.${line};`).join(' ');
  return `import { openLog } from ${LOG}; const log = openLog(${JSON.stringify(options)}); ${statements} process.exit(0);`;
}

/** Its output on standard error without a terminal. */
function written(...args: Parameters<typeof logging>): string[] {
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', logging(...args)], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stderr.trimEnd().split('\n');
}

/** Its output on a terminal. The environment is reduced, because Node disables colours if CI is set. */
function shown(environment: NodeJS.ProcessEnv, ...args: Parameters<typeof logging>): string {
  const command = `'${process.execPath}' --input-type=module -e "$PROGRAM"`;
  const env = { PATH: process.env['PATH'], TERM: 'xterm', ...environment, PROGRAM: logging(...args) };
  const { status, stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { env, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
  return stdout;
}

const LINES = [
  "info({ full: true, services: 3, node: 'a b', phases: { addServers: 2 } }, 'synced')",
  "warn('mode is blank')",
  "error({ server: 'health', err: 'listen EADDRINUSE' }, 'a server\\ndoes not answer')",
  "debug('not shown')",
];

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /;

describe('the format text', () => {
  it('has one line with an RFC 3339 time for each record, without colours, if standard error is not a terminal', () => {
    const lines = written({ verbosity: 0, format: 'text' }, ...LINES);
    for (const line of lines) assert.match(line, TIME);
    assert.deepEqual(
      lines.map((line) => line.replace(TIME, '')),
      [
        'INFO  synced full=true services=3 node="a b" phases={"addServers":2}',
        'WARN  mode is blank',
        'ERROR a server\\ndoes not answer server="health" err="listen EADDRINUSE"',
      ],
    );
  });

  it('has colours on a terminal, and none with NO_COLOR', () => {
    const options = { verbosity: 0, format: 'text' };
    const coloured = shown({}, options, "warn('mode is blank')");
    assert.ok(coloured.includes('Z \u001b[33mWARN \u001b[0m mode is blank'), coloured);
    const plain = shown({ NO_COLOR: '1' }, options, "warn('mode is blank')");
    assert.match(plain, /Z WARN {2}mode is blank\r?\n/);
    assert.equal(plain.includes('\u001b'), false);
  });
});

describe('the format json', () => {
  it("has the fields of klog's JSON: ts in ms, v except for errors, msg, err", () => {
    const before = Date.now();
    const records = written({ verbosity: 4, format: 'json' }, ...LINES).map((line) => JSON.parse(line));
    for (const { ts } of records) assert.ok(ts >= before && ts <= Date.now(), `${ts}`);
    assert.deepEqual(
      records.map(({ ts: _, ...record }) => record),
      [
        {
          level: 'info',
          v: 0,
          full: true,
          services: 3,
          node: 'a b',
          phases: { addServers: 2 },
          msg: 'synced',
        },
        { level: 'warn', v: 0, msg: 'mode is blank' },
        { level: 'error', server: 'health', err: 'listen EADDRINUSE', msg: 'a server\ndoes not answer' },
        { level: 'debug', v: 4, msg: 'not shown' },
      ],
    );
  });

  it('is JSON on a terminal too', () => {
    const [line = ''] = shown({}, { verbosity: 0, format: 'json' }, "info('starting')").trim().split('\n');
    assert.equal(JSON.parse(line).msg, 'starting');
  });
});

it('a slow reader gets all lines that were written before the process ended', () => {
  const program = logging({ verbosity: 0, format: 'json' }, "info('x'.repeat(1_000_000))", "info('last')");
  // The pipe is nonblocking, because Node.js opened its stream.
  const script = `"$0" --input-type=module -e "process.stderr; $PROGRAM" 2>&1 >/dev/null | (sleep 0.2; cat)`;
  const env = { ...process.env, PROGRAM: program };
  const { stdout } = spawnSync('bash', ['-c', script, process.execPath], { env, encoding: 'utf8' });
  const lines = stdout.trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg.length),
    [1_000_000, 4],
  );
});

it('a full disk loses lines, but does not end the process or grow its memory', () => {
  const program = `
    import { openLog } from ${LOG};
    const log = openLog({ verbosity: 0, format: 'text' });
    const line = 'x'.repeat(1000);
    log.info(line);
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 50_000; i++) log.info(line);
    setTimeout(() => console.log((process.memoryUsage().rss - before) / 1e6), 50);
  `;
  const full = openSync('/dev/full', 'w');
  const stdio = ['ignore', 'pipe', full] as const;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    stdio: [...stdio],
    encoding: 'utf8',
    timeout: PATIENCE,
  });
  closeSync(full);
  assert.equal(status, 0);
  const grown = Number(stdout);
  assert.ok(stdout !== '' && grown < 40, `50 MB of lines took ${stdout} MB`);
});
