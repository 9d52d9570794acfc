// The settings of a Service that no object in the kernel shows, as text: the agent acts on them when something changes. Pure.
import type { Protocol } from '../../../kernel/net/protocol.js';
import type { ServiceSettings } from './types.js';

/**
 * Words for the settings that a listing of the kernel does not show: `drain-timeout 30s`, `slow-start 60s`, `fail-fast removed`. None for a
 * setting without an effect on this protocol.
 */
export function settingsOfAgent(
  { drainTimeout, slowStart, failFast, zoneWeights, forwarding }: ServiceSettings,
  protocol: Protocol,
): readonly string[] {
  const isTcp = protocol === 'tcp';
  return [
    ...(isTcp && drainTimeout !== undefined ? [`drain-timeout ${drainTimeout}s`] : []),
    ...(slowStart === undefined ? [] : [`slow-start ${slowStart}s`]),
    ...(isTcp && failFast !== undefined ? [`fail-fast ${failFast}`] : []),
    ...(zoneWeights ? [`zone-weights ${[...zoneWeights].map((entry) => entry.join('=')).join()}`] : []),
    ...(forwarding === undefined ? [] : [`forwarding ${forwarding}`]),
  ];
}
