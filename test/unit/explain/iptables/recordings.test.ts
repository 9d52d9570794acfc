// Every frontend of every recorded cluster, explained from kube-proxy's own rules and compared with the objects: which
// endpoints a client reaches, with which probability, and whether it is masqueraded.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Explanation } from '../../../../src/explain/explanation.js';
import { explainPacket } from '../../../../src/explain/iptables/explainPacket.js';
import type { PathFacts } from '../../../../src/explain/shared/facts.js';
import type { ListeningSocket } from '../../../../src/kernel/procNet/types.js';
import { IPTABLES_DEFAULTS } from '../../../../src/modes/iptables/plan/options.js';
import { isLoopback } from '../../../../src/net/address.js';
import { networkContains, parseNetwork } from '../../../../src/net/network.js';
import type { Frontend, ServicePort } from '../../../../src/services/types.js';
import { factsOf, recordedPorts, recordedRules } from '../../../support/oracle/iptablesNode.js';
import { type Scenario, scenarios } from '../../../support/oracle/oracle.js';

const CLIENTS = ['pod', 'node', 'outside'] as const;
type Client = (typeof CLIENTS)[number];

/** The configuration, as far as the results depend on it. */
interface Setup {
  /** Rules detect local traffic in IPv4 and IPv6. */
  readonly detects: Readonly<Record<4 | 6, boolean>>;
  readonly masqueradeAll: boolean;
}

function setupOf({ configuration }: Scenario): Setup {
  const {
    detectLocalMode,
    clusterCIDR = '',
    iptables,
  } = configuration as {
    detectLocalMode?: string;
    clusterCIDR?: string;
    iptables?: { masqueradeAll?: boolean };
  };
  const byNetwork = detectLocalMode === undefined || detectLocalMode === 'ClusterCIDR';
  const networks = clusterCIDR.split(',').filter(Boolean);
  return {
    detects: byNetwork
      ? { 4: networks.some((each) => !each.includes(':')), 6: networks.some((each) => each.includes(':')) }
      : { 4: true, 6: true },
    masqueradeAll: iptables?.masqueradeAll === true,
  };
}

/** The expected endpoints, or the cause why there are none. */
type Expected =
  | { readonly endpoints: readonly string[]; readonly masquerade: boolean }
  | { readonly cause: 'NoRealServer' | 'NoLocalEndpoint' | 'SourceRanges' };

function expected(
  port: ServicePort,
  frontend: Frontend,
  client: Client,
  source: string,
  { detects, masqueradeAll }: Setup,
): Expected {
  const { family, clusterEndpoints, localEndpoints } = port;
  const { kind, localPolicy, sourceRanges } = frontend;
  const some = clusterEndpoints.size + localEndpoints.size > 0;
  if (!some) return { cause: 'NoRealServer' };
  const within = (range: string) => {
    const network = parseNetwork(range);
    return network !== undefined && networkContains(network, source);
  };
  if (kind === 'loadBalancerIP' && sourceRanges.length > 0 && !sourceRanges.some(within)) {
    return { cause: 'SourceRanges' };
  }
  const isPod = client === 'pod' && detects[family];
  const shortcut = kind !== 'clusterIP' && localPolicy && (client === 'node' || isPod);
  const endpoints = [...(localPolicy && !shortcut ? localEndpoints : clusterEndpoints)];
  if (endpoints.length === 0) return { cause: 'NoLocalEndpoint' };
  const masquerade =
    kind === 'clusterIP'
      ? masqueradeAll || (detects[family] && !isPod)
      : localPolicy
        ? client === 'node'
        : true;
  return { endpoints, masquerade };
}

/** The addresses at which a frontend is asked: those of the node for a node port. */
function addressesOf({ interfaces }: Scenario, { family }: ServicePort, frontend: Frontend): string[] {
  if (frontend.kind !== 'nodePort') return [frontend.address];
  const own = interfaces.flatMap(({ address }) => (address.includes(':') === (family === 6) ? address : []));
  return family === 4 ? [...own, '127.0.0.1'] : own;
}

/** The addresses of node ports that the configuration excludes. */
function isExcluded({ configuration }: Scenario, address: string): boolean {
  const networks = (configuration['nodePortAddresses'] ?? []) as string[];
  return (
    networks.length > 0 && !networks.some((text) => networkContains(parseNetwork(text) as never, address))
  );
}

function check(explanation: Explanation, want: Expected): void {
  const story = JSON.stringify({ want, explanation }, undefined, 1);
  const { verdict, causes, endpoints, client, notUnderstood, warnings } = explanation;
  assert.deepEqual([notUnderstood, warnings], [[], []], story);
  if ('cause' in want) {
    // Packets of the node to external addresses pass no rule that rejects them, and leave the node.
    const leaves = causes.some(({ text }) => text.includes('leaves this node'));
    const result = want.cause === 'NoRealServer' && !leaves ? 'refused' : 'hangs';
    if (leaves) assert.equal(client.place, 'node', story);
    assert.deepEqual([verdict, causes.map(({ code }) => code)], [result, [want.cause]], story);
    return;
  }
  assert.deepEqual(endpoints.map(({ endpoint }) => endpoint).sort(), [...want.endpoints].sort(), story);
  for (const { share = 0, masqueraded, source, cause } of endpoints) {
    assert.ok(Math.abs(share - 1 / want.endpoints.length) < 1e-6, story);
    if (source !== undefined) assert.equal(masqueraded, want.masquerade, story);
    if (cause) assert.equal(cause.code, 'ReplyBypasses', story);
  }
}

/** A process of the node listens for every endpoint: some endpoints are addresses of the node. */
function listeners(step: string, family: 4 | 6): ListeningSocket[] {
  const address = family === 4 ? '0.0.0.0' : '::';
  const rules = recordedRules(step, family).matchAll(/-p (tcp|udp) .* --to-destination \S+:(\d+)$/gm);
  return [...rules].map(([, protocol, port]) => ({
    address,
    protocol: protocol as 'tcp' | 'udp',
    port: Number(port),
  }));
}

for (const scenario of scenarios('iptables')) {
  describe(scenario.name, () => {
    const setup = setupOf(scenario);
    for (const [number, step] of scenario.steps.entries()) {
      it(`step ${number}: each frontend, from each place`, async () => {
        const facts: Record<4 | 6, PathFacts> = {
          4: { ...factsOf(scenario, 4, recordedRules(step, 4)), sockets: listeners(step, 4) },
          6: { ...factsOf(scenario, 6, recordedRules(step, 6)), sockets: listeners(step, 6) },
        };
        let asked = 0;
        for (const port of await recordedPorts(step)) {
          for (const frontend of port.frontends) {
            for (const address of addressesOf(scenario, port, frontend)) {
              for (const from of isLoopback(address) ? (['node'] as const) : CLIENTS) {
                const question = { address, port: frontend.port, protocol: port.protocol, from };
                const explanation = explainPacket(facts[port.family], question, IPTABLES_DEFAULTS);
                asked += 1;
                if (frontend.kind === 'nodePort' && isExcluded(scenario, address)) {
                  assert.match(explanation.causes[0]?.code ?? '', /^(NodePortAddress|NoRealServer)$/);
                } else {
                  const source = explanation.client.address;
                  check(explanation, expected(port, frontend, from, source, setup));
                }
              }
            }
          }
        }
        assert.ok(asked > 0);
      });
    }
  });
}
