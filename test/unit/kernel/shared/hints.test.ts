// Hints, on machines of every kind.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingModule } from '../../../../src/kernel/ipset/names.js';
import { schedulerHint } from '../../../../src/kernel/ipvs/names.js';
import { hintFor as ruleHint } from '../../../../src/kernel/nftables/hints.js';
import { unknownKindHint } from '../../../../src/kernel/rtnetlink/hints.js';
import { loadAddon } from '../../../../src/kernel/shared/addon.js';
import { toNetlinkError } from '../../../../src/kernel/shared/failures.js';
import { moduleHint, namespaceHint, permissionHint, recent } from '../../../../src/kernel/shared/hints.js';
import { hintFor as settingHint } from '../../../../src/kernel/sysctl/index.js';
import { machine, machineWith } from '../../../support/fakes/machine.js';

const ALL = '000001ffffffffff';
const FIRST_NAMESPACE = '         0          0 4294967295\n';
const status = (effective: string) =>
  `Name:\tnode\nCapPrm:\t${ALL}\nCapEff:\t${effective}\nCapBnd:\t${ALL}\n`;
const withCapabilities = (effective: string, ids = FIRST_NAMESPACE) =>
  machine({ '/proc/self/status': status(effective), '/proc/self/uid_map': ids });

test('a missing capability is named', () => {
  assert.equal(
    permissionHint(false, withCapabilities('0000000000000000')),
    'needs CAP_NET_ADMIN over the network namespace, which this process lacks',
  );
  // CAP_NET_ADMIN (bit 12) without CAP_SYS_ADMIN (bit 21).
  assert.equal(
    permissionHint(true, withCapabilities('0000000000001000')),
    'needs CAP_SYS_ADMIN to enter another network namespace, which this process lacks',
  );
  assert.match(permissionHint(false, withCapabilities('0000000000200000')), /needs CAP_NET_ADMIN .* lacks/);
});

test('a name of ip-netns(8) is not a path', () => {
  const named = machine({ '/run/netns/blue': '' });
  assert.equal(namespaceHint('blue', named), 'a network namespace is named by its path: /run/netns/blue');
  assert.match(namespaceHint('red', named) ?? '', /path, as \/run\/netns\/red is that of `ip netns add red`/);
  assert.equal(namespaceHint('/run/netns/red', named), undefined);
});

test('the step that failed decides about the hint, not the words of the message', () => {
  const attempt = { operation: 'ipvs.open' };
  const message = 'other words';
  const opening = { errno: 2, code: '', message, step: 'openNamespace', path: 'blue' } as const;
  assert.match(toNetlinkError(opening, attempt).hint ?? '', /named by its path/);
  assert.equal(toNetlinkError({ errno: 2, code: '', message }, attempt).hint, undefined);
  const words = 'cannot open network namespace blue';
  assert.equal(toNetlinkError({ errno: 2, code: '', message: words }, attempt).hint, undefined);
  const entering = { errno: 1, code: '', message, step: 'enterNamespace' } as const;
  const hints = [entering, { errno: 1, code: '', message: 'cannot enter the network namespace' }].map(
    (reported) => toNetlinkError(reported, attempt).hint ?? '',
  );
  assert.notEqual(hints[0], hints[1]);
});

test('the addon says in which step a call failed', async () => {
  const native = new (loadAddon().NetlinkClient)(0, true);
  await assert.rejects(native.open('nonesuch', 100), {
    errno: 2,
    step: 'openNamespace',
    path: 'nonesuch',
    kernelMessage: 'cannot open network namespace nonesuch',
  });
});

test('a capability in a user namespace is not a capability over the host', () => {
  for (const entered of [true, false]) {
    const hint = permissionHint(entered, withCapabilities(ALL, '         0       1000          1\n'));
    assert.match(hint, /in its own user namespace only, which does not own that network namespace/);
  }
});

test('with the capability, something else refuses', () => {
  const expected =
    'this process has CAP_NET_ADMIN: the object belongs to another program or has another state, or a security module or a seccomp filter refuses the call';
  assert.equal(permissionHint(false, withCapabilities(ALL)), expected);
  const without = machine({ '/proc/self/status': status(ALL) });
  assert.equal(permissionHint(false, without), expected);
});

test('without procfs, the hint says what is needed', () => {
  assert.equal(permissionHint(false, machine({})), 'needs CAP_NET_ADMIN over the network namespace');
});

const FOLDER = '/lib/modules/6.12.1';

test('a module is to be loaded only if the kernel has it', () => {
  const dependencies = 'kernel/net/netfilter/ipvs/ip_vs.ko.xz: kernel/a.ko.xz\nkernel/net/x-tables.ko:\n';
  const host = machine({
    [`${FOLDER}/modules.dep`]: dependencies,
    [`${FOLDER}/modules.builtin`]: 'kernel/net/veth.ko\n',
  });
  assert.equal(moduleHint('ip_vs', host), 'load the kernel module ip_vs (modprobe ip_vs)');
  assert.equal(moduleHint('x_tables', host), 'load the kernel module x_tables (modprobe x_tables)');
  assert.match(moduleHint('ip_vs_rr', host), /the kernel 6\.12\.1 has no module ip_vs_rr/);
  assert.match(moduleHint('vs', host), /has no module vs/);
  assert.equal(moduleHint('veth', host), 'the kernel module veth is built in, and refuses the request');
});

