// Every option of ipvsadm 1.31, in both directions: the library sets it and ipvsadm shows it, ipvsadm sets it and the library
// lists it.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import {
  formatRules,
  type Ipvs,
  type IpvsConnection,
  type IpvsCounters,
  type IpvsRates,
  openIpvs,
  parseRules,
  throwOnFailure,
} from '../../src/kernel/ipvs/index.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { CHANGES, optionsIn, SCHEDULERS, TESTED_ALONE } from '../support/tables/ipvsadmTable.js';

interface Place {
  readonly namespace: Namespace;
  readonly ipvs: Ipvs;
}

const places: Place[] = [];
after(async () => {
  for (const { namespace, ipvs } of places) {
    await ipvs.close();
    namespace.remove();
  }
});

async function place(): Promise<Place> {
  const namespace = makeNamespace();
  const made = { namespace, ipvs: await openIpvs({ netns: namespace.path }) };
  places.push(made);
  return made;
}

/** Runs ipvsadm, with a text on its standard input if there is one; its output. */
function ipvsadm({ namespace }: Place, options: string, input?: string): string {
  const from = input === undefined ? '' : ` <<'END'\n${input}END\n`;
  return namespace.run('sh', '-ec', `ipvsadm ${options}${from}`);
}

const sorted = (lines: readonly string[]) => [...lines].sort();
const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');
const restore = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

/** What the library lists, by object. */
async function listed({ ipvs }: Place): Promise<unknown[]> {
  const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  return (await ipvs.list())
    .map(({ counters: _, rates: _rates, realServers, ...service }) => ({
      ...service,
      realServers: realServers
        .map(({ counters: _counters, rates: _serverRates, ...server }) => server)
        .sort(byText),
    }))
    .sort(byText);
}

let ours: Place;
let theirs: Place;
before(async () => {
  [ours, theirs] = [await place(), await place()];
  throwOnFailure(await ours.ipvs.apply(CHANGES.flatMap(({ operations }) => operations)));
  ipvsadm(theirs, '-R', restore(CHANGES.flatMap(({ lines }) => lines)));
});

test('the table names every option of ipvsadm --help, and every scheduler', () => {
  const help = ipvsadm(ours, '--help');
  const named = new Set([...CHANGES.flatMap(({ options }) => options), ...TESTED_ALONE]);
  assert.deepEqual(optionsIn(help), sorted([...named]));
  assert.equal(/one of ([a-z|]+)/.exec(help)?.[1], SCHEDULERS.join('|'));
});

test('the library sets it, and ipvsadm -S -n prints it', () => {
  const shown = linesOf(ipvsadm(ours, '-S -n')).map(normalized);
  assert.deepEqual(sorted(shown), sorted(CHANGES.flatMap(({ saved }) => saved.map(normalized))));
});

/** Without the order of options, which ipvsadm chooses. */
function normalized(line: string): string {
  return line
    .trim()
    .split(/ (?=-)/)
    .sort()
    .join(' ');
}

test('ipvsadm sets it, and the library lists what it lists of its own', async () => {
  assert.deepEqual(await listed(theirs), await listed(ours));
});

test('--thresholds and --tun-info show the same for both', () => {
  for (const option of ['--thresholds', '--tun-info']) {
    const shown = ipvsadm(ours, `-Ln ${option}`);
    assert.equal(shown, ipvsadm(theirs, `-Ln ${option}`));
    if (option === '--thresholds') assert.match(shown, / 100 +50 /);
    else assert.match(shown, /gue:6080:r\+c/);
  }
});

test('the rules of ipvsadm are read and written: -S, -S -n, -R', async () => {
  const [fromLines, fromSaved, fromNames, restored] = await Promise.all([place(), place(), place(), place()]);
  throwOnFailure(await fromLines.ipvs.apply(parseRules(restore(CHANGES.flatMap(({ lines }) => lines)))));
  const expected = await listed(ours);
  assert.deepEqual(await listed(fromLines), expected);
  throwOnFailure(await fromSaved.ipvs.apply(parseRules(ipvsadm(ours, '-S -n'))));
  throwOnFailure(await fromNames.ipvs.apply(parseRules(ipvsadm(ours, '-S'))));
  assert.equal(ipvsadm(fromSaved, '-S -n'), ipvsadm(ours, '-S -n'));
  assert.deepEqual(await listed(fromNames), await listed(fromSaved));
  const rules = formatRules(await ours.ipvs.list());
  ipvsadm(restored, '-R', rules);
  assert.deepEqual(await listed(restored), expected);
  assert.deepEqual(
    linesOf(rules)
      .map((line) => normalized(line.replace(/ -[xy] \d+/g, '')))
      .sort(),
    linesOf(ipvsadm(ours, '-S -n')).map(normalized).sort(),
  );
});

