// Descriptors are closed when an open fails and when a watch ends, not when JavaScript's objects are collected; and files
// that are given as a network namespace and are something else.
// Needs: conntrack, ipset
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openConntrack } from '../../src/kernel/conntrack/index.js';
import { openIpset } from '../../src/kernel/ipset/index.js';
import { openIpvs } from '../../src/kernel/ipvs/index.js';
import { openRtnetlink, watchRtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { throwOnFailure } from '../../src/kernel/shared/throwOnFailure.js';
import { PATIENCE } from '../laboratory/patience.js';
import { settled } from '../support/measures/settled.js';
import { makeNamespace } from '../support/namespaces/netns.js';
import { runWithout } from '../support/namespaces/runWithout.js';
import { ask } from '../support/namespaces/witnesses.js';
import { ROOT } from '../support/paths.js';

const ROUNDS = 100;

test('opens that fail leave no descriptor behind', () => {
  // conntrack asks the kernel something with the socket that it has opened, and is refused.
  const report = runWithout(
    'net_admin',
    ['kernel/conntrack/index.js'],
    `const { readdirSync } = await import('node:fs');
    const { settled } = await import('${ROOT}/dist/test/support/measures/settled.js');
    const codes = new Set();
    const open = () => openConntrack().catch(({ code }) => codes.add(code));
    await open();
    const count = () => readdirSync('/proc/self/fd').length;
    const before = await settled(count);
    for (let i = 0; i < ${ROUNDS}; i++) await open();
    console.log(JSON.stringify([[...codes], (await settled(count, before)) - before]));`,
  );
  assert.deepEqual(report, [['EPERM'], 0]);
});

test('a watch that ends leaves no descriptor behind', async () => {
  const start = async () => (await watchRtnetlink({}, () => {})).close();
  const count = () => readdirSync('/proc/self/fd').length;
  await start();
  const before = await settled(count);
  for (let i = 0; i < ROUNDS; i++) await start();
  assert.equal((await settled(count, before)) - before, 0);
});

test('a client and its watches that end leave no descriptor behind, with the namespace of the process or another', async () => {
  const namespace = makeNamespace();
  try {
    const count = () => readdirSync('/proc/self/fd').length;
    const run = async (netns?: string) => {
      await using rtnetlink = await openRtnetlink({ ...(netns && { netns }) });
      for await (const _ of rtnetlink.watch()) break;
    };
    await run();
    const before = await settled(count);
    for (let i = 0; i < ROUNDS; i++) await run(i % 2 === 0 ? namespace.path : undefined);
    assert.equal((await settled(count, before)) - before, 0);
  } finally {
    namespace.remove();
  }
});

test('64 descriptors are enough for a batch that refers to 600 paths of network namespaces', () => {
  const [namespace, other] = [makeNamespace(), makeNamespace()];
  const folder = mkdtempSync(join(tmpdir(), 'knp-paths-'));
  try {
    const script = `
      import { symlinkSync } from 'node:fs';
      import { openRtnetlink } from '${ROOT}/dist/src/kernel/rtnetlink/index.js';
      const rtnetlink = await openRtnetlink({ netns: '${namespace.path}' });
      const moves = [];
      for (let i = 0; i < 300; i++) {
        await rtnetlink.addLink('a' + i, 'veth', { peer: { name: 'b' + i } });
        for (const link of ['a' + i, 'b' + i]) {
          const netns = '${folder}/' + link;
          symlinkSync('${other.path}', netns);
          moves.push({ do: 'setLink', link, settings: { netns } });
        }
      }
      const errors = (await rtnetlink.apply(moves)).filter((error) => error !== undefined);
      console.log(errors.length, errors[0]?.message ?? '');`;
    const limited = ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath];
    const run = spawnSync('sh', [...limited, '--input-type=module', '-e', script], { encoding: 'utf8' });
    assert.equal(run.stderr, '');
    assert.equal(run.stdout, '0 \n');
    const links = namespace.run('ip', '-n', other.name, '-o', 'link', 'show', 'type', 'veth');
    assert.equal(links.trim().split('\n').length, 600);
  } finally {
    rmSync(folder, { recursive: true });
    other.remove();
    namespace.remove();
  }
});

