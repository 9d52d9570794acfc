// The connection entries that IPVS keeps for two minutes after a connection has ended, once rules of iptables translate new connections:
// what a client meets that uses the port of such a connection again, and when the entries go. docs/migrate.md states it.
// Needs: ipvs, dummy device, conntrack, iptables-legacy
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { closeAfter } from '../support/closeAfter.js';
import { Dialer } from '../support/namespaces/dialer.js';

const [CLIENT, NODE, SERVER] = ['client', 'node', 'server'].map((name) => `knp-${process.pid}-${name}`);
const VIP = '10.96.0.1';
/** The addresses of Services, with the port of each: their connections have different source addresses. */
const SERVICES = {
  'a cluster IP': [VIP, 80],
  'another cluster IP of the same endpoint': ['10.96.0.2', 80],
  'an external IP, masqueraded': ['203.0.113.1', 80],
  'a node port, masqueraded': ['10.0.0.1', 30_080],
} as const;
const EXTERNAL = SERVICES['an external IP, masqueraded'];
const ENDPOINT = '10.244.1.2';
const OTHER_ENDPOINT = '10.244.1.3';

let dialer: Dialer;
/** Each connection through IPVS has a port that no other had. */
let port = 40_000;

function sh(namespace: string | undefined, script: string): string {
  const words = namespace === undefined ? [] : ['ip', 'netns', 'exec', namespace];
  const [program = 'sh', ...args] = [...words, 'sh', '-ec', script];
  return execFileSync(program, args, { encoding: 'utf8' });
}

/** The lines of the entries of IPVS that have a port of the client. */
function entries(of = port): string[] {
  const hexadecimal = of.toString(16).toUpperCase();
  return sh(NODE, 'cat /proc/net/ip_vs_conn')
    .split('\n')
    .filter((line) => line.includes(hexadecimal));
}

/** The lines of the flows that have a port of the client. */
function flows(of: number): string[] {
  return sh(NODE, `conntrack -L -p tcp --sport ${of} 2>/dev/null`).split('\n').filter(Boolean);
}

/** Connects with the port, and waits for an answer; the connection then ends on both sides. */
const dial = (host: string, to = 80, patience?: number) =>
  dialer.ask(`dial ${host} ${to} ${port} client`, patience);

/** Ends the flow of the last connection, as its timeout would: otherwise conntrack gives the next one another port. */
const FORGET_FLOWS = 'conntrack -F 2>&1';
const forgetFlows = () => sh(NODE, FORGET_FLOWS);

/** New connections to all Services are translated by rules, as iptables mode does it. */
const translated = (endpoint = ENDPOINT) =>
  Object.values(SERVICES)
    .map(
      ([address, to]) =>
        `iptables-legacy -t nat -A SERVICES -d ${address} -p tcp --dport ${to} -j DNAT --to-destination ${endpoint}:8080`,
    )
    .join('\n');
const UNTRANSLATED = 'iptables-legacy -t nat -F SERVICES';

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
  sh(SERVER, `ip address add ${OTHER_ENDPOINT}/24 dev eth0`);
  // The settings of ipvs mode, and the masquerade of both modes.
  sh(
    NODE,
    `ip link add kube-ipvs0 type dummy; ipvsadm -Ln >/dev/null
    echo 1 >/proc/sys/net/ipv4/ip_forward
    for name in conntrack expire_nodest_conn; do echo 1 >/proc/sys/net/ipv4/vs/$name; done
    iptables-legacy -t nat -N SERVICES
    for address in ${EXTERNAL[0]} 10.0.0.1; do
      iptables-legacy -t nat -A PREROUTING -d $address -j MARK --or-mark 0x4000
    done
    iptables-legacy -t nat -A PREROUTING -j SERVICES
    iptables-legacy -t nat -A POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE --random-fully`,
  );
  addServices();
  const answering = `require('net').createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (text) => String(text) === 'server' ? socket.end('answer') : socket.write('answer'));
  }).listen(8080, () => console.log('listens'))`;
  const words = ['netns', 'exec', `${SERVER}`, process.execPath, '-e', answering];
  const server = spawn('ip', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  closeAfter({ close: () => server.kill() });
  await once(server.stdout, 'data');
  dialer = closeAfter(new Dialer(`${CLIENT}`));
});

/** The virtual services, without entries. */
function addServices(): void {
  const add = Object.values(SERVICES).map(
    ([address, to]) => `ip address replace ${address}/32 dev kube-ipvs0
      ipvsadm -A -t ${address}:${to} -s rr; ipvsadm -a -t ${address}:${to} -r ${ENDPOINT}:8080 -m`,
  );
  sh(NODE, `ipvsadm -C; ${UNTRANSLATED}; ${add.join('\n').replace(/ip address replace 10\.0\.0\.1.*/, '')}`);
}

