// The schedulers of the load figures (bench/schedulers/) and those of a real kernel: both get the same connections, which open and end in
// the same order, and select the same real servers.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { before, test } from 'node:test';
import { type RealServer, type SchedulerName, VirtualService } from '../../bench/schedulers/schedulers.js';
import { seededRandom } from '../../bench/statistics.js';
import { numberOfIPv4 } from '../../src/kernel/net/address.js';
import { closeAfter } from '../support/closeAfter.js';
import { Dialer } from '../support/namespaces/dialer.js';
import { ipvsNamespace } from '../support/namespaces/ipvsNamespace.js';

const VIP = '10.96.0.10';
/** All connections come from this address: the kernel selects it for connections to itself. */
const CLIENT = numberOfIPv4(VIP) as number;
const PORT = 8080;
/** Weights of the real servers, in the order in which they are added. The last two are added later. */
const WEIGHTS = [1, 2, 4, 1, 3, 2, 1];
const FIRST = 5;
const addressAt = (place: number) => `10.200.0.${1 + place}`;
const STEPS = 60;

const { namespace, ipvs } = await ipvsNamespace();
let dialer: Dialer;
/** No connection has the port of another: IPVS would give it the same real server while it keeps the former. */
let port = 40_000;

before(async () => {
  const addresses = [VIP, ...WEIGHTS.map((_, place) => addressAt(place))];
  namespace.run('sh', '-ec', addresses.map((address) => `ip address add ${address}/32 dev lo`).join('\n'));
  // Each real server answers with its address.
  const answering = `require('net').createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.write(socket.localAddress));
  }).listen(${PORT}, '0.0.0.0', () => console.log('listens'))`;
  const words = ['netns', 'exec', namespace.name, process.execPath, '-e', answering];
  const server = spawn('ip', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  closeAfter({ close: () => server.kill() });
  await once(server.stdout, 'data');
  dialer = closeAfter(new Dialer(namespace.name));
});

/** The port of a virtual service. No two have the same: IPVS remembers the connections of real servers that were removed. */
let virtualPort = 80;

/** A virtual service of the kernel and a simulated one, with the same real servers and connections. */
class BothServices {
  readonly #service = { address: VIP, port: virtualPort++, protocol: 'tcp' } as const;
  readonly #simulated: VirtualService;
  readonly #weighted: boolean;
  readonly #servers: RealServer[] = [];
  readonly #open: { readonly port: number; readonly server: RealServer }[] = [];

  private constructor(scheduler: SchedulerName, weighted: boolean) {
    this.#simulated = new VirtualService(scheduler);
    this.#weighted = weighted;
  }

  static async create(scheduler: SchedulerName, weighted: boolean): Promise<BothServices> {
    const schedulerFlags = scheduler === 'mh' ? (['mh-port'] as const) : [];
    const both = new BothServices(scheduler, weighted);
    await ipvs.add({ ...both.#service, scheduler, schedulerFlags });
    for (let place = 0; place < FIRST; place++) await both.addServer();
    return both;
  }

  async addServer(): Promise<void> {
    const place = this.#servers.length;
    const address = addressAt(place);
    const weight = this.#weighted ? (WEIGHTS[place] as number) : 1;
    await ipvs.addRealServer(this.#service, { address, port: PORT, weight, forwarding: 'masquerade' });
    const server = { address: numberOfIPv4(address) as number, port: PORT, weight, active: 0, inactive: 0 };
    this.#servers.push(server);
    this.#simulated.add(server);
  }

  /** Removes the real server of the last connection: rr continues after the one before it. Its connections stay open. */
  async removeLast(): Promise<void> {
    const server = this.#open.at(-1)?.server as RealServer;
    await ipvs.deleteRealServer(this.#service, { address: this.#addressOf(server), port: PORT });
    this.#simulated.remove(server);
    const others = this.#open.filter((one) => one.server !== server);
    this.#open.splice(0, this.#open.length, ...others);
  }

  /** Opens a connection; the addresses of the real servers that the kernel and the simulation select for it. */
  async connect(): Promise<{ readonly kernel: string; readonly simulated: string }> {
    port++;
    const kernel = await dialer.ask(`open ${VIP} ${this.#service.port} ${port}`);
    const server = this.#simulated.connect({ address: CLIENT, port });
    assert.ok(server !== undefined);
    this.#open.push({ port, server });
    return { kernel, simulated: this.#addressOf(server) };
  }

  /** Ends a connection, which both count as inactive from then on. */
  async end(random: number): Promise<void> {
    const [ended] = this.#open.splice(Math.floor(random * this.#open.length), 1);
    if (ended === undefined) return;
    await dialer.ask(`end ${ended.port}`);
    ended.server.active--;
    ended.server.inactive++;
  }

  #addressOf(server: RealServer): string {
    return addressAt(this.#servers.indexOf(server));
  }
}

for (const [scheduler, weighted] of [
  ['rr', false],
  ['lc', false],
  ['sed', false],
  ['sed', true],
  ['mh', false],
  ['mh', true],
] as const)
  test(`${scheduler}${weighted ? ' with weights' : ''} selects what the load figures say`, async () => {
    const both = await BothServices.create(scheduler, weighted);
    const random = seededRandom(7);
    const found: { kernel: string; simulated: string }[] = [];
    for (let step = 0; step < STEPS; step++) {
      if (step === 20 || step === 40) {
        await both.removeLast();
        await both.addServer();
      }
      if (random() < 0.65) found.push(await both.connect());
      else await both.end(random());
    }
    assert.deepEqual(
      found.map(({ simulated }) => simulated),
      found.map(({ kernel }) => kernel),
    );
    assert.ok(new Set(found.map(({ kernel }) => kernel)).size >= FIRST, 'few real servers were selected');
  });