test('both ends of a veth pair get to their network namespaces, however many others the batch refers to', async () => {
  const [namespace, first, second] = [makeNamespace(), makeNamespace(), makeNamespace()];
  const folder = mkdtempSync(join(tmpdir(), 'knp-paths-'));
  try {
    await using rtnetlink = await openRtnetlink({ netns: namespace.path });
    const pathOf = (of: string, i: number) => {
      const path = join(folder, String(i));
      symlinkSync(of, path);
      return path;
    };
    // One more path before each pair: some pair is at the limit of paths that are open at a time.
    const pairs = Array.from({ length: 20 }, (_, i) => i);
    const operations = pairs.map((i) => ({
      do: 'addLink' as const,
      name: `a${i}`,
      kind: 'veth' as const,
      settings: {
        netns: pathOf(first.path, 2 * i),
        peer: { name: `b${i}`, netns: pathOf(second.path, 2 * i + 1) },
      },
    }));
    const move = { do: 'setLink' as const, link: 'c', settings: { netns: pathOf(first.path, 100) } };
    await rtnetlink.addLink('c', 'veth', { peer: { name: 'd' } });
    throwOnFailure(await rtnetlink.apply([move, ...operations]));
    const namesIn = ({ name }: typeof first) =>
      [...ask(name, 'ip', '-o', 'link', 'show', 'type', 'veth').matchAll(/^\d+: (\w+)/gm)].map(
        ([, link]) => link,
      );
    assert.deepEqual(namesIn(first).sort(), ['c', ...pairs.map((i) => `a${i}`)].sort());
    assert.deepEqual(namesIn(second).sort(), pairs.map((i) => `b${i}`).sort());
  } finally {
    rmSync(folder, { recursive: true });
    for (const each of [namespace, first, second]) each.remove();
  }
});

test('a FIFO is not a network namespace, and nothing waits for its writer', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-fifo-'));
  const netns = join(folder, 'fifo');
  execFileSync('mkfifo', [netns]);
  try {
    const opens = [openConntrack, openIpset, openIpvs, openRtnetlink];
    for (const open of opens) await assert.rejects(open({ netns }), { code: 'EINVAL', target: netns });
    await assert.rejects(
      watchRtnetlink({ netns }, () => {}),
      { code: 'EINVAL', target: netns },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('invalid options are refused', async () => {
  const options = { netNs: '/run/netns/blue' } as never;
  for (const open of [openConntrack, openIpset, openIpvs, openRtnetlink]) {
    await assert.rejects(open(options), /netNs is not an option, found '\/run\/netns\/blue'/);
  }
  await assert.rejects(
    watchRtnetlink(options, () => {}),
    /^TypeError: rtnetlink.watch: netNs is not an option/,
  );
});

test('without CAP_NET_ADMIN every deletion of a batch is refused at once', () => {
  const namespace = makeNamespace();
  try {
    // The socket is opened with the capability, which then is given up.
    const script = `
      import { openConntrack } from '${ROOT}/dist/src/kernel/conntrack/index.js';
      const conntrack = await openConntrack({ netns: '${namespace.path}', timeout: ${2 * PATIENCE} });
      process.seteuid(65534);
      const tuple = { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 1, destinationPort: 2 };
      const flows = [1, 2, 3].map((sourcePort) => ({ protocol: 'udp', original: { ...tuple, sourcePort } }));
      console.log((await conntrack.deleteFlows(flows)).map((error) => error?.code).join());`;
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: PATIENCE, // below that of the client: an answer that is waited for is too late
    });
    assert.equal(run.stderr, '');
    assert.equal(run.stdout, 'EPERM,EPERM,EPERM\n');
  } finally {
    namespace.remove();
  }
});
