// The libraries that a start loads: a single pass does not load those that only an agent with servers needs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const RUN = fileURLToPath(new URL('../../../src/cli/run.js', import.meta.url));
const AGENT = fileURLToPath(new URL('../../../src/agent/agent.js', import.meta.url));

/** The packages below node_modules from which a fresh process that imports the module has loaded CommonJS files. */
function packagesLoadedBy(module: string): string[] {
  const script = `
    import { createRequire } from 'node:module';
    await import(${JSON.stringify(module)});
    console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)));`;
  const files = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
  ) as string[];
  return [...new Set(files.map((file) => file.split('/node_modules/')[1]?.split('/')[0] ?? ''))];
}

test('a single pass loads neither the metrics library nor the formatter of logs', () => {
  const loaded = packagesLoadedBy(RUN);
  assert.ok(loaded.includes('pino'), `loaded: ${loaded}`);
  assert.deepEqual(
    loaded.filter((name) => ['prom-client', 'pino-pretty'].includes(name)),
    [],
  );
});

test('the agent loads the metrics library', () => {
  assert.ok(packagesLoadedBy(AGENT).includes('prom-client'));
});
