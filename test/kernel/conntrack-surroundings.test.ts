// The requirements of conntrack: privileges, the module nf_conntrack_netlink, and an addon that refuses wrong arguments.
// Needs: conntrack, modules
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openConntrack } from '../../src/kernel/conntrack/index.js';
import { loadAddon } from '../../src/kernel/shared/addon.js';

const LOADER = '/proc/sys/kernel/modprobe';

test('without CAP_NET_ADMIN the error names the capability, and links can be watched', () => {
  const conntrack = fileURLToPath(new URL('../../src/kernel/conntrack/index.js', import.meta.url));
  const rtnetlink = fileURLToPath(new URL('../../src/kernel/rtnetlink/index.js', import.meta.url));
  const script = `
    const { openConntrack } = await import(${JSON.stringify(conntrack)});
    const { watchRtnetlink } = await import(${JSON.stringify(rtnetlink)});
    const { code, operation, hint } = await openConntrack().catch((error) => error);
    (await watchRtnetlink({}, () => {})).close();
    console.log(JSON.stringify([code, operation, hint.includes('CAP_NET_ADMIN')]));`;
  const bare = ['--bounding-set=-net_admin', '--inh-caps=-net_admin', process.execPath];
  const run = spawnSync('setpriv', [...bare, '--input-type=module', '-e', script], { encoding: 'utf8' });
  assert.equal(run.stderr, '');
  assert.deepEqual(JSON.parse(run.stdout), ['EPERM', 'conntrack.open', true]);
});

test('settings that cannot be read are not known, and flows are watched', async () => {
  const script = `
    import { openConntrack } from '${fileURLToPath(new URL('../../src/kernel/conntrack/index.js', import.meta.url))}';
    const conntrack = await openConntrack();
    const { accounting, timestamps, events, zones } = await conntrack.capabilities();
    for await (const { kind } of conntrack.watch()) {
      console.log(JSON.stringify([String(accounting), String(timestamps), String(events), typeof zones, kind]));
      break;
    }
    await conntrack.close();`;
  const masked = 'mount -t tmpfs none /proc/sys && exec "$@"';
  const node = [process.execPath, '--input-type=module', '-e', script];
  const run = spawnSync('unshare', ['-m', 'sh', '-c', masked, 'sh', ...node], { encoding: 'utf8' });
  assert.equal(run.stderr, '');
  assert.deepEqual(JSON.parse(run.stdout), ['undefined', 'undefined', 'undefined', 'boolean', 'resync']);
  // Where they can be read, each is on or off.
  await using conntrack = await openConntrack();
  const { accounting, timestamps, events } = await conntrack.capabilities();
  for (const setting of [accounting, timestamps, events]) assert.equal(typeof setting, 'boolean');
});

test('without the module the hint names it; once it can be loaded the same client works', async (t) => {
  const client = await openConntrack();
  execFileSync('rmmod', ['nf_conntrack_netlink']);
  // The kernel would load it by itself: nfnetlink asks for the subsystem.
  const loader = readFileSync(LOADER, 'utf8');
  t.after(() => writeFileSync(LOADER, loader));
  writeFileSync(LOADER, '/bin/false');
  const missing = {
    name: 'NetlinkError',
    code: 'EINVAL',
    hint: 'load the kernel module nf_conntrack_netlink (modprobe nf_conntrack_netlink)',
  };
  await assert.rejects(openConntrack(), { ...missing, operation: 'conntrack.open' });
  await assert.rejects(client.list().toArray(), { ...missing, operation: 'conntrack.list' });
  const filter = { family: 4, original: { source: '10.0.0.1' } } as const;
  const target = '-f ipv4 --orig-src 10.0.0.1';
  await assert.rejects(client.delete(filter), { ...missing, operation: 'conntrack.delete', target });
  const flow = {
    protocol: 'udp',
    original: { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 1, destinationPort: 2 },
  } as const;
  const [result] = await client.deleteFlows([flow]);
  assert.equal(
    result?.message,
    `EINVAL: conntrack.deleteFlow udp 10.0.0.1:1 -> 10.0.0.2:2 (${missing.hint})`,
  );
  writeFileSync(LOADER, loader);
  assert.deepEqual(await client.list(filter).toArray(), []);
  assert.deepEqual(await client.deleteFlows([flow]), [undefined]);
  client.close();
});

test('the addon refuses arguments of the wrong type or length', async () => {
  const addon = loadAddon() as unknown as Record<
    string,
    new () => Record<string, (...args: unknown[]) => unknown>
  >;
  const make = (name: string) => {
    const object = new (addon[name] as NonNullable<(typeof addon)[string]>)();
    return (method: string, ...args: unknown[]) => object[method]?.(...args);
  };
  const watch = make('RtnetlinkWatch');
  const ignore = () => {};
  assert.throws(() => watch('open'), TypeError);
  assert.throws(() => watch('open', ''), TypeError);
  for (const args of [[], ['0', false, ignore], [0, 1, ignore], [0, false]]) {
    assert.throws(() => watch('start', ...args), TypeError);
  }
  assert.throws(() => watch('start', 0, false, ignore), { errno: 22 }); // not open
  await watch('open', '', 5000);
  watch('start', 0, false, ignore);
  assert.throws(() => watch('start', 0, false, ignore), /started already/);
  watch('close');
  watch('close');
});
