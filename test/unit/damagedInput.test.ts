// Damaged manifests and a programmed kernel: an unreadable file removes no working Service. Each damage is tested at
// the start of an agent, with --once, and while an agent runs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pino } from 'pino';
import { type PassParts, runOnce, runPreview } from '../../src/command/cli/passes.js';
import { planLines } from '../../src/command/cli/plan.js';
import { describeProblem } from '../../src/kernel/errors.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../src/proxy/modes/ipvs/index.js';
import { createProxy } from '../../src/proxy/proxy.js';
import { nodeFacts } from '../../src/proxy/services/nodeFacts.js';
import { LARGEST } from '../../src/proxy/source/followedFile.js';
import { ManifestSource } from '../../src/proxy/source/manifests.js';
import { decodeConfiguration } from '../support/clusters/decodeConfiguration.js';
import { service, slice } from '../support/clusters/manifests.js';
import { sample } from '../support/extent.js';

const OPTIONS = { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' };
const HOST = [{ link: 'eth0', address: '192.168.50.10', prefix: 24, scope: 'global', flags: [] }] as const;

/** A Service with entries in nearly every set, a DROP rule for the node's own traffic, and draining endpoints. */
const WEB =
  service(
    'web',
    '10.96.0.1',
    `  type: LoadBalancer
  externalIPs: [192.0.2.1]
  loadBalancerSourceRanges: [203.0.113.0/24]
  healthCheckNodePort: 32000
  externalTrafficPolicy: Local
status: {loadBalancer: {ingress: [{ip: 198.51.100.1}]}}`,
  ) + slice('web', '10.244.0.1', '10.244.0.2');
/** A second file: a Service whose endpoints are in two files. */
const OTHER = service('other', '10.96.0.2') + slice('other', '10.244.0.3');
const REST = slice('other', '10.244.0.4').replace('name: other,', 'name: other-rest,');
const MORE = service('more', '10.96.0.3') + slice('more', '10.244.0.5');

interface Damage {
  readonly name: string;
  /** Damages the file at this path, which contains WEB and REST. */
  readonly make: (path: string) => void;
  /** The reported problem. */
  readonly says: RegExp;
}

const replace = (path: string, contents: string | Buffer) => {
  writeFileSync(`${path}.new`, contents);
  renameSync(`${path}.new`, path);
};
const contents = (name: string, text: string | Buffer, says: RegExp): Damage => ({
  name,
  make: (path) => replace(path, text),
  says,
});
const instead = (name: string, make: (path: string) => void, says: RegExp): Damage => ({
  name,
  make: (path) => {
    unlinkSync(path);
    make(path);
  },
  says,
});
const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]']
  .concat([...'bcdefgh'].map((key, i) => `${key}: &${key} [${Array(9).fill(`*${'abcdefg'[i]}`).join(', ')}]`))
  .join('\n');

const DAMAGES: readonly Damage[] = [
  instead(
    'a dangling link',
    (path) => symlinkSync(`${path}.gone`, path),
    /web\.yaml: file: contents: must be readable: ENOENT/,
  ),
  instead('a link to itself', (path) => symlinkSync(path, path), /must be readable: ELOOP/),
  instead('a folder', (path) => mkdirSync(path), /must be readable: it is not a regular file/),
  instead(
    'a pipe without a writer',
    (path) => execFileSync('mkfifo', [path]),
    /must be readable: it is not a regular file/,
  ),
  contents('no contents', '', /must be readable: it is empty; remove the file to remove its objects/),
  contents('blank contents', '\n \n', /must be readable: it is empty/),
  contents(
    'half a document',
    WEB.slice(0, WEB.indexOf('203.0.113')),
    /web\.yaml: text: line \d+, column \d+: /,
  ),
  contents(
    'text that is not an object',
    'apiVers',
    /web\.yaml: document: : must be an object, found "apiVers"/,
  ),
  contents('an object without a kind', 'apiVersion: v1\n', /web\.yaml: document: kind: must be text/),
  contents('aliases of aliases', bomb, /web\.yaml: text: line 1, column 1: Excessive alias count/),
  contents(
    'a key twice in YAML',
    WEB.replace('spec:', 'kind: Service\nspec:'),
    /web\.yaml: text: line \d+, column \d+: Map keys must be unique/,
  ),
  contents(
    'a key twice in JSON',
    '{"apiVersion": "v1", "kind": "Service",\n "metadata": {"name": "web"}, "kind": "Node"}',
    /web\.yaml: text: line 2: must have each key of an object once: "kind" is there twice/,
  ),
  contents(
    'an object without a name',
    WEB.replace('name: web}', 'nome: web}'),
    /nameless Service: metadata\.name: must not be empty/,
  ),
  contents(
    'a Service of no known type',
    WEB.replace('LoadBalancer', 'Loadbalancer'),
    /Service demo\/web: spec\.type: must be ClusterIP, .*found "Loadbalancer"/,
  ),
  contents(
    'an apiVersion that no object of the kind has',
    WEB.replace('apiVersion: v1', 'apiVersion: v2'),
    /Service: apiVersion: must be v1, found "v2"/,
  ),
  contents(
    'one bad field',
    `${WEB}${REST}`.replace('  externalIPs', '  sessionAffinity: Sometimes\n  externalIPs'),
    /Service demo\/web: spec\.sessionAffinity: must be None or ClientIP.*, found "Sometimes"/,
  ),
  contents('bytes that are not UTF-8', Buffer.from([0x6b, 0xff, 0x3a]), /must be readable: it is not UTF-8/),
  contents('NUL bytes', `${WEB}\0\0\0`, /must be readable: it has NUL bytes/),
  contents(
    'a megabyte on one line',
    `{"apiVersion": "v1", "kind": ${'x'.repeat(2 ** 20)}`,
    /web\.yaml: text: line 1, column \d+: .{1,220}$/,
  ),
  instead(
    'more bytes than are read',
    (path) => {
      writeFileSync(path, WEB);
      truncateSync(path, LARGEST + 1);
    },
    /must be readable: it has \d+ bytes, more than \d+/,
  ),
];

