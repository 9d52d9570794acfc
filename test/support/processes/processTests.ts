// The tests of the processes that a running proxy starts in ipvs mode: none for a change of endpoints, Services or rules. Those of its start
// are over: the iptables-restore of each family was started by the first pass.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type AddressId, type Ipvs, openIpvs } from '../../../src/kernel/ipvs/index.js';
import type { IpvsOptions } from '../../../src/proxy/modes/ipvs/plan/options.js';
import { realServersBecome } from '../../laboratory/kernelView.js';
import { type Lab, openLab } from '../../laboratory/lab.js';
import { ManifestFolder } from '../../laboratory/manifestFolder.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { NODE_A } from '../../laboratory/places.js';
import { ProxyProcess } from '../../laboratory/proxyProcess.js';
import { closeAfter } from '../closeAfter.js';
import { service, slice } from '../clusters/manifests.js';
import { ask } from '../namespaces/witnesses.js';
import { ExecTrace } from './execTrace.js';

const CLUSTER_IP: AddressId = { address: '10.96.0.80', port: 80, protocol: 'tcp' };
const SLICE = 'slice.yaml';
const SERVICE = 'service.yaml';
/** Audits run iptables-save; none is due during these tests. */
const NO_AUDIT = ['--ipvs-sync-period', '1h'];

let lab: Lab;
let manifests: ManifestFolder;
let ipvs: Ipvs;
let proxy: ProxyProcess;
let trace: ExecTrace;
let shown: Shown;

/** Endpoints on this node, which also have set entries. */
const local = (...addresses: string[]) =>
  slice('web', ...addresses).replaceAll('conditions:', `nodeName: ${NODE_A.name}, conditions:`);

const externalIPs = (...addresses: string[]) =>
  service('web', CLUSTER_IP.address, `  externalIPs: [${addresses}]`);

/** An entry of a set: `10.96.0.80`, `tcp`, 80. */
type Entry = readonly (string | number)[];

const isIPv6 = (set: string) => set.startsWith('KUBE-6-');

/** How the sets and the rules show. */
interface Shown {
  entry(set: string, entry: Entry): boolean;
  /** Whether a rule looks in a set; undefined: it does whatever the set has. */
  readonly rule?: (set: string) => boolean;
}

const inNode = (...command: string[]) => ask(lab.namespace(NODE_A), ...command);

const SHOWN: Readonly<Record<IpvsOptions['rules'], Shown>> = {
  iptables: {
    entry(set, [address, protocol, port, ...more]) {
      const entry = [address, `${protocol}:${port}`, ...more].join();
      return inNode('ipset', 'save').split('\n').includes(`add ${set} ${entry}`);
    },
    rule: (set) =>
      inNode(isIPv6(set) ? 'ip6tables-save' : 'iptables-save', '-t', 'nat').includes(`--match-set ${set} `),
  },
  nftables: {
    entry: (set, entry) =>
      inNode('nft', 'list', 'set', isIPv6(set) ? 'ip6' : 'ip', 'kube-proxy-ipvs', set).includes(
        entry.join(' . '),
      ),
  },
};

async function open(flags: readonly string[]): Promise<void> {
  lab = closeAfter(openLab([]));
  manifests = closeAfter(new ManifestFolder(''));
  manifests.write(SERVICE, service('web', CLUSTER_IP.address));
  manifests.write(SLICE, local('10.244.1.10'));
  // A chain of iptables mode: after the first pass the proxy looks for what other modes left, which starts programs, and this shows
  // when it has ended.
  ask(lab.namespace(NODE_A), 'ip6tables', '-t', 'nat', '-N', 'KUBE-SEP-AAAAAAAAAAAAAAAA');
  proxy = closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path, [...NO_AUDIT, ...flags]));
  await proxy.logged(({ msg }) => msg === 'removed items of another mode', 'the end of its start');
  ipvs = closeAfter(await openIpvs({ netns: lab.netns(NODE_A) }));
  trace = closeAfter(await ExecTrace.attach(proxy.pid));
}

