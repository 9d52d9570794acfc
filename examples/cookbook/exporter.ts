// Serves the counters of the virtual services and their real servers in Prometheus' text format:
//
//   node exporter.js [PORT]        then: curl http://127.0.0.1:9100/metrics
//
// Needs CAP_NET_ADMIN. Ends with SIGINT and SIGTERM.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { type Ipvs, type IpvsCounters, openIpvs, type VirtualServiceState } from 'kube-netlink-proxy/ipvs';

/** Each metric: its name, its description and the counter that it has. */
const METRICS: readonly [name: string, help: string, counter: keyof IpvsCounters][] = [
  ['ipvs_connections_total', 'Connections', 'connections'],
  ['ipvs_incoming_packets_total', 'Packets from clients', 'inPackets'],
  ['ipvs_outgoing_packets_total', 'Packets to clients', 'outPackets'],
  ['ipvs_incoming_bytes_total', 'Bytes from clients', 'inBytes'],
  ['ipvs_outgoing_bytes_total', 'Bytes to clients', 'outBytes'],
];

/** The metrics of all virtual services. */
export async function metricsOf(ipvs: Pick<Ipvs, 'list'>, signal?: AbortSignal): Promise<string> {
  const services = await ipvs.list({ signal });
  const families = METRICS.map(([name, help, counter]) => {
    const samples = services.flatMap((service) => [
      sample(name, labelsOf(service), service.counters[counter]),
      ...service.realServers.map((server) =>
        sample(
          name.replace('ipvs_', 'ipvs_server_'),
          { ...labelsOf(service), server: `${server.address}:${server.port}` },
          server.counters[counter],
        ),
      ),
    ]);
    const isServer = (line: string) => line.startsWith('ipvs_server_');
    return [
      ...family(name, help, samples.filter((line) => !isServer(line))),
      ...family(name.replace('ipvs_', 'ipvs_server_'), `${help}, by real server`, samples.filter(isServer)),
    ];
  });
  return `${families.flat().join('\n')}\n`;
}

function family(name: string, help: string, samples: readonly string[]): string[] {
  return [`# HELP ${name} ${help}.`, `# TYPE ${name} counter`, ...samples];
}

function sample(name: string, labels: Readonly<Record<string, string>>, value: bigint): string {
  const text = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
  return `${name}{${text.join()}} ${value}`;
}

function labelsOf(service: VirtualServiceState): Record<string, string> {
  if ('firewallMark' in service) return { mark: String(service.firewallMark), family: `ipv${service.family}` };
  return { service: `${service.address}:${service.port}`, protocol: String(service.protocol) };
}

async function main(port = 9100): Promise<void> {
  await using ipvs = await openIpvs();
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end.abort());
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    try {
      const text = await metricsOf(ipvs);
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text);
    } catch (error) {
      response.writeHead(500).end(`${error}\n`);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).once('close', resolve);
    server.listen({ port, host: '127.0.0.1', signal: end.signal }, () => {
      console.log(`metrics on port ${(server.address() as AddressInfo).port}`);
    });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(...process.argv.slice(2).map(Number));
