// Other tools damage each kind of item in the kernel. One audit repairs it; kube-ipvs0 and its addresses are repaired
// within a second. Foreign items survive.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { before, describe, type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Lab, openLab } from '../laboratory/lab.js';
import { ManifestFolder } from '../laboratory/manifestFolder.js';
import { NODE_A } from '../laboratory/places.js';
import { type LogLine, ProxyProcess, type SyncedLine } from '../laboratory/proxyProcess.js';
import { closeAfter } from '../support/closeAfter.js';
import { ask, linesOf, witness } from '../support/namespaces/witnesses.js';

/** Time without a pass after which an audit is due, in s. */
const PERIOD = 3;
/** Tolerance for timers and the log, in ms. */
const SLACK = 1000;
/** Time limit for repairs after a notification of the kernel, in ms. */
const AT_ONCE = 1000;
/** On a busy machine, both are this many of the time of a command in the node's namespace. */
const COMMANDS = 15;

/** A foreign virtual service and set. */
const FOREIGN = '-A -t 198.51.100.99:80 -s wlc\n-a -t 198.51.100.99:80 -r 198.51.100.98:80 -m -w 5\n';
const FOREIGN_SET = 'create somebody-elses hash:ip\nadd somebody-elses 198.51.100.97\n';

let lab: Lab;
let proxy: ProxyProcess;
let intact: Comparable;

const inNode = (...command: string[]) => ask(lab.namespace(NODE_A), ...command);
const shell = (script: string) => inNode('sh', '-ec', script);
const feed = (command: string, input: string) => shell(`${command} <<'END'\n${input}END\n`);

const SETTINGS = ['vs/conntrack', 'vs/expire_nodest_conn', 'ip_forward'].map(
  (name) => `/proc/sys/net/ipv4/${name}`,
);

before(async () => {
  lab = closeAfter(openLab([]));
  const manifests = closeAfter(new ManifestFolder());
  feed('ipvsadm -R', FOREIGN);
  feed('ipset restore', FOREIGN_SET);
  proxy = closeAfter(
    // Audits without changes are logged at debug level; the test uses these lines for their times.
    new ProxyProcess(lab.namespace(NODE_A), manifests.path, ['--ipvs-sync-period', `${PERIOD}s`, '-v=4']),
  );
  await proxy.programmed();
  intact = state();
  assert.ok(intact.ipvsadm.includes('-a -t 198.51.100.99:80 -r 198.51.100.98:80 -m -w 5'));
  assert.ok(intact.ipset.includes('add somebody-elses 198.51.100.97'));
});

type Comparable = ReturnType<typeof state>;

/** The output of the tools, without indexes that change when an item is created again, and sorted if order is irrelevant. */
function state() {
  const { ipvsadm, ipset, address, iptables, ip6tables } = witness(lab.namespace(NODE_A));
  return {
    ipvsadm: linesOf(ipvsadm),
    ipset: linesOf(ipset.replaceAll(/ (bucketsize|initval) \w+/g, '')),
    addresses: linesOf(address).filter((line) => / inet6? /.test(line)),
    ...rulesOf('iptables', iptables),
    ...rulesOf('ip6tables', ip6tables),
    settings: linesOf(inNode('grep', '-H', '', ...SETTINGS)),
  };
}

/** The order matters within our chains, but not among the jumps to them. */
function rulesOf(command: string, saved: string): Record<string, string[]> {
  const [ours, others] = [/^-A KUBE-/, /^-A (?!KUBE-)/].map((pattern) =>
    saved.split('\n').filter((line) => pattern.test(line)),
  ) as [string[], string[]];
  return { [command]: ours, [`${command}, jumps`]: others.sort() };
}

interface Repair {
  readonly pass: SyncedLine;
  /** Time from the damage, or from the end of a pass that ran meanwhile, to the start of the repair, in ms. */
  readonly waited: number;
  /** Time of {@link COMMANDS} meanwhile, in ms. */
  readonly slowness: number;
}

/** Time of a command, in ms. */
function timeOfCommand(): number {
  const began = performance.now();
  inNode('true');
  return performance.now() - began;
}

/** Damages an item, and waits until the state is repaired. Times are of the system's clock, as in the log. */
async function spoil(vandalize: () => void): Promise<Repair> {
  let read = proxy.log.length;
  vandalize();
  let since = Date.now();
  const before = timeOfCommand();
  for (;;) {
    const isPass = (line: LogLine) => line.msg === 'synced' && line['full'] === true;
    const pass = (await proxy.logged(
      (line) => isPass(line) && proxy.log.indexOf(line) >= read,
      'a look at everything',
    )) as SyncedLine;
    read = proxy.log.indexOf(pass) + 1;
    const ended = Number(pass['ts']);
    const waited = ended - pass.planMs - pass.kernelMs - since;
    assert.equal(pass.failures, 0, JSON.stringify(proxy.log.slice(-5)));
    if (pass.operations > 0 && isDeepStrictEqual(state(), intact))
      return { pass, waited, slowness: COMMANDS * Math.max(before, timeOfCommand()) };
    // By its times, a pass seems to have begun later than it did if the proxy got no CPU before its line.
    if (waited > SLACK) assert.deepEqual(state(), intact, `after a pass of ${pass.operations} operations`);
    if (waited <= 0) since = Math.max(since, ended);
  }
}

