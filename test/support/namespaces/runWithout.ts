// Programs that lack a capability.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { ROOT } from '../paths.js';

/**
 * Runs a module with this capability removed; returns its output, as JSON.
 *
 * @param sources modules below src/, of which it may use every export
 */
export function runWithout(capability: string, sources: readonly string[], script: string): unknown {
  const bare = [`--bounding-set=-${capability}`, `--inh-caps=-${capability}`, process.execPath];
  const imports = sources.map((path, i) => `import * as m${i} from '${ROOT}/dist/src/${path}';`).join('\n');
  const all = `Object.assign(globalThis, ${sources.map((_, i) => `m${i}`).join(', ')});`;
  const run = spawnSync('setpriv', [...bare, '--input-type=module', '-e', `${imports}\n${all}\n${script}`], {
    encoding: 'utf8',
    cwd: ROOT,
  });
  assert.equal(run.stderr, '');
  return JSON.parse(run.stdout);
}
