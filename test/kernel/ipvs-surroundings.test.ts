// The requirements of IPVS: a namespace, privileges, the module ip_vs, and an addon that refuses wrong arguments.
// Needs: ipvs, dummy device, modules
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openIpvs } from '../../src/kernel/ipvs/index.js';
import { OPERATION, SERVICE } from '../../src/kernel/ipvs/layouts.js';
import { loadAddon } from '../../src/kernel/shared/addon.js';
import { PATIENCE } from '../laboratory/patience.js';
import { makeNamespace } from '../support/namespaces/netns.js';
import { service } from '../support/tables/ipvs.js';

const LOADER = '/proc/sys/kernel/modprobe';

after(() => execFileSync('modprobe', ['ip_vs']));

test('a client is of the namespace it was opened in', async (t) => {
  const blue = makeNamespace();
  const red = makeNamespace();
  t.after(() => red.remove());
  const [inBlue, inRed, own] = await Promise.all([
    openIpvs({ netns: blue.path }),
    openIpvs({ netns: red.path }),
    openIpvs(),
  ]);
  const before = execFileSync('ipvsadm', ['-S', '-n'], { encoding: 'utf8' });
  await inBlue.add(service());
  assert.equal(blue.run('ipvsadm', '-S', '-n'), '-A -t 10.96.0.1:443 -s rr\n');
  assert.equal(red.run('ipvsadm', '-S', '-n'), '');
  assert.equal(execFileSync('ipvsadm', ['-S', '-n'], { encoding: 'utf8' }), before);
  assert.equal(await inRed.get(service()), undefined);
  assert.equal(await own.get(service()), undefined);
  blue.remove(); // the name is gone, the client holds the namespace
  assert.equal((await inBlue.list()).length, 1);
  for (const client of [inBlue, inRed, own]) client.close();
});

test('a path that is not a namespace', async () => {
  await assert.rejects(openIpvs({ netns: '/run/netns/nowhere' }), {
    code: 'ENOENT',
    operation: 'ipvs.open',
    target: '/run/netns/nowhere',
    hint: undefined,
  });
  await assert.rejects(openIpvs({ netns: '/etc/hostname' }), { code: 'EINVAL' });
});

test('without CAP_NET_ADMIN the error of every call names the capability', () => {
  const module = fileURLToPath(new URL('../../src/kernel/ipvs/index.js', import.meta.url));
  const script = `
    const { openIpvs } = await import(${JSON.stringify(module)});
    const ipvs = await openIpvs();
    const errors = await Promise.all([
      ipvs.list().catch((error) => error),
      ipvs.info().catch((error) => error),
      ipvs.flush({ confirm: 'delete every virtual service' }).catch((error) => error),
      ipvs.apply([{ do: 'deleteService', service: { firewallMark: 1, family: 4 } }]).then(([error]) => error),
    ]);
    console.log(JSON.stringify(errors.map(({ code, hint }) => [code, hint.includes('CAP_NET_ADMIN')])));`;
  const bare = ['--bounding-set=-net_admin', '--inh-caps=-net_admin', process.execPath];
  const run = spawnSync('setpriv', [...bare, '--input-type=module', '-e', script], { encoding: 'utf8' });
  assert.equal(run.stderr, '');
  assert.deepEqual(JSON.parse(run.stdout), new Array(4).fill(['EPERM', true]));
});

test('without the module the hint names it; once it can be loaded the same client works', async (t) => {
  const client = await openIpvs();
  await unloadIpvs();
  // The kernel would load it by itself: the family's name is an alias of the module.
  const loader = readFileSync(LOADER, 'utf8');
  t.after(() => writeFileSync(LOADER, loader));
  writeFileSync(LOADER, '/bin/false');
  const missing = {
    name: 'NetlinkError',
    code: 'ENOENT',
    hint: 'load the kernel module ip_vs (modprobe ip_vs)',
  };
  await assert.rejects(openIpvs(), { ...missing, operation: 'ipvs.open' });
  await assert.rejects(client.list(), { ...missing, operation: 'ipvs.list' });
  await assert.rejects(client.flush({ confirm: 'delete every virtual service' }), missing);
  await assert.rejects(client.add(service()), missing);
  const [result] = await client.apply([{ do: 'deleteService', service: service() }]);
  assert.equal(result?.hint, missing.hint);
  writeFileSync(LOADER, loader);
  const changing = await openIpvs(); // loads it; its id is a new one, which `client` does not know
  assert.deepEqual(await client.apply([{ do: 'addService', service: service() }]), [undefined]);
  await client.flush({ confirm: 'delete every virtual service' });
  await unloadIpvs();
  assert.deepEqual(await changing.list(), []);
  changing.close();
  client.close();
});

/** Waits for namespaces that are still being taken down: their services hold the schedulers' modules. */
async function unloadIpvs(): Promise<void> {
  for (const deadline = performance.now() + PATIENCE; ; ) {
    const loaded = execFileSync('lsmod', { encoding: 'utf8' });
    const dependents = [...loaded.matchAll(/^(ip_vs_\w+|xt_ipvs) /gm)].map(([, name]) => name ?? '');
    const run = spawnSync('rmmod', [...dependents, 'ip_vs'], { encoding: 'utf8' });
    if (run.status === 0) return;
    assert.ok(performance.now() < deadline, run.stderr);
    await setTimeout(200);
  }
}

test('the addon refuses arguments of the wrong type or length', async () => {
  const { IpvsClient } = loadAddon();
  const client = new IpvsClient() as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const call = (name: string, ...args: unknown[]) => {
    assert.ok(name in client, name);
    return client[name]?.(...args);
  };
  const { SIZE } = OPERATION;
  const detached = new Uint8Array(SIZE);
  structuredClone(detached, { transfer: [detached.buffer] });
  assert.throws(() => call('open'), TypeError);
  assert.throws(() => call('open', ''), TypeError);
  for (const limit of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', null]) {
    assert.throws(() => call('open', '', limit), TypeError);
  }
  for (const records of [undefined, null, 'x', [], new ArrayBuffer(SIZE)]) {
    assert.throws(() => call('apply', records), TypeError);
    assert.throws(() => call('listServers', records), TypeError);
  }
  for (const records of [new Uint8Array(SIZE - 1), new Uint16Array(SIZE / 2)]) {
    assert.throws(() => call('apply', records), TypeError);
  }
  for (const record of [undefined, new Uint8Array(0), new Uint8Array(SERVICE.SIZE - 1), detached]) {
    assert.throws(() => call('get', record), TypeError);
  }
  // Well formed, but the client has no socket yet: an errno, not a crash.
  await assert.rejects(async () => call('list'), { errno: 9 });
  assert.deepEqual(await call('apply', detached), []);
  const failures = (await call('apply', new Uint8Array(2 * SIZE).fill(255))) as {
    index: number;
    errno: number;
  }[];
  assert.deepEqual(
    failures.map(({ index, errno }) => [index, errno]),
    [
      [0, 22],
      [1, 22],
    ],
  );
  await call('open', '', 5000);
  const random = Uint8Array.from({ length: SIZE * 50 }, (_, i) => (i * 7919 + (i >> 3)) & 255);
  for (let at = 0; at < random.length; at += SIZE) random[at] = 2; // updates, of services that do not exist
  assert.equal(((await call('apply', random)) as unknown[]).length, 50);
  call('close');
  await assert.rejects(async () => call('list'), { code: 'ERR_CLOSED' });
});