const VANDALISM: readonly (readonly [what: string, vandalize: () => void])[] = [
  [
    'all of IPVS is flushed',
    () => {
      inNode('ipvsadm', '-C');
      feed('ipvsadm -R', FOREIGN);
    },
  ],
  [
    'every real server gets weight 0',
    () => {
      const servers = linesOf(inNode('ipvsadm', '-S', '-n')).filter(
        (line) => line.startsWith('-a') && !line.includes('198.51.100.99'),
      );
      shell(
        servers.map((line) => `ipvsadm ${line.replace(/^-a/, '-e').replace(/-w 1$/, '-w 0')}\n`).join(''),
      );
    },
  ],
  [
    'virtual services and real servers are deleted, edited and added',
    () =>
      shell(`
        ipvsadm -D -t 10.96.10.10:80
        ipvsadm -d -t 203.0.113.10:80 -r 10.244.2.11:8080
        ipvsadm -E -u 10.96.0.10:53 -s wlc
        ipvsadm -a -t 10.96.10.20:80 -r 10.244.9.9:80 -m
        ipvsadm -A -t 10.96.10.30:8080 -s rr
      `),
  ],
  [
    'entries of sets are deleted and added',
    () =>
      shell(`
        ipset flush KUBE-CLUSTER-IP
        ipset del KUBE-NODE-PORT-TCP 30080
        ipset add KUBE-LOAD-BALANCER 192.0.2.1,tcp:80
        ipset flush KUBE-6-CLUSTER-IP
      `),
  ],
  [
    'a set is made anew with another maxelem',
    () =>
      shell(`
        ipset create spoiled hash:ip,port maxelem 1024
        ipset swap spoiled KUBE-CLUSTER-IP
        ipset destroy spoiled
      `),
  ],
  [
    'jumps are deleted',
    () =>
      shell(`
        iptables -t nat -D PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
        iptables -t nat -D POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
        iptables -D INPUT -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-FILTER
        ip6tables -t nat -D OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
      `),
  ],
  [
    'rules are flushed and added',
    () =>
      shell(`
        iptables -t nat -F KUBE-SERVICES
        iptables -t nat -I KUBE-MARK-MASQ -j RETURN
        ip6tables -F KUBE-IPVS-FILTER
      `),
  ],
  ['settings are changed', () => shell(SETTINGS.map((name) => `echo 0 >${name}\n`).join(''))],
];

/**
 * Damages an item; the pass that repairs it must begin within this time, in ms. The duration of the pass is excluded, because
 * it may be seconds on a busy emulated machine.
 */
async function judge(
  vandalize: () => void,
  [period, slack]: readonly [number, number],
  context: TestContext,
): Promise<void> {
  const { pass, waited, slowness } = await spoil(vandalize);
  const limit = period + Math.max(slack, slowness);
  const took = pass.planMs + pass.kernelMs;
  context.diagnostic(
    `begun after ${Math.max(0, waited).toFixed(0)} ms, done in another ${took.toFixed(0)} ms`,
  );
  assert.ok(waited <= limit, `begun after ${waited} ms, and not ${limit} at most`);
}

describe('is repaired within one audit', () => {
  for (const [what, vandalize] of VANDALISM) {
    test(what, async (context) => {
      await judge(vandalize, [PERIOD * 1000, SLACK], context);
    });
  }
});

const NOTIFIED: readonly (readonly [what: string, vandalize: () => void])[] = [
  ['an address is deleted', () => inNode('ip', 'address', 'del', '10.96.10.10/32', 'dev', 'kube-ipvs0')],
  ['the device is deleted', () => inNode('ip', 'link', 'del', 'kube-ipvs0')],
  ['an address is added', () => inNode('ip', 'address', 'add', '192.0.2.1/32', 'dev', 'kube-ipvs0')],
];

describe('is repaired within a second', () => {
  for (const [what, vandalize] of NOTIFIED) {
    test(what, async (context) => {
      await judge(vandalize, [0, AT_ONCE], context);
    });
  }
});

test('no other operation was carried out, and none failed', () => {
  assert.deepEqual(state(), intact);
  const bad = proxy.log.filter(({ level }) => level === 'error' || level === 'none');
  // This test damages some items in two audits in a row.
  const others = bad.filter(({ msg }) => !String(msg).startsWith('audits repair the same items again'));
  assert.deepEqual(others, []);
});
