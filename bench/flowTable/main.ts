// `npm run task -- flow-table`: what a byte of a long connection and a short connection cost a machine that forwards them to a Service in nftables
// mode, with and without a flow table. Client, node and pod are network namespaces of this machine: it needs root, and a kernel with nf_flow_table.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { openLab } from '../../test/laboratory/lab.js';
import { ManifestFolder } from '../../test/laboratory/manifestFolder.js';
import { CLIENT, NODE_A, type Pod, WEB } from '../../test/laboratory/places.js';
import { runOnce } from '../../test/laboratory/proxyProcess.js';
import { service, slice } from '../../test/support/clusters/manifests.js';
import { ask } from '../../test/support/namespaces/witnesses.js';

const ROUNDS = 5;
const MEBIBYTES = 64;
const CONNECTIONS = 500;
const EXTERNAL_IP = '203.0.113.80';
const FAR = WEB[2] as Pod;

/** Answers each connection that ends with its number of bytes. */
const SERVER = `
  const server = require('node:net').createServer({ allowHalfOpen: true }, (socket) => {
    let bytes = 0;
    socket.on('data', (data) => { bytes += data.length; });
    socket.on('end', () => socket.end(String(bytes)));
  });
  server.listen(8080, '0.0.0.0', () => console.log('listening'));`;

/** Sends so many bytes over each of so many connections, one after another. */
const SENDER = `
  const [connections, bytes] = process.argv.slice(1).map(Number);
  const chunk = Buffer.alloc(Math.min(bytes, 1 << 16));
  const send = () => new Promise((resolve, reject) => {
    const socket = require('node:net').connect(80, '${EXTERNAL_IP}');
    let left = bytes, answer = '';
    const more = () => { while (left > 0) { left -= chunk.length; if (!socket.write(chunk)) return; } socket.end(); };
    socket.on('drain', more).on('connect', more).on('error', reject);
    socket.on('data', (data) => { answer += data; }).on('close', () => Number(answer) === bytes ? resolve() : reject(new Error(answer)));
  });
  (async () => { for (let i = 0; i < connections; i++) await send(); })();`;

/** Time for which this machine was busy since its start, in s: user, nice, system, irq and softirq of /proc/stat. */
function busy(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const ticks = line.split(/\s+/).slice(1).map(Number);
  return [0, 1, 2, 5, 6].reduce((sum, column) => sum + (ticks[column] ?? 0), 0) / 100;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

const lab = openLab([FAR]);
const manifests = new ManifestFolder('');
manifests.write('service.yaml', service('web', '10.96.0.80', `  externalIPs: [${EXTERNAL_IP}]`));
manifests.write('slice.yaml', slice('web', FAR.ipv4));
const node = lab.namespace(NODE_A);
ask(node, 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1');
// Packets as on a wire: a veth takes segments of 64 KiB.
for (const place of [CLIENT, FAR])
  ask(lab.namespace(place), 'ip', 'link', 'set', 'eth0', 'gso_max_segs', '1');
const server = spawn('ip', ['netns', 'exec', lab.namespace(FAR), process.execPath, '-e', SERVER]);
try {
  await once(server.stdout, 'data');
  const send = (connections: number, bytes: number) => {
    const command = [process.execPath, '-e', SENDER, `${connections}`, `${bytes}`];
    const [wall, cpu] = [performance.now(), busy()];
    execFileSync('ip', ['netns', 'exec', lab.namespace(CLIENT), ...command]);
    return { wall: (performance.now() - wall) / 1000, cpu: busy() - cpu };
  };
  const found = { without: [], with: [] } as Record<
    'without' | 'with',
    { long: { wall: number; cpu: number }; short: { wall: number; cpu: number }; forwarded: number }[]
  >;
  for (let round = 0; round < ROUNDS; round++)
    for (const name of ['without', 'with'] as const) {
      const flags = name === 'with' ? ['--nftables-flow-table=*'] : [];
      const { status, stderr } = await runOnce(node, manifests.path, ['--proxy-mode=nftables', ...flags]);
      if (status !== 0) throw new Error(stderr);
      send(1, 1); // Neighbours are known from now on.
      ask(
        node,
        'nft',
        'add table ip seen; flush table ip seen; add chain ip seen f { type filter hook forward priority 0; }',
      );
      ask(node, 'nft', 'add rule ip seen f counter');
      const long = send(1, MEBIBYTES << 20);
      const forwarded = Number(/packets (\d+)/.exec(ask(node, 'nft', 'list', 'table', 'ip', 'seen'))?.[1]);
      ask(node, 'nft', 'delete table ip seen');
      found[name].push({ long, short: send(CONNECTIONS, 1), forwarded });
    }
  const row = (
    title: string,
    of: (run: (typeof found)['with'][number]) => number,
    unit: string,
    digits = 1,
  ) =>
    `| ${title} | ${median(found.without.map(of)).toFixed(digits)} ${unit} | ${median(found.with.map(of)).toFixed(digits)} ${unit} |`;
  const lines = [
    '| median of rounds | without | with the flow table |',
    '|---|---|---|',
    row('a long connection, CPU time for a MiB', ({ long }) => (1000 * long.cpu) / MEBIBYTES, 'ms'),
    row('its throughput', ({ long }) => MEBIBYTES / long.wall, 'MiB/s'),
    row('packets of it that rules saw', ({ forwarded }) => forwarded, '', 0),
    row('a short connection, CPU time', ({ short }) => (1e6 * short.cpu) / CONNECTIONS, 'µs', 0),
    row('wall-clock time', ({ short }) => (1e6 * short.wall) / CONNECTIONS, 'µs', 0),
  ];
  process.stdout.write(`${lines.join('\n').replaceAll('  |', ' |')}\n`);
} finally {
  server.kill('SIGKILL');
  manifests.close();
  lab.close();
}