describe('a connection to a Service succeeds with the port of an entry', () => {
  for (const reuse of [0, 1])
    for (const forgotten of [true, false])
      for (const ends of ['client', 'server'])
        test(`conn_reuse_mode ${reuse}, the ${ends} ended the last one, conntrack ${forgotten ? 'has forgotten it' : 'has its flow'}`, async () => {
          sh(NODE, `echo ${reuse} >/proc/sys/net/ipv4/vs/conn_reuse_mode; ${UNTRANSLATED}`);
          const first = port + 1;
          for (const [host, to] of Object.values(SERVICES))
            assert.equal(await dialer.ask(`dial ${host} ${to} ${++port} ${ends}`), 'answer');
          for (let of = first; of <= port; of++) assert.match(entries(of).join('\n'), /^TCP [^\n]+$/);
          sh(NODE, `${translated()}\n${forgotten ? FORGET_FLOWS : ''}`);
          for (const [i, [name, [host, to]]] of Object.entries(SERVICES).entries()) {
            assert.equal(await dialer.ask(`dial ${host} ${to} ${first + i} ${ends}`), 'answer', name);
            // No new one: iptables translated the connection. The replies passed the old one.
            assert.match(entries(first + i).join('\n'), /^TCP [^\n]+$/, name);
          }
          sh(NODE, `echo 0 >/proc/sys/net/ipv4/vs/conn_reuse_mode; ${UNTRANSLATED}`);
        });
});

test('a connection to the endpoint fails with the port of an entry, while it stays', async () => {
  port++;
  assert.equal(await dial(VIP), 'answer');
  sh(NODE, translated());
  forgetFlows();
  // For less than the time for which the entry is kept then.
  assert.match(await dial(ENDPOINT, 8080, 3000), /^(no answer|ECONN\w+)$/);
  // The client resets the answer, which comes from the virtual IP: the entry is then kept for 10 s.
  const [, seconds] = / CLOSE +(\d+)/.exec(entries().join('\n')) ?? [];
  assert.ok(Number(seconds) <= 10, entries().join('\n'));
});

test('the entries go with the virtual service, and then the connection to the endpoint succeeds', async () => {
  port++;
  // From now on, no rule translates new connections.
  sh(NODE, UNTRANSLATED);
  forgetFlows();
  assert.equal(await dial(VIP), 'answer');
  assert.match(entries().join('\n'), /^TCP .* TIME_WAIT +1[012]\d$/);
  sh(NODE, `ipvsadm -D -t ${VIP}:80`);
  await gone(port);
  forgetFlows();
  assert.equal(await dial(ENDPOINT, 8080), 'answer');
});

/** Waits for the end of an entry, for less than the two minutes for which IPVS keeps it by itself. */
async function gone(of: number, milliseconds = 90_000): Promise<void> {
  for (const deadline = Date.now() + milliseconds; entries(of).length > 0; await delay(50))
    assert.ok(Date.now() < deadline, entries(of).join('\n'));
}

describe('the kernel deletes the flow of an open connection to the same Service when the entry with its port goes', () => {
  for (const [how, ends, remove] of [
    ['with the virtual service', 'client', true],
    // The client resets its connection; to another endpoint, because replies keep the entry.
    ['after its time', 'reset', false],
  ] as const)
    test(`${how}: it continues, and it is reset if it is masqueraded`, async () => {
      addServices();
      const [own, masqueraded] = [++port, ++port];
      assert.equal(await dialer.ask(`dial ${VIP} 80 ${own} ${ends}`), 'answer');
      assert.equal(await dialer.ask(`dial ${EXTERNAL.join(' ')} ${masqueraded} ${ends}`), 'answer');
      sh(NODE, translated(OTHER_ENDPOINT));
      assert.equal(await dialer.ask(`open ${VIP} 80 ${own}`), 'answer');
      assert.equal(await dialer.ask(`open ${EXTERNAL.join(' ')} ${masqueraded}`), 'answer');
      for (const of of [own, masqueraded]) assert.match(flows(of).join('\n'), / ESTABLISHED /);
      if (remove) sh(NODE, 'ipvsadm -C');
      for (const of of [own, masqueraded]) {
        await gone(of);
        assert.deepEqual(flows(of), []);
      }
      // A packet without a flow is translated as the first one was, and the masquerade selects another port.
      assert.equal(await dialer.ask(`send ${own}`), 'answer');
      assert.equal(await dialer.ask(`send ${masqueraded}`), 'ECONNRESET');
      await dialer.ask(`end ${own}`);
    });
});
