// Network namespaces with a name, and their ids, compared with those of `ip netns`.
// Needs: namespace
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readlinkSync, writeFileSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import {
  addNamespace,
  deleteNamespace,
  listNamespaces,
  openRtnetlink,
} from '../../src/kernel/rtnetlink/index.js';

const made = new Set<string>();
afterEach(async () => {
  for (const name of made) await deleteNamespace(name);
  made.clear();
});

function ip(...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('ip', words, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}

async function add(what: string): Promise<string> {
  const name = `knp-${process.pid}-${what}`;
  await addNamespace(name);
  made.add(name);
  return name;
}

const namesOfIp = () =>
  ip('netns', 'list')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' ')[0])
    .sort();

describe('named network namespaces', () => {
  it('are created for ip and for clients, and leave this process where it is', async () => {
    const before = readlinkSync('/proc/thread-self/ns/net');
    const names = await Promise.all(['a', 'b', 'c'].map(add));
    assert.equal(readlinkSync('/proc/thread-self/ns/net'), before);
    assert.deepEqual(
      (await listNamespaces()).map(({ name }) => name),
      namesOfIp(),
    );
    for (const name of names) {
      const links = JSON.parse(ip('-n', name, '-j', 'link')) as { ifname: string; flags: string[] }[];
      assert.ok(links.some(({ ifname, flags }) => ifname === 'lo' && !flags.includes('UP')));
    }
    const path = (await listNamespaces()).find(({ name }) => name === names[0])?.path ?? assert.fail();
    const rtnetlink = await openRtnetlink({ netns: path });
    await rtnetlink.setLink('lo', { up: true });
    await rtnetlink.close();
    assert.match(ip('-n', names[0] ?? '', 'link', 'show', 'dev', 'lo'), /LOOPBACK,UP/);
  });

  it('are deleted by the library and by ip', async () => {
    const name = await add('deleted');
    await deleteNamespace(name);
    made.delete(name);
    assert.ok(!namesOfIp().includes(name));
    ip('netns', 'add', name);
    await deleteNamespace(name);
    await addNamespace(name);
    ip('netns', 'del', name);
    assert.ok(!(await listNamespaces()).some((each) => each.name === name));
  });

  it('are refused with the reason, and change nothing then', async () => {
    const name = await add('taken');
    const target = `netns ${name}`;
    await assert.rejects(addNamespace(name), { code: 'EEXIST', operation: 'rtnetlink.addNamespace', target });
    assert.ok(namesOfIp().includes(name));
    await assert.rejects(deleteNamespace(`${name}-none`), { code: 'ENOENT' });
    for (const wrong of ['', '.', '..', 'a/b', 'a\0b', 'n'.repeat(256)])
      await assert.rejects(addNamespace(wrong), RangeError);
    await assert.rejects(addNamespace(7 as never), TypeError);
  });

  it('are deleted when only their file is left', async () => {
    const name = `knp-${process.pid}-left`;
    await add('first'); // there is a folder then
    writeFileSync(`/run/netns/${name}`, '');
    await deleteNamespace(name);
    assert.ok(!(await listNamespaces()).some((each) => each.name === name));
  });
});

describe('ids of network namespaces', () => {
  it('are those of ip', async () => {
    const [here, there, other] = [await add('here'), await add('there'), await add('other')];
    const rtnetlink = await openRtnetlink({ netns: `/run/netns/${here}` });
    await rtnetlink.setNamespaceId({ netns: `/run/netns/${there}`, id: 11 });
    const listed = JSON.parse(ip('-n', here, '-j', 'netns', 'list-id')) as { nsid: number; name?: string }[];
    assert.deepEqual(
      listed.map(({ nsid, name }) => [nsid, name]),
      [[11, there]],
    );
    ip('-n', here, 'netns', 'set', other, '3');
    assert.deepEqual(await rtnetlink.listNamespaceIds(), [3, 11]);
    assert.equal(await rtnetlink.getNamespaceId(`/run/netns/${other}`), 3);
    await assert.rejects(rtnetlink.getNamespaceId('/run/netns/knp-none'), { code: 'ENOENT' });
    await assert.rejects(rtnetlink.getNamespaceId('/dev/null'), { code: 'EINVAL' });
    await assert.rejects(rtnetlink.setNamespaceId({ netns: `/run/netns/${here}`, id: 3 }), {
      code: 'EEXIST',
    });
    await rtnetlink.close();
  });
});
