// discovery.k8s.io/v1 EndpointSlice → EndpointSlice.

import type { Fields } from '../input/fields.js';
import { type Family, familyOf } from '../net/address.js';
import type { EndpointSlice, ObjectName, SliceEndpoint, SlicePort } from './types.js';

/**
 * Reads an EndpointSlice; undefined when it belongs to no Service or holds host names, which no proxy can dial. `former`:
 * the slice as it could last be read. An endpoint whose address cannot be read is left out even where there was one
 * before: nothing says which one it was, and an endpoint that is kept for too long loses connections.
 */
export function decodeEndpointSlice(
  { namespace, name }: ObjectName,
  fields: Fields,
  former?: EndpointSlice,
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
    ports: fields.orFormer(
      () => fields.children('ports').flatMap((port) => decodePort(port, former?.ports)),
      former?.ports,
    ),
    endpoints: fields.orFormer(
      () => fields.children('endpoints').flatMap((endpoint) => decodeEndpoint(endpoint, family, known)),
      former?.endpoints,
    ),
    triggerTime: decodeTriggerTime(metadata.child('annotations')),
  };
}

/** A time that cannot be read costs a measurement and nothing else: it is passed over. */
function decodeTriggerTime(annotations: Fields): number | undefined {
  const time = Date.parse(annotations.text('endpoints.kubernetes.io/last-change-trigger-time'));
  return Number.isNaN(time) ? undefined : time;
}

/** A port is identified by its name: the last readable port of that name stays where this one cannot be read. */
function decodePort(fields: Fields, former: readonly SlicePort[] = []): SlicePort[] {
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
  fields: Fields,
  family: Family,
  former: (address: string) => SliceEndpoint | undefined,
): SliceEndpoint[] {
  // The API allows several addresses and gives the further ones no meaning: kube-proxy reads the first alone.
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
  const names = (list: string) => hints.children(list).map((hint) => hint.text('name'));
  return [
    {
      address,
      ready: conditions.flag('ready', true),
      serving: conditions.flag('serving', true),
      terminating: conditions.flag('terminating', false),
      // The former endpoint is looked for only where it is needed: that takes a walk over all of them.
      nodeName: fields.restoring(
        () => fields.text('nodeName'),
        () => former(address)?.nodeName || undefined,
      ),
      zoneHints: names('forZones'),
      nodeHints: names('forNodes'),
    },
  ];
}
