// The path of the first packet of a connection through this node. Pure: it follows the packet through the recorded state
// of the kernel, as the hooks of netfilter and IPVS would.
import type { AddressId, VirtualService } from '../../../kernel/ipvs/types.js';
import { isLoopback, joinHostPort } from '../../../net/address.js';
import type {
  Cause,
  CauseCode,
  EndpointPath,
  Explanation,
  PacketQuestion,
  Verdict,
} from '../../explanation.js';
import { CLIENT_PORT, type Packet } from '../../shared/packet/packet.js';
import { LINK } from '../items.js';
import type { IpvsOptions } from '../options.js';
import { clientOf } from './client.js';
import { endpointPath } from './endpointPath.js';
import type { ExplainedServer, ExplainFacts } from './facts.js';
import { candidates, findService, persistenceOf, serviceName } from './services.js';
import { Surroundings } from './surroundings.js';
import { stopOf, Trail } from './trail.js';
import { warningsOf } from './warnings.js';

type Outcome = Pick<Explanation, 'verdict' | 'causes'> &
  Partial<Pick<Explanation, 'virtualService' | 'endpoints' | 'masquerade' | 'process'>>;

/** Explains a packet. Throws NoClientError if the place in the question has no address on this node. */
export function explainPacket(
  facts: ExplainFacts,
  question: PacketQuestion,
  options: IpvsOptions,
): Explanation {
  const node = new Surroundings(facts, options.localDetector);
  const client = clientOf(question, node);
  const { address, port, protocol } = question;
  const trail = new Trail(node);
  trail.step(
    'client',
    `${client.address} connects to ${joinHostPort(address, port)}/${protocol}`,
    client.reason,
  );
  const outcome = new Path(node, trail, client, { address, port, protocol }).follow();
  const warnings = warningsOf(node, options);
  return {
    mode: 'ipvs',
    destination: { address, port, protocol },
    client,
    steps: trail.steps,
    endpoints: [],
    ...outcome,
    causes: [...outcome.causes, ...missingRules(outcome.causes, warnings)],
    warnings,
    notUnderstood: trail.notUnderstood,
  };
}

/** Causes that may be the effect of missing rules. */
const EFFECTS_OF_RULES: ReadonlySet<CauseCode> = new Set([
  'ReplyBypasses',
  'Hairpin',
  'Rule',
  'NoVirtualService',
]);

/** The warnings about missing rules, if they may have led to the causes. */
function missingRules(causes: readonly Cause[], warnings: readonly Cause[]): Cause[] {
  if (!causes.some(({ code }) => EFFECTS_OF_RULES.has(code))) return [];
  return warnings.filter(({ code }) => code === 'RulesMissing');
}

const failure = (verdict: Verdict, code: CauseCode, text: string): Outcome => ({
  verdict,
  causes: [{ code, text }],
});

class Path {
  readonly #node: Surroundings;
  readonly #trail: Trail;
  readonly #client: Explanation['client'];
  readonly #dialled: AddressId;

  constructor(node: Surroundings, trail: Trail, client: Explanation['client'], dialled: AddressId) {
    this.#node = node;
    this.#trail = trail;
    this.#client = client;
    this.#dialled = dialled;
  }

  follow(): Outcome {
    return this.#client.place === 'node' ? this.#fromNode() : this.#fromHost();
  }

