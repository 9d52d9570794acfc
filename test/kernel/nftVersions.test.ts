// The tables of nftables mode as every version of nft lists them, and loads them again.
// Needs: nftables, nft
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Nftables, openNftables } from '../../src/kernel/nftables/index.js';
import { readRuleset } from '../../src/kernel/nftables/text/index.js';
import { formatRuleset } from '../../src/kernel/nftables/text/ruleset.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { LAYOUTS } from '../../src/proxy/modes/nftables/plan/options.js';
import { MIXED_LIFE } from '../support/clusters/mixedCluster.js';
import { RANDOM_HOST } from '../support/clusters/randomCluster.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { inOrder } from '../support/nftables/listed.js';
import { NftablesNode } from '../support/oracle/testNode.js';
import { prepared } from '../support/paths.js';

/** Folder of each version, see scripts/test/nftVersions.mjs. */
const FOLDER = prepared('nft');

/** The programs: that of this machine, and those that were prepared. */
const PROGRAMS: readonly string[] = [
  'nft',
  ...readdirSync(FOLDER)
    .filter((suite) => !suite.startsWith('.'))
    .sort()
    .map((suite) => join(FOLDER, suite, 'nft')),
];

const versionOf = (program: string) => execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();

let ours: Namespace;
let loaded: Namespace;
let nftables: Nftables;

before(async () => {
  [ours, loaded] = [makeNamespace(), makeNamespace()];
  nftables = await openNftables({ netns: ours.path });
});
after(async () => {
  await nftables.close();
  ours.remove();
  loaded.remove();
});

/** What nft prints, which has no warnings. */
function run(namespace: Namespace, program: string, args: readonly string[], input = ''): string {
  const command = ['netns', 'exec', namespace.name, program, ...args];
  const { status, stdout, stderr } = spawnSync('ip', command, { input, encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, ''], `${program} ${args.join(' ')}`);
  return stdout;
}

const list = (namespace: Namespace, program: string) => run(namespace, program, ['list', 'ruleset']);

/** A listing as nft 1.0.6 prints it: later versions name the priorities of output chains, as those of prerouting chains. */
function asOldest(listed: string): string {
  return listed
    .replaceAll('hook output priority dstnat - 10;', 'hook output priority -110;')
    .replaceAll('hook output priority dstnat;', 'hook output priority -100;');
}

it('there are other versions', () => {
  const versions = new Set(PROGRAMS.map(versionOf));
  assert.ok(versions.size >= 3, [...versions].join());
});

it('every version lists the elements of intervals of concatenations one by one', async () => {
  run(ours, 'nft', ['flush', 'ruleset']);
  const set = {
    family: 'ip',
    table: 't',
    name: 's',
    key: ['ipv4_addr', 'inet_service'],
    flags: ['interval'],
  } as const;
  await nftables.addTable({ family: 'ip', name: 't' });
  await nftables.addSet(set);
  const range = { key: ['10.0.1.0', 80], keyEnd: ['10.0.1.255', 90] } as const;
  await nftables.addElements(set, [{ key: ['10.0.0.1', 80] }, range, { key: ['10.0.0.9', 443] }]);
  const elements = (program: string) =>
    /elements = \{ ([^}]*) \}/.exec(list(ours, program))?.[1]?.split(/,\s+/).sort();
  for (const program of PROGRAMS)
    assert.deepEqual(elements(program), ['10.0.0.1 . 80', '10.0.0.9 . 443', '10.0.1.0/24 . 80-90'], program);
  await nftables.deleteElements(set, [{ key: ['10.0.0.1', 80] }]);
  for (const program of PROGRAMS)
    assert.deepEqual(elements(program), ['10.0.0.9 . 443', '10.0.1.0/24 . 80-90'], program);
});

for (const { what, objects } of MIXED_LIFE.slice(0, 2))
  for (const layout of LAYOUTS)
    describe(`a mixed cluster: ${what}, layout ${layout}`, () => {
      before(async () => {
        run(ours, 'nft', ['flush', 'ruleset']);
        const node = new NftablesNode(
          RANDOM_HOST,
          { nftables, conntrack: new FakeKernel().conntrack },
          layout,
        );
        node.set(objects);
        assert.deepEqual((await node.sync()).failures, []);
      });

      for (const program of PROGRAMS)
        it(`${versionOf(program)} lists it, and loads it again`, async () => {
          const listed = list(ours, program);
          assert.deepEqual(inOrder(asOldest(listed)), inOrder(formatRuleset(await readRuleset(nftables))));
          run(loaded, program, ['flush', 'ruleset']);
          run(loaded, program, ['-f', '-'], listed);
          assert.deepEqual(inOrder(list(loaded, program)), inOrder(listed));
          const asJson = run(ours, program, ['--json', 'list', 'ruleset']);
          assert.ok((JSON.parse(asJson) as { nftables: unknown[] }).nftables.length > 20);
        });
    });
