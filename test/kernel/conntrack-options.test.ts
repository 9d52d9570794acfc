// Every option of `conntrack --help` has an equivalent: what conntrack(8) writes, the library reads, and the other way round.
// Needs: conntrack, zones, nat
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import {
  type Conntrack,
  type Flow,
  type FlowFilter,
  type FlowSelection,
  openConntrack,
} from '../../src/kernel/conntrack/index.js';
import { PATIENCE } from '../laboratory/patience.js';
import { lineOf, TrackingNamespace } from '../support/namespaces/flows.js';
import {
  ADDED,
  CHANGED,
  ENDS,
  NAME,
  original,
  POPULATION,
  SELECTED,
  tcp,
  UDP,
  udp,
} from '../support/tables/conntrackOptions.js';

let namespace: TrackingNamespace;
let ct: Conntrack;
before(async () => {
  namespace = new TrackingNamespace('knp-options');
  // Labels exist from the first rule that uses them.
  namespace.run(
    'iptables',
    '-t',
    'mangle',
    '-A',
    'OUTPUT',
    '-m',
    'connlabel',
    '--label',
    '1',
    '-j',
    'ACCEPT',
  );
  namespace.run(
    'sysctl',
    '-qw',
    'net.netfilter.nf_conntrack_acct=1',
    'net.netfilter.nf_conntrack_timestamp=1',
  );
  ct = await openConntrack({ netns: namespace.path });
});
after(async () => {
  await ct.close();
  await namespace.delete();
});
afterEach(() => ct.flush({ confirm: 'delete every flow' }));

/** The labels that the tool knows by name: it has no numbers. */
const LABELS = '1 one\\n2 two\\n127 last\\n';

/** Runs conntrack(8) with these words, and with a file of the names of labels. */
function tool(words: string): string {
  if (!/label|-l /.test(words)) return namespace.conntrack(...words.split(' '));
  const script = `mount -t tmpfs none /etc; mkdir /etc/xtables; printf '${LABELS}' >/etc/xtables/connlabel.conf; conntrack ${words}`;
  return namespace.run('unshare', '-m', 'sh', '-ec', script);
}

/** The fields of a flow that do not change by themselves. */
function stable({ id: _id, timeout, use: _use, secctx: _secctx, start: _start, ...flow }: Flow) {
  return { ...flow, timeout: Math.ceil(timeout / 10) };
}

describe('a flow is the same, whether conntrack -I or the library adds it', () => {
  for (const [options, words, flow] of ADDED) {
    it(options, async () => {
      tool(`-I -t 100 ${words}`);
      const [theirs] = (await ct.list().toArray()) as [Flow];
      assert.deepEqual(namespace.witness(), [lineOf(theirs)]);
      await ct.flush({ confirm: 'delete every flow' });
      await ct.add(flow);
      const [ours] = (await ct.list().toArray()) as [Flow];
      assert.deepEqual(stable(ours), stable(theirs));
      assert.deepEqual(namespace.witness(), [lineOf(ours)]);
      assert.deepEqual(stable((await ct.get(ours)) as Flow), stable(ours));
    });
  }
});

describe('a flow is the same, whether conntrack -U or the library changes it', () => {
  for (const [options, words, changes] of CHANGED) {
    it(options, async () => {
      const added = { ...tcp, mark: 6, labels: [1] };
      await ct.add(added);
      tool(`-U ${words}`);
      const theirs = (await ct.get(tcp as never as Flow)) as Flow;
      await ct.deleteFlows([theirs]);
      await ct.add(added);
      const before = (await ct.get(theirs.id ? { protocol: 'tcp', original } : theirs)) as Flow;
      await ct.update({ protocol: 'tcp', original }, changes);
      const ours = (await ct.get({ protocol: 'tcp', original })) as Flow;
      assert.deepEqual(stable(ours), stable(theirs));
      assert.notDeepEqual(stable(ours), stable(before));
    });
  }
});

