// The connection entries that IPVS keeps for two minutes after a connection has ended, once rules of iptables translate new connections:
// what a client meets that uses the port of such a connection again, and when the entries go. docs/migrate.md states it.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { closeAfter } from '../support/closeAfter.js';

const [CLIENT, NODE, SERVER] = ['client', 'node', 'server'].map((name) => `knp-${process.pid}-${name}`);
const VIP = '10.96.0.1';
const OTHER_VIP = '10.96.0.2';
const ENDPOINT = '10.244.1.2';
const PORT = 40_000;

function sh(namespace: string | undefined, script: string): string {
  const words = namespace === undefined ? [] : ['ip', 'netns', 'exec', namespace];
  const [program = 'sh', ...args] = [...words, 'sh', '-ec', script];
  return execFileSync(program, args, { encoding: 'utf8' });
}

/** The lines of the entries of IPVS that have the client's port. */
function entries(): string[] {
  return sh(NODE, 'cat /proc/net/ip_vs_conn')
    .split('\n')
    .filter((line) => line.includes(PORT.toString(16).toUpperCase()));
}

const DIAL = `
const [host, port, localPort] = process.argv.slice(1);
const socket = require('net').connect({ host, port: Number(port), localPort: Number(localPort) });
const end = (text) => { console.log(text); process.exit(); };
setTimeout(end, 3000, 'no answer');
socket.on('error', ({ code }) => end(code));
socket.on('connect', () => socket.write('question'));
let answer;
socket.on('data', (data) => { answer = String(data); socket.end(); });
socket.on('close', () => end(answer));`;

/** Connects with the port, and waits for an answer; the connection then ends on both sides. */
function dial(host: string, port = 80): string {
  const words = [process.execPath, '-e', DIAL, host, `${port}`, `${PORT}`];
  return execFileSync('ip', ['netns', 'exec', `${CLIENT}`, ...words], { encoding: 'utf8' }).trim();
}

/** Ends the flow of the last connection, as its timeout would: otherwise conntrack gives the next one another port. */
const forgetFlows = () => sh(NODE, 'conntrack -F 2>&1');

before(async () => {
  const namespaces = [CLIENT, NODE, SERVER];
  closeAfter({
    close: () => {
      for (const name of namespaces) sh(undefined, `ip netns delete ${name}`);
    },
  });
  for (const name of namespaces) sh(undefined, `ip netns add ${name}; ip -n ${name} link set lo up`);
  const cable = (namespace: string | undefined, address: string, gateway: string) =>
    sh(
      undefined,
      `ip link add eth0 netns ${namespace} type veth peer name ${namespace?.at(-1)}0 netns ${NODE}
      ip -n ${namespace} address add ${address}/24 dev eth0; ip -n ${namespace} link set eth0 up
      ip -n ${NODE} address add ${gateway}/24 dev ${namespace?.at(-1)}0; ip -n ${NODE} link set ${namespace?.at(-1)}0 up
      ip -n ${namespace} route add default via ${gateway}`,
    );
  cable(CLIENT, '10.0.0.2', '10.0.0.1');
  cable(SERVER, ENDPOINT, '10.244.1.1');
  // The settings of ipvs mode.
  sh(
    NODE,
    `ip link add kube-ipvs0 type dummy; ipvsadm -Ln >/dev/null
    echo 1 >/proc/sys/net/ipv4/ip_forward
    for name in conntrack expire_nodest_conn; do echo 1 >/proc/sys/net/ipv4/vs/$name; done
    echo 0 >/proc/sys/net/ipv4/vs/conn_reuse_mode
    for vip in ${VIP} ${OTHER_VIP}; do
      ip address add $vip/32 dev kube-ipvs0
      ipvsadm -A -t $vip:80 -s rr; ipvsadm -a -t $vip:80 -r ${ENDPOINT}:8080 -m
    done`,
  );
  const answering = `require('net').createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.write('answer'));
  }).listen(8080, () => console.log('listens'))`;
  const words = ['netns', 'exec', `${SERVER}`, process.execPath, '-e', answering];
  const server = spawn('ip', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  closeAfter({ close: () => server.kill() });
  await once(server.stdout, 'data');
});

test('connections to Services succeed with the port of an entry, and those to its endpoint do not while it stays', () => {
  assert.equal(dial(VIP), 'answer');
  assert.equal(entries().length, 1);
  for (const vip of [VIP, OTHER_VIP]) {
    const rule = `PREROUTING -d ${vip} -p tcp --dport 80 -j DNAT --to-destination ${ENDPOINT}:8080`;
    sh(NODE, `iptables-legacy -t nat -A ${rule}`);
  }
  for (const vip of [OTHER_VIP, VIP]) {
    forgetFlows();
    assert.equal(dial(vip), 'answer');
    // No new one: iptables translated the connection. The replies passed the old one.
    assert.match(entries().join('\n'), /^TCP [^\n]+$/);
  }
  forgetFlows();
  assert.match(dial(ENDPOINT, 8080), /^(no answer|ECONN\w+)$/);
  // The client resets the answer, which comes from the virtual IP: the entry is then kept for 10 s.
  const [, seconds] = / CLOSE +(\d+)/.exec(entries().join('\n')) ?? [];
  assert.ok(Number(seconds) <= 10, entries().join('\n'));
});

test('the entries go with the virtual service, and then the connection to the endpoint succeeds', async () => {
  // From now on, no rule translates new connections.
  sh(NODE, 'iptables-legacy -t nat -F PREROUTING');
  forgetFlows();
  assert.equal(dial(VIP), 'answer');
  assert.match(entries().join('\n'), /^TCP .* TIME_WAIT +1[012]\d$/);
  sh(NODE, `ipvsadm -D -t ${VIP}:80`);
  for (const deadline = Date.now() + 5000; entries().length > 0; await delay(50))
    assert.ok(Date.now() < deadline, entries().join('\n'));
  forgetFlows();
  assert.equal(dial(ENDPOINT, 8080), 'answer');
});