/** The state of Services in the kernel, as lines of the tools' output. */
function stateOf({ ipvs, ipset, iptables, rtnetlink }: FakeKernel): Set<string> {
  const text = [ipvs.dump(), ipset.dump(), rtnetlink.dump('kube-ipvs0'), iptables.dump(4), iptables.dump(6)];
  return new Set(text.join('').split('\n'));
}

function assertKept(kernel: FakeKernel, before: ReadonlySet<string>): void {
  const now = stateOf(kernel);
  assert.deepEqual(
    [...before].filter((line) => !now.has(line)),
    [],
    'lines that are gone',
  );
}

/** A folder of valid manifests, and a kernel that is programmed from it. */
async function setUp(test: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'knp-damaged-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  const web = join(folder, 'web.yaml');
  writeFileSync(web, WEB + REST);
  writeFileSync(join(folder, 'other.yaml'), OTHER);
  const kernel = new FakeKernel();
  assert.equal((await passOn(kernel, folder, runOnce)).status, 0);
  const state = stateOf(kernel);
  for (const line of [
    '-a -t 10.96.0.2:80 -r 10.244.0.4:8080 -m -w 1',
    'add KUBE-LOAD-BALANCER 198.51.100.1,tcp:80',
  ]) {
    assert.ok(state.has(line), `${line} is not among\n${[...state].join('\n')}`);
  }
  assert.ok([...state].some((line) => /--vaddr 198\.51\.100\.1 --vport 80 -j DROP/.test(line)));
  return { folder, web, kernel, state };
}

const printPlan = (parts: PassParts) =>
  runPreview(parts, (preview) =>
    parts.print(`${planLines(preview, { wide: false, columns: 80, style: (_, text) => text }).join('\n')}\n`),
  );

/** ipvs mode on a kernel in memory, as a command opens it. */
function openedOn(kernel: FakeKernel): PassParts['opened'] {
  return {
    mode: createIpvsMode(kernel, OPTIONS),
    kernel: { ...kernel, rtnetlink: { ...kernel.rtnetlink, ...listingsOf(kernel) } },
  };
}

const listingsOf = ({ rtnetlink }: FakeKernel) => ({
  listAddresses: async () => [...HOST, ...(await rtnetlink.listAddresses())],
  listLinks: () => rtnetlink.listLinks(),
});

/** Runs a command that makes one pass. */
async function passOn(kernel: FakeKernel, path: string, command: (parts: PassParts) => Promise<number>) {
  const logged: string[] = [];
  const printed: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => logged.push(JSON.parse(line).msg) });
  const { configuration } = decodeConfiguration({});
  const status = await command({
    opened: openedOn(kernel),
    source: new ManifestSource({ path, follow: false }),
    node: nodeFacts('node-a'),
    configuration,
    log,
    print: (text) => printed.push(text),
  });
  return { status, logged: logged.join('\n'), printed: printed.join('') };
}