describe('the same flows are selected by conntrack -L and by the library, and deleted by both', () => {
  for (const [options, words, selection] of SELECTED) {
    it(options, async () => {
      await ct.apply(POPULATION.map((flow) => ({ do: 'addFlow', flow })));
      const all = await ct.list().toArray();
      assert.equal(all.length, POPULATION.length);
      const ids = [...tool(`-L ${words} -o id`).matchAll(/ use=\d+ id=(\d+)/g)].map(([, id]) => Number(id));
      const selected = await ct.list(selection).toArray();
      assert.ok(ids.length > 0 && ids.length < all.length, `${ids.length} flows`);
      assert.deepEqual(selected.map(({ id }) => id).sort(), ids.sort());
      if (Array.isArray(selection) || !isFilter(selection)) return;
      assert.deepEqual(await ct.delete(selection), { deleted: ids.length, failures: [] });
      assert.equal(namespace.witness().length, all.length - ids.length);
    });
  }
});

/** Whether the library deletes by it: -f, -p and -u alone do not narrow. */
function isFilter(selection: FlowSelection): selection is FlowFilter {
  const { original: from, reply, mark, zone, replyZone, labels } = selection;
  return [from, reply, mark, zone, replyZone, labels].some((condition) => condition !== undefined);
}

/** Options of other commands than -L, -I and -U. */
const OTHERS: readonly [options: string, test: () => Promise<void>][] = [
  [
    '-D',
    async () => {
      await ct.add(udp);
      tool(`-D ${ENDS}`);
      assert.equal(await ct.get({ protocol: 'udp', original }), undefined);
    },
  ],
  [
    '-G',
    async () => {
      const earliest = Date.now();
      await ct.add(tcp);
      const latest = Date.now();
      const [flow] = (await ct.list().toArray()) as [Flow];
      // In ns since 1970. The clocks of the kernel and of this process may differ a little.
      const start = Number(flow.start ?? 0n) / 1e6;
      assert.ok(start > earliest - 1000 && start < latest + 1000, `${earliest} ${start} ${latest}`);
      assert.equal(flow.stop, undefined);
      const line = tool(`-G ${NAME} -o id`);
      assert.match(line, new RegExp(` id=${flow.id}\\n$`));
      assert.deepEqual(stable((await ct.get({ protocol: 'tcp', original })) as Flow), stable(flow));
    },
  ],
  [
    '-F',
    async () => {
      await ct.add(udp);
      tool('-F');
      assert.deepEqual(await ct.list().toArray(), []);
      await ct.add(udp);
      await ct.flush({ confirm: 'delete every flow' });
      assert.deepEqual(namespace.witness(), []);
    },
  ],
  [
    '-C',
    async () => {
      await ct.apply(POPULATION.map((flow) => ({ do: 'addFlow', flow })));
      assert.equal(Number(tool('-C')), POPULATION.length);
      assert.equal((await ct.statistics()).entries, POPULATION.length);
    },
  ],
  [
    '-S',
    async () => {
      await namespace.send('10.0.0.9:4000 10.96.0.10:53');
      const lines = tool('-S').trim().split('\n');
      const { cpus } = await ct.statistics();
      const text = (cpu: (typeof cpus)[number]) =>
        Object.entries(cpu).map(([name, value]) => `${TOOL_NAMES[name] ?? name}=${value}`);
      assert.deepEqual(
        cpus.map((cpu) => text(cpu).join(' ')),
        lines.map((line) => line.trim().split(/\s+/).join(' ')),
      );
    },
  ],
  [
    '-E -e --event-mask',
    async () => {
      const kinds: string[] = [];
      const stream = ct.watch({ kinds: ['new', 'destroy'], signal: AbortSignal.timeout(PATIENCE) });
      for await (const event of stream) {
        kinds.push(event.kind === 'resync' ? 'resync' : `${event.kind} ${lineOf(event.flow).split(' ')[0]}`);
        if (event.kind === 'resync') {
          tool(`-I -t 100 ${UDP}`);
          tool(`-U ${ENDS} -p udp --sport 4000 --dport 80 -m 3`);
          tool(`-D ${ENDS}`);
        } else if (event.kind === 'destroy') break;
      }
      assert.deepEqual(kinds, ['resync', 'new udp', 'destroy udp']);
    },
  ],
  [
    '-z --zero',
    async () => {
      const packets = async () =>
        (await ct.list().toArray()).map(({ counters }) => counters?.original.packets);
      await namespace.send('10.0.0.9:4000 10.96.0.10:53');
      assert.deepEqual(await packets(), [1n]);
      assert.match(tool('-L -z'), / packets=1 /);
      assert.deepEqual(await packets(), [0n]);
      await namespace.send('10.0.0.9:4001 10.96.0.10:53');
      const [read] = await ct.list({ family: 4, protocol: 'udp', original: { sourcePort: 4001 } }).toArray();
      assert.equal((await ct.get(read as Flow, { zeroCounters: true }))?.counters?.original.bytes, 29n);
      assert.doesNotMatch(tool('-L'), / packets=1 /);
      await namespace.send('10.0.0.9:4002 10.96.0.10:53');
      const zeroed = await ct.list(undefined, { zeroCounters: true }).toArray();
      assert.equal(zeroed.filter(({ counters }) => counters?.original.packets === 1n).length, 1);
      assert.deepEqual(await packets(), [0n, 0n, 0n]);
    },
  ],
  [
    '--tuple-src --tuple-dst --tuple-port-src --tuple-port-dst --mask-src --mask-dst --mask-port-src --mask-port-dst',
    async () => {
      await ct.add({ ...tcp, original: { ...original, destinationPort: 21 }, helper: 'ftp' });
      const mask =
        '--mask-src 255.255.255.255 --mask-dst 255.255.255.255 --mask-port-src 0 --mask-port-dst 65535';
      const tuple = '--tuple-src 10.0.0.9 --tuple-dst 10.0.0.2 --tuple-port-src 0 --tuple-port-dst 41739';
      tool(`-I expect -t 200 ${ENDS} -p tcp --orig-port-src 4000 --orig-port-dst 21 ${tuple} ${mask}`);
      // conntrack 1.4.7 writes other ports and another protocol than its options name: its listing is the witness.
      const expected = await ct.expectations().toArray();
      assert.deepEqual(
        expected.map((each) => {
          const { protocol, original: own, mask: bits, master } = each;
          const number = protocol === 'tcp' ? 6 : protocol;
          const ofMaster = master.original;
          return [
            `proto=${number} src=${own.source} dst=${own.destination}`,
            `mask-src=${bits.source} mask-dst=${bits.destination}`,
            `master-src=${ofMaster.source} master-dst=${ofMaster.destination}`,
            `sport=${ofMaster.sourcePort} dport=${ofMaster.destinationPort}`,
            `class=${each.class} helper=${each.helper}`,
          ].join(' ');
        }),
        tool('-L expect')
          .trim()
          .split('\n')
          .map((line) => line.replace(/^\d+ /, '')),
      );
    },
  ],
];

