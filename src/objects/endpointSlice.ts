// discovery.k8s.io/v1 EndpointSlice → EndpointSlice.

import type { Fields } from '../fields.js';
import { type Family, familyOf } from '../net/address.js';
import type { ObjectName } from './decode.js';
import type { EndpointSlice, SliceEndpoint, SlicePort } from './types.js';

/** Reads an EndpointSlice; undefined when it belongs to no Service or holds host names, which no proxy can dial. */
export function decodeEndpointSlice(
  { namespace, name }: ObjectName,
  fields: Fields,
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
  return {
    kind: 'EndpointSlice',
    namespace,
    name,
    serviceName,
    family,
    ports: fields.children('ports').flatMap(decodePort),
    endpoints: fields.children('endpoints').flatMap((endpoint) => decodeEndpoint(endpoint, family)),
    triggerTime: decodeTriggerTime(metadata.child('annotations')),
  };
}

/** A time that cannot be read costs a measurement and nothing else: it is passed over. */
function decodeTriggerTime(annotations: Fields): number | undefined {
  const time = Date.parse(annotations.text('endpoints.kubernetes.io/last-change-trigger-time'));
  return Number.isNaN(time) ? undefined : time;
}

function decodePort(fields: Fields): SlicePort[] {
  const protocol = fields.protocol('protocol');
  const port = fields.integer('port', 1, 65_535);
  if (protocol === undefined || port === undefined) return [];
  return [{ name: fields.text('name'), protocol, port }];
}

function decodeEndpoint(fields: Fields, family: Family): SliceEndpoint[] {
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
      nodeName: fields.text('nodeName'),
      zoneHints: names('forZones'),
      nodeHints: names('forNodes'),
    },
  ];
}
