// The environment of ipset: network namespaces, a machine without libipset or /etc/protocols, a process without privileges.
// Needs: ipset
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { test } from 'node:test';
import { type IpsetCapabilities, openIpset, type SetDefinition } from '../../src/kernel/ipset/index.js';
import { AS_NOBODY } from '../support/namespaces/asNobody.js';
import { exists, savedEntries, temporary, ipset as tool } from '../support/tables/ipset.js';

const SET: SetDefinition = { name: 'knp-a', type: 'hash:ip,port', family: 4 };
const INDEX = new URL('../../src/kernel/ipset/index.js', import.meta.url).href;

test('a named network namespace is written and read, and no other', async (t) => {
  execFileSync('ip', ['netns', 'add', 'knp-ipset']);
  t.after(() => execFileSync('ip', ['netns', 'del', 'knp-ipset']));
  const home = readlinkSync('/proc/thread-self/ns/net');
  const there = await openIpset({ netns: '/run/netns/knp-ipset' });
  const here = await openIpset();
  const entry = { address: '10.0.0.1', protocol: 'tcp', port: 80 } as const;

  await there.create(SET);
  await there.add(SET, entry);
  const saved = execFileSync('ip', ['netns', 'exec', 'knp-ipset', 'ipset', 'save'], { encoding: 'utf8' });
  assert.match(saved, /^add knp-a 10\.0\.0\.1,tcp:80$/m);
  assert.deepEqual((await there.get('knp-a'))?.entries, [entry]);

  assert.equal(exists('knp-a'), false);
  assert.equal(await here.get('knp-a'), undefined);
  await assert.rejects(here.add(SET, entry), { code: 'ENOENT' });
  // libipset remembers types of sets by name, for the whole process.
  temporary(t, 'knp-a');
  const net: SetDefinition = { name: 'knp-a', type: 'hash:net', family: 6 };
  await here.create(net);
  await here.add(net, { address: 'fd00::', prefix: 16 });
  await there.add(SET, { ...entry, port: 81 });
  assert.deepEqual(savedEntries('knp-a'), ['fd00::/16']);
  assert.equal((await there.get('knp-a'))?.entries.length, 2);
  assert.equal(readlinkSync('/proc/thread-self/ns/net'), home);
  there.close();
  here.close();
});

test('a path that is missing, or no network namespace', async () => {
  await assert.rejects(openIpset({ netns: '/run/netns/knp-none' }), {
    code: 'ENOENT',
    operation: 'ipset.open',
    target: '/run/netns/knp-none',
  });
  await assert.rejects(openIpset({ netns: '/etc/hostname' }), { code: 'EINVAL', operation: 'ipset.open' });
});

/**
 * Runs `body` in a process of its own, after `preparation` in a mount namespace of its own, by the program `launcher` if there is
 * one; returns its output, as JSON.
 */