describe('other commands', () => {
  for (const [options, test] of OTHERS) it(options, test);
});

/** `-S` has other names than ours for these. */
const TOOL_NAMES: Readonly<Record<string, string>> = {
  insertFailed: 'insert_failed',
  earlyDrop: 'early_drop',
  searchRestart: 'search_restart',
  clashResolve: 'clash_resolve',
  chainTooLong: 'chaintoolong',
};

/** Options of the tool itself, and options without an equivalent, with the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  '-o': 'format of its output',
  '--output': 'format of its output',
  '-b': 'size of its buffer',
  '--buffer-size': 'size of its buffer',
  '-c': 'the kernel neither accepts nor lists numbers of security marks: `secctx` has the context',
  '--secmark': 'see -c',
  '--tuple-key-src': 'expectations of GRE: listed as those of other protocols',
  '--mask-key-src': 'see --tuple-key-src',
  '--mask-key-dst': 'see --tuple-key-src',
};

it('every option of `conntrack --help`, and of each protocol, is in a table of this file', () => {
  const helps = [
    '',
    ...['tcp', 'udp', 'udplite', 'sctp', 'icmp', 'icmpv6', 'gre'].map((name) => `-p ${name} `),
  ];
  const named = helps
    .flatMap((help) => namespace.conntrack(...`${help}-h`.split(' ')).split('\n'))
    .filter((line) => /^\s+-/.test(line))
    .flatMap((line) => [...(line.trim().split(/\t| {2,}/)[0] ?? '').matchAll(/(?<![\w-])--?[\w-]+/g)])
    .map(([option]) => option);
  assert.ok(new Set(named).size > 60, `the help has ${new Set(named).size} options`);
  const tested = [...ADDED, ...CHANGED, ...SELECTED, ...OTHERS].flatMap(([options]) =>
    options.split(/[ ,]+/),
  );
  const known = new Set([...tested, ...Object.keys(WITHOUT)]);
  assert.deepEqual(
    [...new Set(named)].filter((option) => !known.has(option)),
    [],
  );
});
