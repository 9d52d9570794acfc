// Network namespaces for tests of rtnetlink, and ip(8) in them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { openRtnetlink, type Rtnetlink } from '../../../../src/kernel/rtnetlink/index.js';
import { makeNamespace, type Namespace } from '../../namespaces/netns.js';

const SETUP = [
  'link add dummy1 type dummy',
  'link add bridge1 type bridge',
  'link add port1 type dummy',
  'link set port1 master bridge1',
  'link add spare type dummy',
  'link set spare master bridge1',
  'link set bridge1 up',
  'link set port1 up',
  'link add va type veth peer name vb',
  'link set va up',
  'link set vb up',
  ...['low1', 'low2', 'low3', 'low4', 'low5', 'low6'].map((name) => `link add ${name} type dummy`),
  'link add bond1 type bond mode active-backup',
  'link add bondport type dummy',
  'link set bondport master bond1',
  'addr add 10.1.0.1/24 dev va',
  'addr add fd01::1/64 dev va nodad',
];

/** Runs ip with these lines of arguments, in one process. */
export function batch(namespace: Namespace, lines: readonly string[]): void {
  const input = lines.map((line) => `${line}\n`).join('');
  const { status, stderr } = spawnSync('ip', ['-n', namespace.name, '-batch', '-'], {
    input,
    encoding: 'utf8',
  });
  assert.equal(status, 0, `${stderr}\n${input}`);
}

/** The objects that ip shows for these arguments. */
export function ipJson(namespace: Namespace, show: string): Record<string, unknown>[] {
  const listed = JSON.parse(namespace.run('ip', '-d', '-j', ...show.split(' '))) as Record<string, unknown>[];
  // ip lists every link with an empty object when it is asked for the addresses of one.
  return listed.flatMap((each) => (each['addr_info'] as Record<string, unknown>[]) ?? [each]);
}

/** The value at a path of names and places. */
export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((held, name) => (held as Record<string, unknown> | undefined)?.[name], value);
}

/** A namespace with links of each kind, and a client in it. */
export async function prepared(): Promise<{ namespace: Namespace; rtnetlink: Rtnetlink }> {
  const namespace = makeNamespace();
  batch(namespace, SETUP);
  return { namespace, rtnetlink: await openRtnetlink({ netns: namespace.path }) };
}
