// The tests of other tools that damage items of ipvs mode in the kernel: an audit repairs them, or a notification of the kernel.
import assert from 'node:assert/strict';
import { before, describe, type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Lab, openLab } from '../../laboratory/lab.js';
import { ManifestFolder } from '../../laboratory/manifestFolder.js';
import { NODE_A } from '../../laboratory/places.js';
import { type LogLine, ProxyProcess, type SyncedLine } from '../../laboratory/proxyProcess.js';
import { closeAfter } from '../closeAfter.js';
import { ask, linesOf, witness } from '../namespaces/witnesses.js';

/** Time without a pass after which an audit is due, in s. If notifications alone are tested, none is due. */
const PERIOD = 3;
const NEVER = 3600;
/** Tolerance for timers and the log, in ms. */
const SLACK = 1000;
/** Time limit for repairs after a notification of the kernel, in ms. */
const AT_ONCE = 1000;
/** On a busy machine, both are this many of the time of a command in the node's namespace. */
const COMMANDS = 15;

/** A foreign virtual service and set. */
export const FOREIGN = '-A -t 198.51.100.99:80 -s wlc\n-a -t 198.51.100.99:80 -r 198.51.100.98:80 -m -w 5\n';
const FOREIGN_SET = 'create somebody-elses hash:ip\nadd somebody-elses 198.51.100.97\n';

/** Damages, each with its name. */
export type Damages = readonly (readonly [what: string, vandalize: () => void])[];

/** What is tested. */
export interface Vandalism {
  /** Of the proxy. */
  readonly flags?: readonly string[];
  /** More of the state than that of {@link witness}. */
  readonly more?: () => Readonly<Record<string, readonly string[]>>;
  /** Repaired within an audit. */
  readonly audited: Damages;
  /** Repaired within a second. */
  readonly notified: Damages;
}

let lab: Lab;
let proxy: ProxyProcess;
let tested: Vandalism;
let intact: Comparable;

/** Runs a command, or a script, in the namespace of the node. */
export const inNode = (...command: string[]) => ask(lab.namespace(NODE_A), ...command);
export const shell = (script: string) => inNode('sh', '-ec', script);
export const feed = (command: string, input: string) => shell(`${command} <<'END'\n${input}END\n`);

/** The files of settings that are compared. */
export const SETTINGS = ['vs/conntrack', 'vs/expire_nodest_conn', 'ip_forward'].map(
  (name) => `/proc/sys/net/ipv4/${name}`,
);

async function open(): Promise<void> {
  lab = closeAfter(openLab([]));
  const manifests = closeAfter(new ManifestFolder());
  feed('ipvsadm -R', FOREIGN);
  feed('ipset restore', FOREIGN_SET);
  proxy = closeAfter(
    // Audits without changes are logged at debug level; the test uses these lines for their times.
    new ProxyProcess(lab.namespace(NODE_A), manifests.path, [
      ...['--ipvs-sync-period', `${tested.audited.length > 0 ? PERIOD : NEVER}s`, '-v=4'],
      ...(tested.flags ?? []),
    ]),
  );
  await proxy.programmed();
  intact = state();
  assert.ok(intact.ipvsadm.includes('-a -t 198.51.100.99:80 -r 198.51.100.98:80 -m -w 5'));
  assert.ok(intact.ipset.includes('add somebody-elses 198.51.100.97'));
}

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
    ...tested.more?.(),
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

/** The tests of a file. */
export function testVandalism(vandalism: Vandalism): void {
  tested = vandalism;
  before(open);

  for (const [limit, damages, times] of [
    ['one audit', vandalism.audited, [PERIOD * 1000, SLACK]],
    ['a second', vandalism.notified, [0, AT_ONCE]],
  ] as const)
    if (damages.length > 0)
      describe(`is repaired within ${limit}`, () => {
        for (const [what, vandalize] of damages) test(what, (context) => judge(vandalize, times, context));
      });

  test('no other operation was carried out, and none failed', () => {
    assert.deepEqual(state(), intact);
    const bad = proxy.log.filter(({ level }) => level === 'error' || level === 'none');
    // This test damages some items in two audits in a row.
    const others = bad.filter(({ msg }) => !String(msg).startsWith('audits repair the same items again'));
    assert.deepEqual(others, []);
  });
}