test('--clear, and --set with --timeout', async () => {
  const [a, b] = [await place(), await place()];
  await a.ipvs.apply(parseRules('-A -t 10.96.0.1:80\n-C\n--set 100 20 30\n'));
  ipvsadm(b, '-R', '-A -t 10.96.0.1:80\n-C\n--set 100 20 30\n');
  for (const one of [a, b]) {
    assert.equal(ipvsadm(one, '-S -n'), '');
    assert.deepEqual(await one.ipvs.list(), []);
    assert.match(ipvsadm(one, '-L --timeout'), /: 100 20 30$/m);
    assert.deepEqual(await one.ipvs.timeouts(), { tcp: 100, tcpFin: 20, udp: 30 });
  }
});

const DAEMONS = [
  '--start-daemon master --mcast-interface lo --syncid 7',
  '--start-daemon backup --mcast-interface lo --syncid 8 --sync-maxlen 1400 --mcast-group 224.0.0.99 --mcast-port 9000 --mcast-ttl 3',
];

test('--start-daemon with its options, --daemon, --stop-daemon', async () => {
  const [a, b] = [await place(), await place()];
  await a.ipvs.startDaemon({ state: 'master', interface: 'lo', syncId: 7 });
  await a.ipvs.startDaemon({
    ...{ state: 'backup', interface: 'lo', syncId: 8, maxLength: 1400 },
    ...{ group: '224.0.0.99', port: 9000, ttl: 3 },
  });
  for (const line of DAEMONS) ipvsadm(b, line);
  assert.equal(
    ipvsadm(a, '-Ln --daemon'),
    'master sync daemon (mcast=lo, syncid=7, maxlen=1472, group=224.0.0.81, port=8848, ttl=1)\n' +
      'backup sync daemon (mcast=lo, syncid=8, maxlen=1400, group=224.0.0.99, port=9000, ttl=3)\n',
  );
  assert.equal(ipvsadm(a, '-Ln --daemon'), ipvsadm(b, '-Ln --daemon'));
  assert.deepEqual(await b.ipvs.listDaemons(), await a.ipvs.listDaemons());
  assert.equal((await b.ipvs.listDaemons()).length, 2);
  await a.ipvs.stopDaemon('master');
  ipvsadm(b, '--stop-daemon master');
  assert.match(ipvsadm(a, '-Ln --daemon'), /^backup/);
  assert.deepEqual(
    (await b.ipvs.listDaemons()).map(({ state }) => state),
    ['backup'],
  );
  throwOnFailure(await a.ipvs.apply(parseRules(`${DAEMONS[0]}\n--stop-daemon backup\n`)));
  assert.match(ipvsadm(a, '-Ln --daemon'), /^master .*syncid=7/);
});

/** Limit for what the kernel does every 2 s, in ms. */
const PATIENCE = 30_000;

const SIP = [
  'INVITE sip:a@b SIP/2.0',
  'Via: SIP/2.0/UDP x',
  'From: <sip:a@b>',
  'To: <sip:c@d>',
  'Call-ID: abc123@h',
];

/** One packet to each of three virtual services: by IPv4 and IPv6 with persistence, and of SIP. */
async function withTraffic(): Promise<Place> {
  const busy = await place();
  throwOnFailure(
    await busy.ipvs.apply(
      parseRules(
        [
          '-A -u 10.9.0.1:53 -s rr -p 100\n-a -u 10.9.0.1:53 -r 127.0.0.1:5353 -m',
          '-A -u [fd00:9::1]:53 -s rr -p 100\n-a -u [fd00:9::1]:53 -r [::1]:5353 -m',
          '-A -u 10.9.0.1:5060 -s rr -p 60 --pe sip\n-a -u 10.9.0.1:5060 -r 127.0.0.1:5060 -m',
        ].join('\n'),
      ),
    ),
  );
  busy.namespace.run(
    ...['bash', '-ec'],
    `ip addr add 10.9.0.1/32 dev lo; ip addr add fd00:9::1/128 dev lo nodad
    file=$(mktemp); printf '${SIP.join('\\r\\n')}\\r\\nCSeq: 1 INVITE\\r\\n\\r\\n' >$file
    printf x >/dev/udp/10.9.0.1/53; printf x >/dev/udp/fd00:9::1/53; cat $file >/dev/udp/10.9.0.1/5060; rm $file`,
  );
  return busy;
}

