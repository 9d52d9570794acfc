// The addresses that Services may have: the gate of external IPs, and `serviceExternalIPRange` and `loadBalancerIPRange` with the names that
// kube-router's flags have.
import { type AddressRanges, RANGE_RULE, rangeOf } from '../../proxy/input/addressRanges.js';
import { servesExternalIPs } from './featureGates.js';
import type { Configuration } from './schema.js';

/** Alone in a list: no address is allowed. */
const NONE = 'none';

/** The fields of the configuration that decide about addresses. */
export type AddressFields = Pick<
  Configuration,
  'featureGates' | 'serviceExternalIPRange' | 'loadBalancerIPRange'
>;

/** The rule that an entry of a list of ranges breaks; undefined if it breaks none. */
export function rangeRule(text: string, list: readonly string[]): string | undefined {
  if (text === NONE) return list.length === 1 ? undefined : 'must be alone: it allows no address';
  return rangeOf(text) ? undefined : `${RANGE_RULE}; or ${NONE}, alone`;
}

/** The addresses that are served with a configuration, or with any of several: at least one. */
export function servedAddresses(...configurations: readonly AddressFields[]): {
  readonly externalIPs: boolean;
  readonly addressRanges: AddressRanges;
} {
  const addressRanges: AddressRanges = {
    externalIPs: joined(configurations.map(({ serviceExternalIPRange }) => serviceExternalIPRange)),
    loadBalancerIPs: joined(configurations.map(({ loadBalancerIPRange }) => loadBalancerIPRange)),
  };
  const externalIPs = configurations.some(({ featureGates }) => servesExternalIPs(featureGates));
  return { externalIPs, addressRanges };
}

/** The ranges of all lists; undefined if one of them allows every address. */
function joined(lists: readonly (readonly string[])[]): readonly string[] | undefined {
  if (lists.some((list) => list.length === 0)) return undefined;
  return lists.flat().filter((text) => text !== NONE);
}
