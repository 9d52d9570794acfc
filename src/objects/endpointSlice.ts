// discovery.k8s.io/v1 EndpointSlice → EndpointSlice.

import type { DiscoveryV1EndpointPort, V1Endpoint, V1EndpointSlice } from '@kubernetes/client-node';
import type { Fields } from '../input/fields.js';
import { type Family, familyOf } from '../net/address.js';
import type { Interning } from './interning.js';
import type { EndpointSlice, ObjectName, SliceEndpoint, SlicePort } from './types.js';

/**
 * Reads an EndpointSlice; undefined when it belongs to no Service or holds host names, which no proxy can dial. `former`:
 * the slice as it was last readable. An endpoint whose address is unreadable is left out, even if there was one before:
 * nothing identifies it, and connections to an endpoint that is kept for too long fail.
 */
export function decodeEndpointSlice(
  { namespace, name }: ObjectName,
  fields: Fields<V1EndpointSlice>,
  former: EndpointSlice | undefined,
  interning: Interning,
): EndpointSlice | undefined {
  const metadata = fields.child('metadata');
  const labels = metadata.child('labels');
  const serviceName = labels.text('kubernetes.io/service-name');
  if (serviceName === '') {
    return fields.report('metadata.labels[kubernetes.io/service-name]', 'must name the Service');
  }
  const addressType = fields.word('addressType', ['IPv4', 'IPv6', 'FQDN'], 'IPv4');
  if (!addressType || addressType === 'FQDN') return undefined;
  const family = addressType === 'IPv4' ? 4 : 6;
  const known = (address: string) => former?.endpoints.find((endpoint) => endpoint.address === address);
  return {
    kind: 'EndpointSlice',
    namespace,
    name,
    serviceName,
    family,
    ports: interning.list(
      fields.orFormer(
        () => fields.children('ports').flatMap((port) => decodePort(port, former?.ports)),
        former?.ports,
      ),
    ),
    endpoints: fields.orFormer(
      () =>
        fields
          .children('endpoints')
          .flatMap((endpoint) => decodeEndpoint(endpoint, family, known, interning)),
      former?.endpoints,
    ),
    triggerTime: decodeTriggerTime(metadata.child('annotations')),
  };
}

/** An unreadable time costs a measurement and nothing else: it is passed over. */
function decodeTriggerTime(annotations: Fields<Readonly<Record<string, string>>>): number | undefined {
  const time = Date.parse(annotations.text('endpoints.kubernetes.io/last-change-trigger-time'));
  return Number.isNaN(time) ? undefined : time;
}

/** A port is identified by its name: an unreadable port keeps its last readable value. */
function decodePort(fields: Fields<DiscoveryV1EndpointPort>, former: readonly SlicePort[] = []): SlicePort[] {
  const name = fields.text('name');
  return fields.orFormer(
    () => {
      const protocol = fields.protocol('protocol');
      const port = fields.integer('port', 1, 65_535);
      return protocol === undefined || port === undefined ? [] : [{ name, protocol, port }];
    },
    former.filter((port) => port.name === name),
  );
}

function decodeEndpoint(
  fields: Fields<V1Endpoint>,
  family: Family,
  former: (address: string) => SliceEndpoint | undefined,
  interning: Interning,
): SliceEndpoint[] {
  // The API allows several addresses and gives the further ones no meaning: kube-proxy reads the first only.
  const address = fields.firstAddress('addresses');
  if (address === undefined) return [];
  if (familyOf(address) !== family) {
    fields.report(
      'addresses[0]',
      `must be an IPv${family} address, as the slice's addressType says`,
      address,
    );
    return [];
  }
  const conditions = fields.child('conditions');
  const hints = fields.child('hints');
  const names = (list: 'forZones' | 'forNodes') =>
    interning.list(hints.children(list).map((hint) => hint.text('name')));
  return [
    {
      address,
      ready: conditions.flag('ready', true),
      serving: conditions.flag('serving', true),
      terminating: conditions.flag('terminating', false),
      // The search for the former endpoint walks over all of them: only an unreadable name needs it.
      nodeName: interning.text(
        fields.restoring(
          () => fields.text('nodeName'),
          () => former(address)?.nodeName || undefined,
        ),
      ),
      zoneHints: names('forZones'),
      nodeHints: names('forNodes'),
    },
  ];
}
