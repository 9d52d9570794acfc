// The path of the first packet of a connection through this node. Pure: it follows the packet through the recorded state
// of the kernel, as the hooks of netfilter and IPVS would.
import type { VirtualService } from '../../../kernel/ipvs/types.js';
import { ownSettings } from '../../../kernel/ipvs/values/settingsText.js';
import { joinHostPort } from '../../../kernel/net/address.js';
import { LINK } from '../../../proxy/modes/ipvs/plan/items.js';
import type { IpvsOptions } from '../../../proxy/modes/ipvs/plan/options.js';
import type { CauseCode, Explanation, PacketQuestion } from '../explanation.js';
import type { Packet } from '../packet/packet.js';
import type { Decision } from '../packet/walk.js';
import {
  atSocket,
  describeAddress,
  explainWith,
  failure,
  firstPacket,
  leavesNode,
  loopbackFailure,
  masqueradeOf,
  nameOf,
  type Outcome,
  type PathContext,
  stopped,
  verdictOf,
} from '../shared/path.js';
import type { HooksResult } from '../shared/trace.js';
import { endpointPath } from './endpointPath.js';
import type { ExplainedServer, ExplainFacts } from './facts.js';
import { IPVS_MEANINGS } from './meanings.js';
import { localSetOf, nodeOf } from './node.js';
import { candidates, findService, persistenceOf, serviceName } from './services.js';
import { warningsOf } from './warnings.js';

/** Causes that may be the effect of missing rules. */
const EFFECTS_OF_RULES: ReadonlySet<CauseCode> = new Set([
  'ReplyBypasses',
  'Hairpin',
  'Rule',
  'NoVirtualService',
]);

/** Explains a packet. Throws NoClientError if the place in the question has no address on this node. */
export function explainPacket(
  facts: ExplainFacts,
  question: PacketQuestion,
  options: IpvsOptions,
): Explanation {
  const node = nodeOf(facts, options.localDetector);
  return explainWith(
    {
      mode: 'ipvs',
      node,
      meanings: IPVS_MEANINGS,
      follow: (context) => new Path(facts, context).follow(),
      warnings: warningsOf(node, options),
      effectsOfRules: EFFECTS_OF_RULES,
    },
    question,
  );
}

class Path {
  readonly #facts: ExplainFacts;
  #context: PathContext;

  constructor(facts: ExplainFacts, context: PathContext) {
    this.#facts = facts;
    this.#context = context;
  }

  follow(): Outcome {
    return this.#context.client.place === 'node' ? this.#fromNode() : this.#fromHost();
  }

  #fromNode(): Outcome {
    const { node, trace, dialled } = this.#context;
    const isBound = describeAddress(this.#context);
    const output = isBound ? 'lo' : node.topology.route(dialled.address)?.link;
    if (output === undefined) return this.#notBound();
    const begun = this.#begin('OUTPUT', firstPacket(this.#context, { output }));
    if (begun.stopped) return this.#stopped(begun.stopped);
    const service = this.#service(begun.packet);
    if (service) return this.#viaService(service, begun.packet);
    const sent = trace.pass(['filter/OUTPUT', 'mangle/POSTROUTING', 'nat/POSTROUTING'], begun.packet);
    if (sent.stopped) return this.#stopped(sent.stopped);
    if (!isBound) return this.#notBound();
    const { output: _, ...rest } = sent.packet;
    return this.#toProcess({ ...rest, input: 'lo' });
  }

