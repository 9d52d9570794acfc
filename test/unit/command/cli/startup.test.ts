// The libraries that a start loads: one pass does not load those that only the agent needs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const RUN = fileURLToPath(new URL('../../../../src/command/cli/run.js', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../../../src/command/cli/program.js', import.meta.url));
const AGENT = fileURLToPath(new URL('../../../../src/command/agent/agent.js', import.meta.url));

/** Reports each loaded ES module. */
const HOOKS = `
  let port;
  export const initialize = (data) => { port = data; };
  export const load = (url, context, next) => { port.postMessage(url); return next(url, context); };`;

/** Module → the npm packages that it loads: it is loaded once. */
const loadedBy = new Map<string, string[]>();

/** The npm packages that a new process loads when it imports the module. */
function packagesLoadedBy(module: string): string[] {
  const known = loadedBy.get(module);
  if (known) return known;
  const script = `
    import { createRequire, register } from 'node:module';
    import { setTimeout } from 'node:timers/promises';
    const { port1, port2 } = new MessageChannel();
    const urls = [];
    port1.on('message', (url) => urls.push(url)).unref();
    register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(HOOKS)}`)}, import.meta.url, {
      data: port2, transferList: [port2] });
    await import(${JSON.stringify(module)});
    for (let seen = -1; seen < urls.length; await setTimeout(20)) seen = urls.length;
    console.log(JSON.stringify([...urls, ...Object.keys(createRequire(import.meta.url).cache)]));`;
  const files = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
  ) as string[];
  const packages = files.map((file) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? '');
  const distinct = [...new Set(packages)];
  loadedBy.set(module, distinct);
  return distinct;
}

test('a single pass loads neither the metrics library nor the formatter of logs', () => {
  const loaded = packagesLoadedBy(RUN);
  assert.ok(loaded.includes('pino'), `loaded: ${loaded}`);
  assert.deepEqual(
    loaded.filter((name) => ['prom-client', 'pino-pretty'].includes(name)),
    [],
  );
});

test('the agent loads none of the libraries of the other commands', () => {
  for (const module of [RUN, AGENT]) {
    const loaded = packagesLoadedBy(module);
    assert.deepEqual(
      loaded.filter((name) => ['commander', 'string-width'].includes(name)),
      [],
    );
  }
  assert.ok(packagesLoadedBy(PROGRAM).includes('commander'));
});

test('the agent loads the metrics library, but neither the Kubernetes client nor optional packages', () => {
  const loaded = packagesLoadedBy(AGENT);
  assert.ok(loaded.includes('prom-client'), `loaded: ${loaded}`);
  assert.deepEqual(
    loaded.filter((name) => ['@kubernetes/client-node', 'https-proxy-agent', 'yaml'].includes(name)),
    [],
  );
});

test('a load of the Kubernetes client is detected', () => {
  assert.ok(packagesLoadedBy('@kubernetes/client-node').includes('@kubernetes/client-node'));
});

/** The modules of Node that a new process has loaded after it imported these modules. */
function nodeModulesLoadedBy(...modules: string[]): string[] {
  const script = `
    for (const module of ${JSON.stringify(modules)}) await import(module);
    console.log(JSON.stringify(process.moduleLoadList));`;
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  return (JSON.parse(loaded) as string[]).map((name) => name.replace('NativeModule ', ''));
}

test('the agent loads no module of Node that only profiles, terminals or several processes need', () => {
  const needless = ['inspector', 'readline', 'repl', 'cluster', 'http2', 'wasi'];
  const loaded = nodeModulesLoadedBy(RUN, AGENT);
  assert.ok(loaded.includes('https'), `loaded: ${loaded}`);
  assert.deepEqual(
    loaded.filter((name) => needless.includes(name)),
    [],
  );
  assert.ok(nodeModulesLoadedBy('node:inspector').includes('inspector'), 'a load of one is detected');
});
