// Serves what happens to tracked flows in Prometheus' text format: flows that began and ended, and the bytes of those that ended:
//
//   node flowExporter.js [PORT]        then: curl http://127.0.0.1:9101/metrics
//
// Bytes need the setting net.netfilter.nf_conntrack_acct. Needs CAP_NET_ADMIN. Ends with SIGINT and SIGTERM.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { type Conntrack, type FlowEvent, type IpProtocol, openConntrack } from 'kube-netlink-proxy/conntrack';

/** The counters of one protocol. */
interface Counters {
  begun: number;
  ended: number;
  bytes: bigint;
}

/** Counts events, from its making until the signal is aborted. */
export class FlowCounters {
  /** How often events were lost: the counters are then too low. */
  losses = 0;
  readonly #byProtocol = new Map<IpProtocol, Counters>();

  async count(conntrack: Pick<Conntrack, 'watch'>, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of conntrack.watch({ kinds: ['new', 'destroy'], signal })) {
        if (event.kind !== 'resync') this.#add(event);
        else if (event.lost) this.losses++;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #add({ kind, flow }: FlowEvent): void {
    const counters = this.#byProtocol.get(flow.protocol) ?? { begun: 0, ended: 0, bytes: 0n };
    this.#byProtocol.set(flow.protocol, counters);
    if (kind === 'new') counters.begun++;
    else {
      counters.ended++;
      counters.bytes += (flow.counters?.original.bytes ?? 0n) + (flow.counters?.reply.bytes ?? 0n);
    }
  }

  /** The metrics, with the number of flows that there are. */
  async metrics(conntrack: Pick<Conntrack, 'statistics'>, signal?: AbortSignal): Promise<string> {
    const { entries, maxEntries = 0 } = await conntrack.statistics({ signal });
    const each = (value: keyof Counters) =>
      [...this.#byProtocol].map(([protocol, counters]) => [`{protocol="${protocol}"}`, counters[value]] as const);
    return [
      ...metric('conntrack_flows', 'gauge', 'Flows that are tracked', [['', entries]]),
      ...metric('conntrack_flows_max', 'gauge', 'Most flows that are tracked', [['', maxEntries]]),
      ...metric('conntrack_begun_total', 'counter', 'Flows that began', each('begun')),
      ...metric('conntrack_ended_total', 'counter', 'Flows that ended', each('ended')),
      ...metric('conntrack_bytes_total', 'counter', 'Bytes of flows that ended', each('bytes')),
      ...metric('conntrack_losses_total', 'counter', 'Times at which events were lost', [['', this.losses]]),
      '',
    ].join('\n');
  }
}

function metric(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  samples: readonly (readonly [labels: string, value: number | bigint])[],
): string[] {
  const lines = samples.map(([labels, value]) => `${name}${labels} ${value}`);
  return [`# HELP ${name} ${help}.`, `# TYPE ${name} ${type}`, ...lines];
}

async function main(port = 9101): Promise<void> {
  await using conntrack = await openConntrack();
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end.abort());
  const counters = new FlowCounters();
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    try {
      const text = await counters.metrics(conntrack);
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text);
    } catch (error) {
      response.writeHead(500).end(`${error}\n`);
    }
  });
  server.listen({ port, host: '127.0.0.1', signal: end.signal }, () => {
    console.log(`metrics on port ${(server.address() as AddressInfo).port}`);
  });
  await counters.count(conntrack, end.signal);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(...process.argv.slice(2).map(Number));