test('--connection, with --persistent-conn, --stats, --rate, --exact and --zero', async () => {
  const busy = await withTraffic();
  const connections = await busy.ipvs.connections().toArray();
  const shown = linesOf(ipvsadm(busy, '-Lcn --persistent-conn')).slice(2).map(withoutTime);
  assert.deepEqual(sorted(connections.map(asIpvsadm)), sorted(shown));
  assert.equal(shown.length, 6);
  const engines = connections.flatMap(({ persistenceEngine }) => persistenceEngine ?? []);
  assert.deepEqual([...new Set(engines.map(({ name, data }) => `${name} ${data}`))], ['sip abc123@h']);
  assert.ok(connections.every(({ template, expires }) => expires > 0 && (!template || expires <= 100)));
  assert.deepEqual(
    (
      await busy.ipvs
        .connections({ template: true, virtual: { address: 'FD00:9::1', port: 53 }, protocol: 'udp' })
        .toArray()
    ).map(({ destination }) => destination),
    [{ address: '::1', port: 5353 }],
  );
  assert.deepEqual(await (await place()).ipvs.connections().toArray(), []);

  // The kernel adds counters up every 2 s.
  for (const deadline = performance.now() + PATIENCE; ; await setTimeout(100)) {
    const all = (await busy.ipvs.list()).flatMap((service) => [service, ...service.realServers]);
    if (all.every(({ counters }) => counters.inPackets > 0n)) break;
    assert.ok(performance.now() < deadline, 'the counters stay zero');
  }
  await sameStatistics(busy);
  await busy.ipvs.zero();
  assert.ok((await busy.ipvs.list()).every(({ counters }) => counters.inPackets === 0n));
  assert.doesNotMatch(ipvsadm(busy, '-Ln --stats --exact'), /^(UDP| {2}->) \S+ .*[1-9]$/m);
});

/** Compares the counters and rates of the library with ipvsadm's. Rates may change between both: tries again. */
async function sameStatistics(busy: Place): Promise<void> {
  const services = await busy.ipvs.list();
  const counters = numbersOfAll(services, ({ counters: of }) => of);
  assert.deepEqual(sorted(numbersOf(ipvsadm(busy, '-Ln --stats --exact'))), sorted(counters));
  assert.ok(services.every(({ counters: of }) => of.connections === 1n && of.inBytes > 0n));
  for (const deadline = performance.now() + PATIENCE; ; ) {
    const rates = numbersOfAll(await busy.ipvs.list(), ({ rates: of }) => of);
    try {
      assert.deepEqual(sorted(numbersOf(ipvsadm(busy, '-Ln --rate --exact'))), sorted(rates));
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}

/** The five counters or rates of each virtual service and real server, as {@link numbersOf}. */
function numbersOfAll(
  services: Awaited<ReturnType<Place['ipvs']['list']>>,
  of: (one: { counters: IpvsCounters; rates: IpvsRates }) => IpvsCounters | IpvsRates,
): string[] {
  return services
    .flatMap((service) => [service, ...service.realServers])
    .map(of)
    .map(({ connections, inPackets, outPackets, inBytes, outBytes }) =>
      [connections, inPackets, outPackets, inBytes, outBytes].join(' '),
    );
}

/** The five numbers of each line of `ipvsadm -Ln --stats`. */
function numbersOf(text: string): string[] {
  return linesOf(text)
    .slice(3)
    .map((line) => line.trim().split(/ +/).slice(-5).join(' '));
}

function withoutTime(line: string): string {
  const [protocol, , ...rest] = line.trim().split(/ +/);
  return [protocol, ...rest].join(' ');
}

/** A connection as `ipvsadm -Lcn --persistent-conn` prints it, without the time. */
function asIpvsadm({ protocol, state, persistenceEngine, ...ends }: IpvsConnection): string {
  const [client, virtual, destination] = [ends.client, ends.virtual, ends.destination].map(
    ({ address, port }) => (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`),
  );
  const engine = persistenceEngine ? [persistenceEngine.name, persistenceEngine.data] : [];
  return [protocol.toUpperCase(), state, client, virtual, destination, ...engine].join(' ');
}