test('a container without the folder of modules names the host', () => {
  assert.match(
    moduleHint('ip_vs', machine({})),
    /load the kernel module ip_vs on the host .*, and this process cannot read \/lib\/modules\/6\.12\.1$/,
  );
});

test('a module that is loaded is not to be loaded', () => {
  const host = machine({ '/sys/module/ip_vs': '' });
  assert.equal(moduleHint('ip_vs', host), 'the kernel module ip_vs is loaded, and refuses the request');
});

test('an unknown scheduler or persistence engine is the one that the kernel lacks', () => {
  const bare = machine({ [`${FOLDER}/modules.dep`]: 'kernel/ip_vs_rr.ko:\n' });
  const lacks = (name: string) => new RegExp(`^unknown ${name}: the kernel 6\\.12\\.1 has no module [^;]*$`);
  assert.match(String(schedulerHint('nope', undefined, bare)), lacks('scheduler nope'));
  assert.match(String(schedulerHint(undefined, undefined, bare)), lacks('scheduler wlc'));
  assert.equal(
    schedulerHint('rr', undefined, bare),
    'unknown scheduler rr: load the kernel module ip_vs_rr (modprobe ip_vs_rr)',
  );
  assert.match(
    String(schedulerHint('rr', 'x', bare)),
    /^unknown scheduler rr: .*; or unknown persistence engine x: /,
  );
  const loaded = machine({ ...{ '/sys/module/ip_vs_rr': '' }, [`${FOLDER}/modules.dep`]: '' });
  assert.match(String(schedulerHint('rr', 'x', loaded)), lacks('persistence engine x'));
  const builtIn = machine({
    ...{ [`${FOLDER}/modules.dep`]: '', [`${FOLDER}/modules.builtin`]: 'kernel/ip_vs_rr.ko\n' },
  });
  assert.match(String(schedulerHint('rr', 'x', builtIn)), lacks('persistence engine x'));
  assert.equal(schedulerHint('rr', undefined, builtIn), undefined);
});

test('the machine is looked at once a second, however many operations fail', () => {
  let looks = 0;
  const look = () => `look ${++looks}`;
  assert.equal(recent('test', look, 1000), 'look 1');
  assert.equal(recent('test', look, 1999), 'look 1');
  assert.equal(recent('test', look, 2001), 'look 2');
  assert.equal(recent('other', look, 2001), 'look 3');
});

test('a module is named only where the kernel has no other cause, and the module is missing', () => {
  const bare = machineWith([]);
  const able = machineWith(['vrf']);
  const loaded = machine({ '/sys/module/vrf': '', '/sys/module/ip_set': '', '/sys/module/ip_vs': '' });
  assert.equal(unknownKindHint('vrf', able), 'load the kernel module vrf (modprobe vrf)');
  assert.match(unknownKindHint('gre', bare) ?? '', /has no module ip_gre/);
  assert.equal(unknownKindHint('vrf', loaded), undefined);
  assert.equal(unknownKindHint('nonsense', bare), undefined);
  assert.match(missingModule(bare) ?? '', /ip_set/);
  assert.equal(missingModule(loaded), undefined);
  assert.match(settingHint('ENOENT', 'net/ipv4/vs/nonesuch', bare) ?? '', /ip_vs/);
  const absent = 'the kernel has no such setting, or has not loaded the module that has it';
  assert.equal(settingHint('ENOENT', 'net/ipv4/vs/nonesuch', loaded), absent);
  assert.equal(settingHint('ENOENT', 'net/ipv4/conf/all/nonesuch', bare), absent);
  assert.match(settingHint('ENOENT', 'net/ipv4/conf/eth9/forwarding', bare) ?? '', /^there is no link eth9/);
  assert.match(
    settingHint('EACCES', 'net/ipv4/ip_forward', bare) ?? '',
    /^the setting is read-only, or needs root/,
  );
});

test('an EPERM that the kernel explains has another reason than a capability', () => {
  const attempt = { operation: 'rtnetlink.setLink' };
  const message = 'Device can not be enslaved while up';
  assert.equal(toNetlinkError({ errno: 1, code: '', message, step: 'reply' }, attempt).hint, undefined);
  for (const words of ['', 'cannot open a netlink socket'])
    assert.notEqual(toNetlinkError({ errno: 1, code: '', message: words }, attempt).hint, undefined);
  assert.match(
    permissionHint(false, withCapabilities(ALL)),
    /belongs to another program or has another state, or/,
  );
});

test('the expression that the kernel refuses decides about the hint', () => {
  const rule = { family: 'ip', table: 't', chain: 'c', expressions: [] } as const;
  const hintOf = (expression?: string) => ruleHint({ do: 'addRule', rule }, 'ENOENT', expression) ?? '';
  assert.equal(hintOf('queue'), 'the kernel misses the module of the expression queue (nft_queue)');
  assert.equal(hintOf('fib'), 'the kernel misses the module of the expression fib');
  assert.match(hintOf('log'), /nft_log, or one that writes logs/);
  assert.match(hintOf('lookup'), /^the set that it names/);
  assert.match(hintOf(), /a set, an object, a chain, a module$/);
});
