// Every frontend of every recorded cluster, explained from kube-proxy's own rules and compared with the objects.
import { describe, it } from 'node:test';
import { explainPacket } from '../../../../../src/command/explain/iptables/explainPacket.js';
import type { PathFacts } from '../../../../../src/command/explain/shared/facts.js';
import type { ListeningSocket } from '../../../../../src/command/kernel/procNet/types.js';
import { networkContains, parseNetwork } from '../../../../../src/kernel/net/network.js';
import { IPTABLES_DEFAULTS } from '../../../../../src/proxy/modes/iptables/plan/options.js';
import { sample } from '../../../../support/extent.js';
import { checkExplanations } from '../../../../support/oracle/explainedRecordings.js';
import { factsOf, recordedRules } from '../../../../support/oracle/iptablesNode.js';
import { type Scenario, scenarios } from '../../../../support/oracle/oracle.js';

/** The addresses of node ports that the configuration excludes. */
function isExcluded({ configuration }: Scenario, address: string): boolean {
  const networks = (configuration['nodePortAddresses'] ?? []) as string[];
  return (
    networks.length > 0 && !networks.some((text) => networkContains(parseNetwork(text) as never, address))
  );
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

for (const scenario of sample(scenarios('iptables'), 2)) {
  describe(scenario.name, () => {
    for (const [number, step] of scenario.steps.entries()) {
      it(`step ${number}: each frontend, from each place`, async () => {
        const facts: Record<4 | 6, PathFacts> = {
          4: { ...factsOf(scenario, 4, recordedRules(step, 4)), sockets: listeners(step, 4) },
          6: { ...factsOf(scenario, 6, recordedRules(step, 6)), sockets: listeners(step, 6) },
        };
        await checkExplanations(scenario, step, {
          name: 'iptables',
          explain: (family, question) => explainPacket(facts[family], question, IPTABLES_DEFAULTS),
          isExcluded: (address) => isExcluded(scenario, address),
        });
      });
    }
  });
}