/** A running proxy, and its reports. */
async function run(test: TestContext, kernel: FakeKernel, path: string) {
  const reported: string[] = [];
  const failures: unknown[] = [];
  let unread: readonly string[] = [];
  let passes = 0;
  const proxy = createProxy({
    source: new ManifestSource({ path }),
    mode: createIpvsMode(kernel, OPTIONS),
    rtnetlink: listingsOf(kernel),
    watchHost: async () => ({ close() {} }),
    nodeName: 'node-a',
    events: {
      synced: (summary) => {
        passes++;
        failures.push(...summary.failures);
      },
      problems: (problems) => reported.push(...problems.map(describeProblem)),
      incomplete: (names) => {
        unread = names;
      },
      failed: (error) => failures.push(error),
      retrying: () => {},
    },
  });
  test.after(() => proxy.stop());
  await proxy.start();
  const until = async (what: string, reached: () => boolean) => {
    const deadline = Date.now() + 10_000;
    while (!reached()) {
      assert.ok(Date.now() < deadline, `${what} did not happen; reported: ${reported.join('\n')}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.deepEqual(failures, []);
  };
  await until('the first pass', () => passes > 0);
  return { reported, unread: () => unread, passes: () => passes, until };
}

type Running = Awaited<ReturnType<typeof run>>;

const has = (kernel: FakeKernel, line: string) => stateOf(kernel).has(line);

/**
 * While a file is damaged, changes of other files are applied. After it is readable, its removed objects are removed.
 */
async function goesOn(
  { kernel, folder, web, state }: Awaited<ReturnType<typeof setUp>>,
  { reported, until, unread }: Running,
  { says }: Damage,
): Promise<void> {
  await until('the report', () => reported.some((line) => says.test(line)));
  assert.ok(
    reported.every((line) => line.length < 600),
    'no report is long',
  );
  replace(join(folder, 'more.yaml'), MORE);
  await until('the new Service', () => has(kernel, '-a -t 10.96.0.3:80 -r 10.244.0.5:8080 -m -w 1'));
  assertKept(kernel, state);
  rmSync(web, { recursive: true });
  replace(web, '# nothing any more\n');
  await until('the removal', () => !has(kernel, '-A -t 10.96.0.1:80 -s rr'));
  await until(
    'the removal of an endpoint',
    () => !has(kernel, '-a -t 10.96.0.2:80 -r 10.244.0.4:8080 -m -w 1'),
  );
  assert.deepEqual(unread(), []);
  // Entries are removed in the same pass, after the virtual services.
  const removed = /198\.51\.100\.1|192\.0\.2\.1|10\.244\.0\.[124]/;
  await until('the removal of everything else', () => !removed.test([...stateOf(kernel)].join('\n')));
  assert.ok(has(kernel, '-a -t 10.96.0.2:80 -r 10.244.0.3:8080 -m -w 1'));
}

for (const damage of sample(DAMAGES, 3)) {
  describe(`a damaged file: ${damage.name}`, { concurrency: true }, () => {
    const partly = damage.name === 'one bad field';

    it('removes nothing at the start', async (test) => {
      const parts = await setUp(test);
      damage.make(parts.web);
      const running = await run(test, parts.kernel, parts.folder);
      assertKept(parts.kernel, parts.state);
      assert.deepEqual(running.unread(), partly ? [] : ['web.yaml']);
      await goesOn(parts, running, damage);
    });

    it('removes nothing while the proxy runs', async (test) => {
      const parts = await setUp(test);
      const running = await run(test, parts.kernel, parts.folder);
      damage.make(parts.web);
      await goesOn(parts, running, damage);
    });

    it('removes nothing with --once, which exits with status 1', async (test) => {
      const { kernel, folder, web, state } = await setUp(test);
      damage.make(web);
      replace(join(folder, 'more.yaml'), MORE);
      const plan = await passOn(kernel, folder, printPlan);
      assert.match(plan.printed, /^ {2}\+ virtual service 10\.96\.0\.3:80\/tcp rr$/m);
      assert.doesNotMatch(plan.printed, /^ *- /m);
      const once = await passOn(kernel, folder, runOnce);
      assert.match(once.logged, damage.says);
      assertKept(kernel, state);
      assert.ok(has(kernel, '-A -t 10.96.0.3:80 -s rr'));
      const again = await passOn(kernel, folder, printPlan);
      assert.deepEqual(
        [plan.status, once.status, again.status],
        partly ? [1, 0, 0] : [2, 1, 2],
        `${plan.printed}${once.printed}`,
      );
      if (partly) return;
      const kept = 'objects that are missing from unreadable manifests are kept: web.yaml\n';
      assert.equal(again.printed, kept);
      assert.ok(once.printed.endsWith(kept), once.printed);
    });
  });
}

it('a file that can be read again has more Services than are stored at once: none is removed meanwhile', async (test) => {
  const { folder, web, kernel } = await setUp(test);
  const large = Array.from({ length: 300 }, (_, i) => {
    const address = `10.97.${i >> 8}.${i & 255}`;
    return service(`s${i}`, address) + slice(`s${i}`, `10.245.${i >> 8}.${i & 255}`);
  }).join('');
  writeFileSync(web, WEB + REST + large);
  assert.equal((await passOn(kernel, folder, runOnce)).status, 0);
  const state = stateOf(kernel);

  replace(web, '{');
  const { until, unread, passes } = await run(test, kernel, folder);
  assert.equal(unread().length, 1);
  const apply = kernel.ipvs.apply.bind(kernel.ipvs);
  const removed: string[] = [];
  kernel.ipvs.apply = (operations, options) => {
    removed.push(...operations.map((operation) => operation.do).filter((verb) => /^delete/.test(verb)));
    return apply(operations, options);
  };
  replace(web, WEB + REST + large);
  await until('the end of the damage', () => unread().length === 0);
  const before = passes();
  await until('a pass after it', () => passes() > before);
  assertKept(kernel, state);
  assert.deepEqual(removed, []);
});