/**
 * The tests of a file.
 *
 * @param changes number of changes of endpoints
 */
export function testProcesses(rules: IpvsOptions['rules'], changes: number): void {
  shown = SHOWN[rules];
  /** The last endpoint. */
  const last = `10.244.1.${100 + changes}`;
  before(() => open(['--ipvs-rules', rules]));

  test(`${changes} changes of endpoints, each checked in the kernel, start no process`, async () => {
    for (let i = 1; i <= changes; i++) {
      const changing = `10.244.1.${100 + i}`;
      manifests.write(SLICE, local('10.244.1.10', changing));
      await realServersBecome(ipvs, CLUSTER_IP, ['10.244.1.10:8080', `${changing}:8080`]);
    }
    assert.deepEqual(await trace.started(), []);
    const shown = ask(lab.namespace(NODE_A), 'ipvsadm', '-S', '-n');
    assert.match(shown, new RegExp(`^-a -t 10\\.96\\.0\\.80:80 -r ${last}:8080 -m -w 1$`, 'm'));
    assert.equal(shown.match(/^-a /gm)?.length, 2);
    await entryBecomes('KUBE-LOOP-BACK', [last, 'tcp', 8080, last], true);
  });

  test('the first external IP of the cluster changes rules without a process, and so does the removal of the last', async () => {
    const external = (address: string): AddressId => ({ ...CLUSTER_IP, address });
    const endpoints = ['10.244.1.10:8080', `${last}:8080`];
    for (const addresses of [['203.0.113.1'], ['203.0.113.1', '203.0.113.2'], ['203.0.113.2'], []]) {
      manifests.write(SERVICE, externalIPs(...addresses));
      for (const address of ['203.0.113.1', '203.0.113.2']) {
        await realServersBecome(ipvs, external(address), addresses.includes(address) ? endpoints : []);
      }
      for (const address of ['203.0.113.1', '203.0.113.2'])
        await entryBecomes('KUBE-EXTERNAL-IP', [address, 'tcp', 80], addresses.includes(address));
      await ruleBecomes('KUBE-EXTERNAL-IP', addresses.length > 0);
      assert.deepEqual(await trace.started(), [], `external IPs [${addresses}]`);
    }
  });

  test('a change of only the IPv6 rules starts no process', async () => {
    const id: AddressId = { address: 'fd00:10:96::80', port: 80, protocol: 'tcp' };
    for (const there of [true, false]) {
      // A comment, because an empty file counts as unreadable.
      manifests.write('six.yaml', there ? service('six', `"${id.address}"`) : '# none\n');
      await virtualServiceBecomes(id, there);
      await entryBecomes('KUBE-6-CLUSTER-IP', [id.address, 'tcp', 80], there);
      await ruleBecomes('KUBE-6-CLUSTER-IP', there);
      assert.deepEqual(await trace.started(), []);
    }
  });
}

async function virtualServiceBecomes(id: AddressId, there: boolean): Promise<void> {
  const wanted = `${id.address} is ${there ? '' : 'not '}in the kernel`;
  await until(async () => ((await ipvs.get(id)) !== undefined) === there, wanted);
}

async function entryBecomes(set: string, entry: Entry, there: boolean): Promise<void> {
  await until(() => shown.entry(set, entry) === there, `${set} has ${there ? '' : 'not '}${entry}`);
}

async function ruleBecomes(set: string, there: boolean): Promise<void> {
  const { rule } = shown;
  if (rule) await until(() => rule(set) === there, `a rule of ${set}`);
}

async function until(isThere: () => boolean | Promise<boolean>, wanted: string): Promise<void> {
  for (const deadline = Date.now() + PATIENCE; !(await isThere()); )
    assert.ok(Date.now() < deadline, `not within ${PATIENCE} ms: ${wanted}`);
}