  #fromHost(): Outcome {
    const { node, client } = this.#context;
    const input = node.topology.route(client.address)?.link;
    const loopback = loopbackFailure(this.#context);
    if (loopback) return loopback;
    const arrived = this.#begin(
      'PREROUTING',
      firstPacket(this.#context, input === undefined ? {} : { input }),
    );
    if (arrived.stopped) return this.#stopped(arrived.stopped);
    if (!describeAddress(this.#context)) return this.#notBound();
    return this.#toProcess(arrived.packet);
  }

  /** The first hook. A rule of table nat may replace the destination: that of an address with tunnels, by the cluster IP. */
  #begin(hook: 'PREROUTING' | 'OUTPUT', packet: Packet): HooksResult {
    const { trace, dialled } = this.#context;
    const before = trace.pass([`raw/${hook}`, `mangle/${hook}`], packet);
    if (before.stopped) return before;
    const [only, ...others] = trace.branches(`nat/${hook}`, before.packet);
    if (only?.packet.translated !== true || others.length > 0)
      return trace.pass([`nat/${hook}`], before.packet);
    trace.rules(only.matched);
    const { destination: address, port } = only.packet;
    this.#context = { ...this.#context, dialled: { ...dialled, address, port } };
    return { packet: only.packet };
  }

  /** Chain INPUT, then IPVS, then the sockets of the node. */
  #toProcess(packet: Packet): Outcome {
    const { trace } = this.#context;
    const input = trace.pass(['mangle/INPUT', 'filter/INPUT', 'security/INPUT'], packet);
    if (input.stopped) return this.#stopped(input.stopped);
    const service = this.#service(input.packet);
    if (service) return this.#viaService(service, input.packet);
    return atSocket(this.#context, () => this.#unserved());
  }

  #notBound(): Outcome {
    const { address } = this.#context.dialled;
    const { family, sets } = this.#facts;
    const wanted = sets.get(family === 4 ? 'KUBE-IPVS-IPS' : 'KUBE-6-IPVS-IPS');
    const isVirtual = wanted?.entries.some((entry) => entry.address === address) ?? false;
    const missing = isVirtual ? `${address} is missing on ${LINK}` : `no link of this node has ${address}`;
    return leavesNode(this.#context, 'AddressNotBound', missing);
  }

  #service(packet: Packet): VirtualService | undefined {
    const service = findService(this.#facts.services, this.#context.dialled, packet.mark);
    if (!service) this.#context.trace.step('IPVS', `no virtual service has ${this.#name()}`);
    return service;
  }

  #name(): string {
    return nameOf(this.#context.dialled);
  }

  #viaService(service: VirtualService, packet: Packet): Outcome {
    const servers = byEndpoint(this.#facts.realServers.get(serviceName(service)) ?? []);
    const { scheduler } = service;
    const persistence = persistenceOf(service);
    const virtualService = { name: serviceName(service), scheduler, persistence };
    const settings = ownSettings(service);
    const also = settings.length > 0 ? ` (${settings.join(', ')})` : '';
    const kept = persistence > 0 ? `; a client keeps its real server for ${persistence} s` : '';
    this.#context.trace.step(
      'IPVS',
      `virtual service ${virtualService.name}, scheduler ${scheduler}${also}, ${servers.length} real server${servers.length === 1 ? '' : 's'}${kept}`,
    );
    const endpoints = servers.map((server) => endpointPath(server, packet, this.#context));
    const selectable = endpoints.filter((endpoint) => endpoint.selectable);
    const known = { virtualService, endpoints, ...masqueradeOf(selectable) };
    if (servers.length === 0) {
      const local = localSetOf(this.#facts, this.#context.dialled);
      if (local !== undefined) {
        const text = `externalTrafficPolicy of the Service is Local (set ${local}), and it has no usable endpoint on this node: IPVS rejects the packet`;
        return { ...known, ...failure('refused', 'NoLocalEndpoint', text) };
      }
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
      verdict: verdictOf(selectable.map(({ result }) => result)),
      causes: selectable.flatMap((endpoint) => endpoint.cause ?? []),
    };
  }

  #unserved(): Outcome {
    const { address, port, protocol } = this.#context.dialled;
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

  /** The addresses of the node, other than virtual IPs, with a virtual service for the same port. Sorted: the kernel's order varies. */
  #addressesOfNodePort(): string[] {
    const { node, dialled } = this.#context;
    const { port, protocol } = dialled;
    const addresses = this.#facts.services.flatMap((service) => {
      if ('firewallMark' in service || service.port !== port || service.protocol !== protocol) return [];
      const assigned = node.topology.assigned(service.address);
      return assigned && assigned.link !== LINK ? [service.address] : [];
    });
    return addresses.sort();
  }

  /** Rules stop the packet before IPVS. */
  #stopped(decision: Decision): Outcome {
    const outcome = stopped(this.#context, decision);
    if (!decision.at.endsWith('/KUBE-IPVS-FILTER')) return outcome;
    const { dialled } = this.#context;
    const service = candidates(this.#facts.services, dialled).find((each) => !('firewallMark' in each));
    if (service) {
      const text = `no set has ${this.#name()}, although virtual service ${serviceName(service)} exists: KUBE-IPVS-FILTER rejects the packet`;
      return failure(outcome.verdict, 'EntryMissing', text);
    }
    const text = `${dialled.address} is a virtual IP, but no Service has ${this.#name()}: KUBE-IPVS-FILTER rejects the packet`;
    return failure(outcome.verdict, 'PortNotServed', text);
  }
}

/** Sorted, because the order of the kernel depends on the order of the additions. */
function byEndpoint(servers: readonly ExplainedServer[]): ExplainedServer[] {
  const name = ({ address, port }: ExplainedServer) => joinHostPort(address, port);
  return [...servers].sort((a, b) => (name(a) < name(b) ? -1 : 1));
}