function runApart(preparation: string, body: string, launcher: readonly string[] = []): unknown {
  const script = `
    const { openIpset } = await import(${JSON.stringify(INDEX)});
    const outcome = (promise) => promise.then((value) => value ?? 'done', ({ code, hint, message }) => ({ code, hint, message }));
    const SET = ${JSON.stringify(SET)};
    ${body}`;
  const command = `${preparation}\nexec "$@"`;
  const node = [...launcher, process.execPath, '--input-type=module', '--eval', script];
  const done = spawnSync('unshare', ['--mount', 'sh', '-ec', command, 'sh', ...node], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  return JSON.parse(done.stdout);
}

// Lays a writable layer over the folder of the library, in memory, and takes it out.
const WITHOUT_LIBRARY = `
  library=$(ldconfig -p | sed -n 's/.*libipset\\.so\\.13 .*=> //p' | head -n 1)
  folder=$(dirname "$(readlink -f "$library")")
  mount -t tmpfs none /mnt
  mkdir /mnt/upper /mnt/work
  mount -t overlay -o "lowerdir=$folder,upperdir=/mnt/upper,workdir=/mnt/work" none "$folder"
  rm "$folder"/libipset.so.13*`;

test('without libipset sets are listed, and the error of writing names the missing package', (t) => {
  temporary(t, 'knp-a');
  tool('create', 'knp-a', 'hash:ip,port');
  tool('add', 'knp-a', '10.0.0.1,tcp:80');
  const entry = `{ address: '10.0.0.2', protocol: 'tcp', port: 80 }`;
  const body = `
    const ipset = await openIpset();
    const results = await ipset.apply([{ do: 'add', set: SET, entry: ${entry} }, { do: 'flush', name: 'knp-a' }]);
    console.log(JSON.stringify({
      batch: results.map(({ code, hint }) => ({ code, hint })),
      add: await outcome(ipset.add(SET, ${entry})),
      tested: await outcome(ipset.test(SET, ${entry})),
      names: (await ipset.list()).map(({ name }) => name),
      entries: (await ipset.get('knp-a')).entries,
      capabilities: await ipset.capabilities(),
    }));`;
  const { batch, add, tested, names, entries, capabilities } = runApart(WITHOUT_LIBRARY, body) as Record<
    string,
    unknown[]
  > & {
    add: { code: string; hint: string; message: string };
    tested: { code: string };
    capabilities: IpsetCapabilities;
  };
  const hint = 'install libipset, version 7 (Debian and Ubuntu: apt-get install libipset13)';
  assert.deepEqual(batch, [
    { code: 'ERR_LIBRARY', hint },
    { code: 'ERR_LIBRARY', hint },
  ]);
  assert.match(
    add.message,
    /^ERR_LIBRARY: ipset\.add knp-a 10\.0\.0\.2,tcp:80: libipset\.so\.13: cannot open/,
  );
  assert.equal(tested.code, 'ERR_LIBRARY');
  assert.deepEqual(
    [capabilities.library, capabilities.hint, capabilities.protocol],
    [undefined, hint, [6, 7]],
  );
  assert.ok(capabilities.types.some(({ name }) => name === 'hash:ip'));
  assert.ok(names?.includes('knp-a'));
  assert.deepEqual(entries, [{ address: '10.0.0.1', protocol: 'tcp', port: 80 }]);
  assert.deepEqual(savedEntries('knp-a'), ['10.0.0.1,tcp:80']);
});

test('a machine without /etc/protocols', (t) => {
  temporary(t, 'knp-a');
  const body = `
    const ipset = await openIpset();
    console.log(JSON.stringify(await ipset.apply([
      { do: 'create', set: SET },
      ...['tcp', 'udp', 'sctp'].map((protocol) => ({ do: 'add', set: SET, entry: { address: '10.0.0.1', protocol, port: 1 } })),
    ])));`;
  const hide = '[ ! -e /etc/protocols ] || mount --bind /dev/null /etc/protocols';
  assert.deepEqual(runApart(hide, body), [null, null, null, null]);
  assert.deepEqual(savedEntries('knp-a'), ['10.0.0.1,sctp:1', '10.0.0.1,tcp:1', '10.0.0.1,udp:1']);
});

test('in a process without privileges the error names the capability, and later calls work', () => {
  const body = `
    const ipset = await openIpset();
    const calls = [ipset.list(), ipset.get('knp-a'), ipset.create(SET), ipset.flush('knp-a'), ipset.swap('knp-a', 'knp-b'),
      ipset.add(SET, { address: '10.0.0.1', protocol: 'tcp', port: 80 })];
    console.log(JSON.stringify(await Promise.all(calls.map(outcome))));`;
  const outcomes = runApart('', body, AS_NOBODY) as { code: string; hint: string }[];
  assert.equal(outcomes.length, 6);
  for (const { code, hint } of outcomes) {
    assert.equal(code, 'EPERM');
    assert.equal(hint, 'needs CAP_NET_ADMIN over the network namespace, which this process lacks');
  }
});
