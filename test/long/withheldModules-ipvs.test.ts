// ipvs mode on a kernel without xtables and ipset: `--ipvs-rules auto` writes rules of nf_tables, traffic takes them, and the agent starts no
// process and has CAP_NET_ADMIN alone.
// Needs: ipvs, dummy device, nftables, modules, command, curl
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { before, test } from 'node:test';
import { kernelModules } from '../../src/command/modes/ipvs/open.js';
import { type Lab, openLab } from '../laboratory/lab.js';
import { ManifestFolder } from '../laboratory/manifestFolder.js';
import { CLIENT, NODE_A, type Place, SHELL, WEB, WEB_PORT } from '../laboratory/places.js';
import { ProxyProcess } from '../laboratory/proxyProcess.js';
import { closeAfter } from '../support/closeAfter.js';
import { service, slice } from '../support/clusters/manifests.js';
import { ask } from '../support/namespaces/witnesses.js';
import { ExecTrace } from '../support/processes/execTrace.js';
import { withCapabilities } from '../support/sealing/withCapabilities.js';

/** Hides the modules of xtables and ipset in the folder of the kernel's modules. This machine ends with the test. */
const WITHHOLD = `
  folder=$(readlink -f /lib/modules/$(uname -r))
  writes=$(mktemp -d -p /run)
  mkdir $writes/upper $writes/work
  mount -t overlay overlay -o lowerdir=$folder,upperdir=$writes/upper,workdir=$writes/work $folder
  grep -E -v '/(xt_|x_tables|ip6?_tables|ip6?table_|ip6?t_|arp|nft_compat|ip_set)[^/]*:' $folder/modules.dep >$writes/dep
  sed -n 's/:.*//p' $folder/modules.dep | grep -E '/(xt_|x_tables|ip6?_tables|ip6?table_|ip6?t_|arp|nft_compat|ip_set)[^/]*$' >$writes/withheld
  cp $writes/dep $folder/modules.dep
  cd $folder && xargs rm <$writes/withheld
  modprobe -q -a x_tables ip_set nft_compat || true`;

/** A server that says from which address a request comes. */
const SERVER = `
  require('node:http').createServer(({ socket }, response) => response.end(socket.remoteAddress))
    .listen(${WEB_PORT}, '0.0.0.0', () => console.log('listening'))`;

const WEB_0 = WEB[0] as (typeof WEB)[number];
const CLUSTER_IP = '10.96.0.80';
const EXTERNAL_IP = '203.0.113.80';
const NODE_PORT = 30080;

let lab: Lab;
let manifests: ManifestFolder;
let proxy: ProxyProcess;

const CHOICE = 'what writes the rules was chosen';

/** As the init container does, with all privileges. */
const LOAD = `modprobe -a ${kernelModules('rr', 'nftables').join(' ')}`;

/** An endpoint on this node. */
const local = (name: string) =>
  slice(name, WEB_0.ipv4).replaceAll('conditions:', `nodeName: ${NODE_A.name}, conditions:`);

before(async () => {
  execFileSync('sh', ['-ec', `${WITHHOLD}\n${LOAD}`]);
  lab = closeAfter(openLab([SHELL, WEB_0]));
  const server = spawn('ip', ['netns', 'exec', lab.namespace(WEB_0), process.execPath, '-e', SERVER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  closeAfter({ close: () => void server.kill() });
  manifests = closeAfter(new ManifestFolder(''));
  const text = service('web', CLUSTER_IP, `  type: NodePort\n  externalIPs: [${EXTERNAL_IP}]`);
  manifests.write('service.yaml', text.replace('port: 80', `port: 80, nodePort: ${NODE_PORT}`));
  manifests.write('slice.yaml', local('web'));
  await once(server.stdout, 'data');
  const alone = withCapabilities(['net_admin']);
  proxy = closeAfter(
    new ProxyProcess(lab.namespace(NODE_A), manifests.path, ['--ipvs-rules', 'auto'], alone),
  );
});

/** The address from which the server sees a request; without an answer, the status of curl. */
function seen(from: Place, address: string, port: number): string {
  const words = [
    'netns',
    'exec',
    lab.namespace(from),
    'curl',
    '-s',
    '--max-time',
    '60',
    `http://${address}:${port}/`,
  ];
  const { stdout, status } = spawnSync('ip', words, { encoding: 'utf8' });
  return status === 0 ? stdout : `status ${status}`;
}

/** CURLE_COULDNT_CONNECT: the connection was refused. A time limit has another status. */
const REFUSED = 'status 7';

test('an agent with CAP_NET_ADMIN alone chooses nf_tables, because the kernel has no ipset, and programs all', async () => {
  const { rules, reason } = await proxy.logged(({ msg }) => msg === CHOICE, 'its choice');
  assert.equal(rules, 'nftables');
  assert.match(String(reason), / has no module ip_set/);
  assert.equal((await proxy.programmed()).failures, 0);
});

test('traffic takes the rules', () => {
  const gateway = NODE_A.podGateway.ipv4;
  assert.equal(seen(SHELL, CLUSTER_IP, 80), SHELL.ipv4, 'cluster IP');
  assert.equal(seen(WEB_0, CLUSTER_IP, 80), gateway, 'hairpin, masqueraded');
  assert.equal(seen(CLIENT, NODE_A.ipv4, NODE_PORT), gateway, 'node port, masqueraded');
  assert.equal(seen(CLIENT, EXTERNAL_IP, 80), gateway, 'external IP, masqueraded');
  assert.equal(seen(SHELL, CLUSTER_IP, 22), REFUSED, 'another port');
});

test('a change starts no process, and nothing was logged as an error', async () => {
  const trace = closeAfter(await ExecTrace.attach(proxy.pid));
  const lines = proxy.log.length;
  manifests.write('other.yaml', service('other', '10.96.0.81') + local('other'));
  assert.equal((await proxy.synced(lines)).failures, 0);
  assert.equal(seen(SHELL, '10.96.0.81', 80), SHELL.ipv4);
  assert.deepEqual(await trace.started(), []);
  assert.deepEqual(
    proxy.log.filter(({ level }) => level === 'error'),
    [],
  );
  const modules = ask(lab.namespace(NODE_A), 'cat', '/proc/modules');
  assert.doesNotMatch(modules, /^(x_tables|ip_set|nft_compat)/m);
});
