// Every frontend of a recorded cluster, explained from each place and compared with the objects: which endpoints a client reaches, with which
// probability, and whether it is masqueraded.
import assert from 'node:assert/strict';
import type { Explanation, PacketQuestion } from '../../../src/command/explain/explanation.js';
import { isLoopback } from '../../../src/kernel/net/address.js';
import { networkContains, parseNetwork } from '../../../src/kernel/net/network.js';
import type { Frontend, ServicePort } from '../../../src/proxy/services/types.js';
import { recordedPorts } from './iptablesNode.js';
import type { Scenario } from './oracle.js';

const CLIENTS = ['pod', 'node', 'outside'] as const;
type Client = (typeof CLIENTS)[number];

/** The configuration, as far as the results depend on it. */
interface Setup {
  /** Rules detect local traffic in IPv4 and IPv6. */
  readonly detects: Readonly<Record<4 | 6, boolean>>;
  readonly masqueradeAll: boolean;
  /** Source ranges are checked before it is known whether there are endpoints. */
  readonly rangesFirst: boolean;
}

function setupOf({ configuration }: Scenario, mode: 'iptables' | 'nftables'): Setup {
  const {
    detectLocalMode,
    clusterCIDR = '',
    [mode]: own,
  } = configuration as {
    detectLocalMode?: string;
    clusterCIDR?: string;
    iptables?: { masqueradeAll?: boolean };
    nftables?: { masqueradeAll?: boolean };
  };
  const byNetwork = detectLocalMode === undefined || detectLocalMode === 'ClusterCIDR';
  const networks = clusterCIDR.split(',').filter(Boolean);
  return {
    detects: byNetwork
      ? { 4: networks.some((each) => !each.includes(':')), 6: networks.some((each) => each.includes(':')) }
      : { 4: true, 6: true },
    masqueradeAll: own?.masqueradeAll === true,
    rangesFirst: mode === 'nftables',
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
  { detects, masqueradeAll, rangesFirst }: Setup,
): Expected {
  const { family, clusterEndpoints, localEndpoints } = port;
  const { kind, localPolicy, sourceRanges } = frontend;
  const some = clusterEndpoints.size + localEndpoints.size > 0;
  if (!some && !rangesFirst) return { cause: 'NoRealServer' };
  const within = (range: string) => {
    const network = parseNetwork(range);
    return network !== undefined && networkContains(network, source);
  };
  if (kind === 'loadBalancerIP' && sourceRanges.length > 0 && !sourceRanges.some(within)) {
    return { cause: 'SourceRanges' };
  }
  if (!some) return { cause: 'NoRealServer' };
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

/** How a mode explains the packets of a recording. */
export interface ExplainedMode {
  readonly name: 'iptables' | 'nftables';
  explain(family: 4 | 6, question: PacketQuestion): Explanation;
  /** Whether node ports are not served on an address. */
  isExcluded(address: string): boolean;
}

/** Explains each frontend of a step, from each place. */
export async function checkExplanations(
  scenario: Scenario,
  step: string,
  mode: ExplainedMode,
): Promise<void> {
  const setup = setupOf(scenario, mode.name);
  let asked = 0;
  for (const port of await recordedPorts(step)) {
    for (const frontend of port.frontends) {
      for (const address of addressesOf(scenario, port, frontend)) {
        for (const from of isLoopback(address) ? (['node'] as const) : CLIENTS) {
          const question = { address, port: frontend.port, protocol: port.protocol, from };
          const explanation = mode.explain(port.family, question);
          asked += 1;
          if (frontend.kind === 'nodePort' && mode.isExcluded(address)) {
            assert.match(
              explanation.causes[0]?.code ?? '',
              /^(NodePortAddress|NoRealServer)$/,
              JSON.stringify(explanation, undefined, 1),
            );
          } else {
            check(explanation, expected(port, frontend, from, explanation.client.address, setup));
          }
        }
      }
    }
  }
  assert.ok(asked > 0);
}
