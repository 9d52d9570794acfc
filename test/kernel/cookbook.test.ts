// The programs of the cookbook on a real kernel, as a user runs them: each is a process that SIGTERM ends.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, afterEach, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE } from '../laboratory/patience.js';
import { tools } from '../support/namespaces/tools.js';
import { ROOT } from '../support/paths.js';

const folder = mkdtempSync(join(tmpdir(), 'knp-cookbook-'));
after(() => {
  rmSync(folder, { recursive: true });
  // The balancer leaves its services, on purpose. Later tests in the same guest unload the module.
  tools('ipvsadm -C; ipset destroy');
});

const running: ChildProcess[] = [];
afterEach(() => {
  for (const process of running.splice(0)) process.kill('SIGKILL');
});

/** A program of the cookbook. */
class Program {
  readonly #process;
  readonly #lines: AsyncIterator<string>;

  constructor(name: string, ...args: readonly string[]) {
    const script = join(ROOT, 'dist/examples/cookbook', `${name}.js`);
    this.#process = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    running.push(this.#process);
  }

  async line(): Promise<string> {
    return (await this.#lines.next()).value;
  }

  reload(): void {
    this.#process.kill('SIGHUP');
  }

  /** Ends it; returns its exit status. */
  async end(): Promise<unknown> {
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    const [status] = await exit;
    return status;
  }
}

/** Waits until it holds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE; !(await holds()); await sleep(100))
    assert.ok(performance.now() < deadline, `${holds}`);
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

it('the load balancer follows its file, and the exporter serves the counters', {
  timeout: PATIENCE,
}, async () => {
  const service = '{ address: 10.96.0.10, port: 80, protocol: tcp, scheduler: rr, servers: [';
  const path = file('balancer.yaml', `- ${service}{ address: 10.0.0.1, port: 8080, weight: 2 }] }\n`);
  const balancer = new Program('balancer', path);
  assert.equal(await balancer.line(), '1 services');
  const exporter = new Program('exporter', '0');
  const port = Number(/^metrics on port (\d+)$/.exec(await exporter.line())?.[1]);
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  assert.match(
    metrics,
    /^ipvs_server_connections_total\{service="10.96.0.10:80",protocol="tcp",server="10.0.0.1:8080"\} 0$/m,
  );
  assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 404);
  file('balancer.yaml', `- ${service}{ address: 10.0.0.2, port: 8080, weight: 3 }] }\n`);
  balancer.reload();
  assert.equal(await balancer.line(), '1 services');
  assert.deepEqual(tools('ipvsadm -S -n'), [
    '-A -t 10.96.0.10:80 -s rr\n-a -t 10.96.0.10:80 -r 10.0.0.2:8080 -m -w 3\n',
  ]);
  assert.deepEqual(await Promise.all([balancer.end(), exporter.end()]), [0, 0]);
});

it('the ban list grows its set, and adds what its file has', { timeout: PATIENCE }, async () => {
  const networks = (count: number) =>
    Array.from({ length: count }, (_, i) => `10.0.${i}.0/24 600\n`).join('');
  const program = new Program('banList', file('bans.txt', networks(3)), '4');
  assert.equal(await program.line(), '3 networks are banned');
  file('bans.txt', `${networks(9)}192.0.2.1 # for ever\n`);
  program.reload();
  assert.equal(await program.line(), '10 networks are banned');
  const [set = ''] = tools('ipset save banned');
  assert.match(set, /^create banned hash:net family inet .*maxelem 16 timeout 0/);
  assert.match(set, /^add banned 192\.0\.2\.1 timeout 0$/m);
  assert.equal(await program.end(), 0);
});

it('the virtual IP is held while its server accepts connections', { timeout: PATIENCE }, async () => {
  tools('ip link set lo up', 'ip link add knp-vip type dummy');
  const holds = () => (tools('ip -o addr show dev knp-vip')[0] ?? '').includes(' 10.0.0.99/32 ');
  const listen = async (port = 0) => {
    const server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  const first = await listen();
  const { port } = first.address() as { port: number };
  const program = new Program('vip', 'knp-vip', '10.0.0.99/32', `127.0.0.1:${port}`);
  await until(holds);
  first.close();
  await until(() => !holds());
  const second = await listen(port);
  await until(holds);
  assert.equal(await program.end(), 0);
  assert.equal(holds(), false);
  second.close();
});

it('the flow cleaner deletes flows of its servers, now and later', { timeout: PATIENCE }, async () => {
  const insert = (port: number, server: string) =>
    `conntrack -I -t 600 -s 10.0.0.9 -d 10.96.0.10 -r ${server} -q 10.0.0.9 -p udp --sport ${port} --dport 53 --reply-port-src 53 --reply-port-dst ${port}`;
  tools(insert(1, '10.0.0.1'), insert(2, '10.0.0.2'));
  const program = new Program('flowCleaner', '10.0.0.2', 'fd00::/64');
  assert.equal(await program.line(), 'deleted 1 flows');
  assert.equal(await program.line(), 'deleted 0 flows');
  tools(insert(3, '10.0.0.1'), insert(4, '10.0.0.2'));
  assert.equal(await program.line(), 'deleted 1 flows');
  const [left = ''] = tools('conntrack -L');
  assert.deepEqual([...left.matchAll(/ sport=(\d) dport=53/g)].map(([, port]) => port).sort(), ['1', '3']);
  assert.equal(await program.end(), 0);
});

it('the exporter of flows counts flows that begin and end', { timeout: PATIENCE }, async () => {
  const program = new Program('flowExporter', '0');
  const port = Number(/^metrics on port (\d+)$/.exec(await program.line())?.[1]);
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const ends = '-s 10.0.0.9 -d 10.96.0.10 -p udp --sport 99 --dport 53';
  tools(`conntrack -I -t 600 ${ends}`, `conntrack -D ${ends}`);
  let text = '';
  await until(async () => {
    text = await metrics();
    return /^conntrack_ended_total\{protocol="udp"\} [1-9]/m.test(text);
  });
  assert.match(text, /^conntrack_begun_total\{protocol="udp"\} [1-9]/m);
  assert.match(text, /^conntrack_ended_total\{protocol="udp"\} [1-9]/m);
  assert.match(text, /^conntrack_flows_max [1-9]/m);
  assert.equal(await program.end(), 0);
});

it('the reconciler makes and repairs a network in a namespace', { timeout: PATIENCE }, async () => {
  const name = 'knp-reconciled';
  tools(`ip netns add ${name}`);
  try {
    const wanted = (more: string) => `
      links: [{ name: web0, kind: bridge, mtu: 1400 }]
      addresses: [{ link: web0, address: 10.0.9.1, prefix: 24 }]
      rules: [{ priority: 1000, from: 10.0.9.0/24, table: 100 }]
      ${more}`;
    const routes = 'routes: [{ destination: 10.8.0.0/16, gateway: 10.0.9.254, table: 100 }]';
    const program = new Program('network', `/run/netns/${name}`, file('network.yaml', wanted(routes)));
    assert.equal(await program.line(), '4 changes');
    const seen = () => tools(`ip -n ${name} rule`, `ip -n ${name} route show table 100`).join('');
    assert.match(seen(), /^1000:\sfrom 10\.0\.9\.0\/24 lookup 100/m);
    assert.match(seen(), /^10\.8\.0\.0\/16 via 10\.0\.9\.254 dev web0/m);
    tools(`ip -n ${name} rule del priority 1000`);
    assert.equal(await program.line(), '1 changes');
    assert.match(seen(), /^1000:/m);
    file('network.yaml', wanted(''));
    program.reload();
    assert.equal(await program.line(), '1 changes');
    assert.doesNotMatch(seen(), /10\.8\.0\.0/);
    assert.equal(await program.end(), 0);
  } finally {
    tools(`ip netns del ${name}`);
  }
});

it('the states of links are those of their carriers', { timeout: PATIENCE }, async () => {
  const name = 'knp-states';
  tools(
    `ip netns add ${name}`,
    `ip -n ${name} link set lo up`,
    `ip -n ${name} link add name br0 type bridge`,
  );
  try {
    const program = new Program('linkState', `/run/netns/${name}`);
    const lines: string[] = [];
    for (let line = await program.line(); line !== undefined; line = await program.line()) lines.push(line);
    assert.ok(lines.includes('lo up'), lines.join());
    assert.ok(lines.includes('br0 down'), lines.join());
  } finally {
    tools(`ip netns del ${name}`);
  }
});