  #packet(links: Pick<Packet, 'input' | 'output'>): Packet {
    const { address, port, protocol } = this.#dialled;
    const { family } = this.#node.facts;
    return {
      family,
      protocol,
      source: this.#client.address,
      sourcePort: CLIENT_PORT,
      destination: address,
      port,
      mark: 0,
      state: 'NEW',
      fromBridgePort: links.input !== undefined && this.#node.filtersBridge(links.input),
      ...links,
    };
  }

  #fromNode(): Outcome {
    const { address } = this.#dialled;
    const isBound = this.#describeAddress();
    const output = isBound ? 'lo' : this.#node.topology.route(address)?.link;
    if (output === undefined) return this.#notBound();
    const hooks = ['raw/OUTPUT', 'mangle/OUTPUT', 'nat/OUTPUT'];
    const begun = this.#trail.pass(hooks, this.#packet({ output }));
    if (begun.stopped) return this.#stopped(begun.stopped);
    const service = this.#service(begun.packet);
    if (service) return this.#viaService(service, begun.packet);
    const sent = this.#trail.pass(['filter/OUTPUT', 'mangle/POSTROUTING', 'nat/POSTROUTING'], begun.packet);
    if (sent.stopped) return this.#stopped(sent.stopped);
    if (!isBound) return this.#notBound();
    const { output: _, ...rest } = sent.packet;
    return this.#toProcess({ ...rest, input: 'lo' });
  }

  #fromHost(): Outcome {
    const { address } = this.#dialled;
    const input = this.#node.topology.route(this.#client.address)?.link;
    if (isLoopback(address)) {
      return failure(
        'hangs',
        'Loopback',
        `a packet of another host to ${address} is dropped: it is a loopback address`,
      );
    }
    const hooks = ['raw/PREROUTING', 'mangle/PREROUTING', 'nat/PREROUTING'];
    const arrived = this.#trail.pass(hooks, this.#packet(input === undefined ? {} : { input }));
    if (arrived.stopped) return this.#stopped(arrived.stopped);
    if (!this.#describeAddress()) return this.#notBound();
    return this.#toProcess(arrived.packet);
  }

  /** Chain INPUT, then IPVS, then the sockets of the node. */
  #toProcess(packet: Packet): Outcome {
    const input = this.#trail.pass(['mangle/INPUT', 'filter/INPUT', 'security/INPUT'], packet);
    if (input.stopped) return this.#stopped(input.stopped);
    const service = this.#service(input.packet);
    if (service) return this.#viaService(service, input.packet);
    return this.#atSocket();
  }

  /** Adds a step about the address; returns whether the node has it. */
  #describeAddress(): boolean {
    const { address } = this.#dialled;
    const assigned = this.#node.topology.assigned(address);
    if (!assigned) {
      this.#trail.step('address', `no link of this node has ${address}`);
      return false;
    }
    const { link, prefix } = assigned;
    this.#trail.step(
      'address',
      `this node has ${address}: it receives the packet`,
      `${assigned.address}/${prefix} dev ${link}`,
    );
    return true;
  }

  #notBound(): Outcome {
    const { address } = this.#dialled;
    const { topology } = this.#node;
    const route = topology.route(address);
    const wanted = this.#node.sets.get(this.#node.facts.family === 4 ? 'KUBE-IPVS-IPS' : 'KUBE-6-IPVS-IPS');
    const isVirtual = wanted?.entries.some((entry) => entry.address === address) ?? false;
    const missing = isVirtual ? `${address} is missing on ${LINK}` : `no link of this node has ${address}`;
    if (!route) return failure('unreachable', 'AddressNotBound', `${missing}, and no route leads to it`);
    const next = `${route.gateway === undefined ? '' : `${route.gateway} on `}${route.link}`;
    return failure('hangs', 'AddressNotBound', `${missing}: the packet leaves this node to ${next}`);
  }

  #service(packet: Packet): VirtualService | undefined {
    const service = findService(this.#node.services, this.#dialled, packet.mark);
    if (!service) this.#trail.step('IPVS', `no virtual service has ${this.#name()}`);
    return service;
  }

  #name(): string {
    const { address, port, protocol } = this.#dialled;
    return `${joinHostPort(address, port)}/${protocol}`;
  }

  #viaService(service: VirtualService, packet: Packet): Outcome {
    const servers = byEndpoint(this.#node.facts.realServers.get(serviceName(service)) ?? []);
    const { scheduler } = service;
    const persistence = persistenceOf(service);
    const virtualService = { name: serviceName(service), scheduler, persistence };
    const kept = persistence > 0 ? `; a client keeps its real server for ${persistence} s` : '';
    this.#trail.step(
      'IPVS',
      `virtual service ${virtualService.name}, scheduler ${scheduler}, ${servers.length} real server${servers.length === 1 ? '' : 's'}${kept}`,
    );
    const way = {
      node: this.#node,
      trail: this.#trail,
      client: this.#client,
      dialled: this.#dialled,
    };
    const endpoints = servers.map((server) => endpointPath(server, packet, way));
    const selectable = endpoints.filter((endpoint) => endpoint.selectable);
    const known = { virtualService, endpoints, ...masqueradeOf(selectable) };
    if (servers.length === 0) {
      return {
        ...known,
        ...failure(
          'refused',
          'NoRealServer',
          `${virtualService.name} has no real server: IPVS rejects the packet`,
        ),
      };
    }
    if (selectable.length === 0) {
      const text = `${virtualService.name}: ${endpoints.map((endpoint) => endpoint.cause?.text).join(', ')}: IPVS rejects the packet`;
      return { ...known, ...failure('refused', 'NoCapacity', text) };
    }
    return {
      ...known,
      verdict: verdictOf(selectable),
      causes: selectable.flatMap((endpoint) => endpoint.cause ?? []),
    };
  }

  #atSocket(): Outcome {
    const { address, port, protocol } = this.#dialled;
    const process = this.#node.facts.sockets.find(
      (socket) =>
        socket.port === port &&
        socket.protocol === protocol &&
        (socket.address === address || socket.address === '::' || socket.address === '0.0.0.0'),
    );
    if (process) {
      const text = `a process of this node listens on ${joinHostPort(process.address, port)}/${protocol} and gets the packet`;
      this.#trail.step('socket', text);
      return { process: { address: process.address, port }, verdict: 'connects', causes: [] };
    }
    if (protocol === 'sctp') {
      return failure(
        'unknown',
        'NoVirtualService',
        `no virtual service has ${this.#name()}; sockets of SCTP are not read`,
      );
    }
    const elsewhere = this.#addressesOfNodePort();
    if (elsewhere.length > 0) {
      const text = `node port ${port}/${protocol} is served on ${elsewhere.join(', ')}, not on ${address}`;
      return failure('refused', 'NodePortAddress', text);
    }
    return failure(
      'refused',
      'NoVirtualService',
      `no virtual service has ${this.#name()}, and no process listens there`,
    );
  }

  /** The addresses of the node, other than virtual IPs, with a virtual service for the same port. */
  #addressesOfNodePort(): string[] {
    const { port, protocol } = this.#dialled;
    return this.#node.services.flatMap((service) => {
      if ('firewallMark' in service || service.port !== port || service.protocol !== protocol) return [];
      const assigned = this.#node.topology.assigned(service.address);
      return assigned && assigned.link !== LINK ? [service.address] : [];
    });
  }

  /** Rules stop the packet before IPVS. */
  #stopped(decision: Parameters<typeof stopOf>[0]): Outcome {
    const { result, cause } = stopOf(decision, 'the packet');
    if (!decision.at.endsWith('/KUBE-IPVS-FILTER')) return { verdict: result, causes: [cause] };
    const { address } = this.#dialled;
    const service = candidates(this.#node.services, this.#dialled).find((each) => !('firewallMark' in each));
    if (service) {
      const text = `no set has ${this.#name()}, although virtual service ${serviceName(service)} exists: KUBE-IPVS-FILTER rejects the packet`;
      return failure(result, 'EntryMissing', text);
    }
    const text = `${address} is a virtual IP, but no Service has ${this.#name()}: KUBE-IPVS-FILTER rejects the packet`;
    return failure(result, 'PortNotServed', text);
  }
}

/** Sorted, because the order of the kernel depends on the order of the additions. */
function byEndpoint(servers: readonly ExplainedServer[]): ExplainedServer[] {
  const name = ({ address, port }: ExplainedServer) => joinHostPort(address, port);
  return [...servers].sort((a, b) => (name(a) < name(b) ? -1 : 1));
}

function verdictOf(endpoints: readonly EndpointPath[]): Verdict {
  const results = new Set(endpoints.map(({ result }) => result));
  if (results.has('unknown')) return 'unknown';
  if (results.size === 1) return endpoints[0]?.result ?? 'unknown';
  return results.has('connects') ? 'partly' : 'hangs';
}

function masqueradeOf(endpoints: readonly EndpointPath[]): Pick<Explanation, 'masquerade'> {
  const reached = endpoints.filter(({ source }) => source !== undefined);
  if (reached.length === 0) return {};
  const masqueraded = reached.filter((endpoint) => endpoint.masqueraded).length;
  if (masqueraded === 0) return { masquerade: 'no' };
  return { masquerade: masqueraded === reached.length ? 'yes' : 'some' };
}
