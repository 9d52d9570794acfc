// The plan of nftables mode for the objects of a recording.
import { nftablesOptions } from '../../../src/command/modes/nftables/fromConfiguration.js';
import { nodePortHosts } from '../../../src/proxy/modes/nftables/plan/host.js';
import type { Item } from '../../../src/proxy/modes/nftables/plan/items.js';
import type { NftablesOptions } from '../../../src/proxy/modes/nftables/plan/options.js';
import { groupOf, planNode } from '../../../src/proxy/modes/nftables/plan/planNode.js';
import { planService } from '../../../src/proxy/modes/nftables/plan/planService.js';
import { DesiredState } from '../../../src/proxy/reconcile/desiredState.js';
import { nodeFacts } from '../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../src/proxy/services/serviceCache.js';
import type { NodeFacts } from '../../../src/proxy/services/types.js';
import { readManifest } from '../../../src/proxy/source/manifestFile.js';
import { decodeConfiguration } from '../clusters/decodeConfiguration.js';
import { recordedObjects, type Scenario, SERVICE_CIDRS } from './oracle.js';

/** The options of a recording. */
export function optionsOf({
  configuration: { mode: _, ...fields },
}: Pick<Scenario, 'configuration'>): NftablesOptions {
  const { configuration, problems } = decodeConfiguration(fields);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return nftablesOptions(configuration, { families: [4, 6] });
}

/** The items that the mode wants at a step of a recording. */
export async function desiredAt(scenario: Scenario, step: string): Promise<DesiredState<Item>> {
  const options = optionsOf(scenario);
  const { objects, problems } = await readManifest('objects.yaml', recordedObjects(step));
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const cache = new ServiceCache({ sharesEndpoints: true });
  for (const object of objects.values()) for (const _ of cache.apply({ type: 'set', object }));
  const rules = nodePortHosts(options);
  const addresses = [{ link: 'lo', address: '127.0.0.1' }, ...scenario.interfaces];
  const node = nodeFacts('node-a', {
    node: cache.node('node-a'),
    host: (nodeIPs) => rules.facts(addresses, nodeIPs),
    serviceCIDRs: SERVICE_CIDRS,
  });
  return desiredOf(cache, node, options);
}

/** The items of all Services and of the node. */
export function desiredOf(
  cache: ServiceCache,
  node: NodeFacts,
  options: NftablesOptions,
): DesiredState<Item> {
  const desired = new DesiredState<Item>(groupOf);
  for (const service of cache.serviceNames()) {
    const input = cache.planInput(service, node);
    if (!input) continue;
    const plan = planService(input, node, options);
    desired.replace({ name: service, rank: input.createdAt }, plan);
  }
  desired.replace({ name: '', rank: -1 }, planNode(desired, node, options));
  return desired;
}

/** The items of a desired state. */
export function itemsOf(desired: DesiredState<Item>): Item[] {
  return [...desired.keys()].map((key) => desired.get(key) as Item);
}
