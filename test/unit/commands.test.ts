// The commands of package.json, and those of `npm run task`: few, and each that a file names exists.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { ROOT } from '../support/paths.js';

/** With those of the life cycle of npm. */
const MOST = 12;

const scripts = Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts);
const task = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['scripts/task.mjs', ...args], { cwd: ROOT, encoding: 'utf8' });
const tasks = [...task().stdout.matchAll(/^ {2}(\S+) +\S/gm)].map(([, name = '']) => name);

/** The commands in a text that there are not. */
function unknownCommands(text: string): string[] {
  const commands = text.matchAll(
    /\bnpm run (?:--silent )?([a-z]+(?::[a-z]+)?)(?: -- ([a-z]+(?:[:-][a-z]+)*))?/g,
  );
  return [...commands].flatMap(([command, script = '', first]) =>
    scripts.includes(script) && (script !== 'task' || first === undefined || tasks.includes(first))
      ? []
      : [command],
  );
}

it('package.json has at most twelve commands, and npm run task lists the others', () => {
  assert.ok(scripts.length <= MOST, `${scripts}`);
  assert.ok(tasks.length > 10, `${tasks}`);
});

it('each command that a file of the checkout names exists', () => {
  const options = ['-I', '--untracked', 'npm run ', '--', ':!test/unit/commands.test.ts'];
  const mentions = execFileSync('git', ['grep', ...options], { cwd: ROOT, encoding: 'utf8' });
  assert.deepEqual(
    mentions.split('\n').flatMap((line) => unknownCommands(line).map((command) => `${line}: ${command}`)),
    [],
  );
});

it('a command that does not exist is found', () => {
  const text =
    'npm run build && npm run nonesuch, npm run --silent task -- api, npm run task -- nonesuch --check, npm run vm -- true';
  assert.deepEqual(unknownCommands(text), ['npm run nonesuch', 'npm run task -- nonesuch']);
});

it('a task gets its arguments, and its exit status is that of npm run task', () => {
  const { status, stderr } = task('prebuild', '--target', 'nonesuch');
  assert.equal(status, 1);
  assert.match(stderr, /^prebuild: /);
  assert.equal(task('sbom', '--help').status, 0);
  const unknown = task('nonesuch');
  assert.equal(unknown.status, 1);
  assert.equal(unknown.stderr, 'task: there is no task nonesuch; npm run task lists them\n');
});
