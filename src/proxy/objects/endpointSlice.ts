// discovery.k8s.io/v1 EndpointSlice → EndpointSlice.

import type {
  DiscoveryV1EndpointPort,
  V1Endpoint,
  V1EndpointHints,
  V1EndpointSlice,
} from '@kubernetes/client-node';
import { canonicalAddress, type Family } from '../../kernel/net/address.js';
import type { Fields } from '../input/fields.js';
import { DNS_LABEL, DNS_SUBDOMAIN, LABEL_VALUE } from '../input/names.js';
import { decodeAnnotations } from './annotations.js';
import type { Interning } from './interning.js';
import { formerPorts, readPorts } from './portsByName.js';
import {
  conditionsOf,
  type EndpointState,
  type SliceEndpoint,
  type SliceEndpoints,
  SliceEndpointsBuilder,
} from './sliceEndpoints.js';
import type { EndpointSlice, ObjectName, SlicePort } from './types.js';

/**
 * Reads an EndpointSlice; undefined when it belongs to no Service or to a headless one, whose label the watch of an API server
 * excludes too, or holds host names, which no proxy can dial. `former`:
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
  if (labels.has('service.kubernetes.io/headless')) return undefined;
  const serviceName = labels.name('kubernetes.io/service-name', LABEL_VALUE);
  // Without the label, it is no Service's: another controller's, or a Service's that it was taken from.
  if (!serviceName) return undefined;
  const addressType = fields.word('addressType', ['IPv4', 'IPv6', 'FQDN'], 'IPv4');
  if (!addressType || addressType === 'FQDN') return undefined;
  const family = addressType === 'IPv4' ? 4 : 6;
  const annotations = decodeAnnotations(metadata.child('annotations'), 'EndpointSlice');
  const ports = interning.list(
    fields.orFormer(() => readPorts(fields.children('ports'), former?.ports, decodePort), former?.ports),
  );
  return {
    kind: 'EndpointSlice',
    namespace,
    name,
    serviceName,
    family,
    ports,
    endpoints: fields.orFormer(
      () =>
        decodeEndpoints(fields, {
          family,
          ports,
          formerPlace: placesByAddress(former?.endpoints),
          interning,
        }),
      former?.family === family ? former.endpoints : undefined,
    ),
    triggerTime: decodeTriggerTime(metadata.child('annotations')),
    ...(annotations && { annotations }),
  };
}

/** An unreadable time costs a measurement and nothing else: it is passed over. */
function decodeTriggerTime(annotations: Fields<Readonly<Record<string, string>>>): number | undefined {
  const time = Date.parse(annotations.text('endpoints.kubernetes.io/last-change-trigger-time'));
  return Number.isNaN(time) ? undefined : time;
}

/** A port is identified by its name: an unreadable port keeps its last readable value. */
function decodePort(
  fields: Fields<DiscoveryV1EndpointPort>,
  former: (name: string) => readonly SlicePort[],
): readonly SlicePort[] {
  const name = fields.name('name', DNS_LABEL);
  // The API allows a port without a number, for consumers that need none.
  if (name === undefined || !fields.hasNumber('port')) return [];
  return fields.restoring(
    (): readonly SlicePort[] => {
      const protocol = fields.protocol('protocol');
      const port = fields.integer('port', 1, 65_535);
      return protocol === undefined || port === undefined ? [] : [{ name, protocol, port }];
    },
    (read) => formerPorts(read, former(name)),
  );
}

/** Where an endpoint is. */
type Place = Pick<SliceEndpoint, 'nodeName' | 'zone'>;

/** What the endpoints of a slice have in common. */
interface SliceContext {
  readonly family: Family;
  readonly ports: readonly SlicePort[];
  /** Node and zone of a former endpoint; undefined if there was none. The address may be in any spelling. */
  readonly formerPlace: (address: string) => Place | undefined;
  readonly interning: Interning;
}

function decodeEndpoints(fields: Fields<V1EndpointSlice>, context: SliceContext): SliceEndpoints {
  const { family, interning, ports } = context;
  const builder = new SliceEndpointsBuilder(family, interning);
  // With the port of most slices, which have one, their addresses need no other list for the Service port.
  const port = ports[0]?.port ?? 0;
  const rule = `must be an IPv${family} address, as the slice's addressType says`;
  for (const endpoint of fields.children('endpoints')) {
    // The API allows several addresses and gives the further ones no meaning: kube-proxy reads the first only.
    const address = endpoint.firstAddress('addresses');
    if (address === undefined) continue;
    if (!builder.add(address, port, () => decodeState(endpoint, address, context)))
      endpoint.refuseFirstAddress('addresses', address, rule);
  }
  return builder.build();
}

function decodeState(
  fields: Fields<V1Endpoint>,
  address: string,
  { formerPlace, interning }: SliceContext,
): EndpointState {
  const conditions = fields.child('conditions');
  const hints = fields.has('hints') ? fields.child('hints') : undefined;
  return {
    conditions: conditionsOf(
      conditions.flag('ready', true),
      conditions.flag('serving', true),
      conditions.flag('terminating', false),
    ),
    nodeName: interning.text(
      fields.restoring(
        () => fields.name('nodeName', DNS_SUBDOMAIN) ?? '',
        () => formerPlace(address)?.nodeName || undefined,
      ),
    ),
    zone: interning.text(
      fields.restoring(
        () => fields.name('zone', LABEL_VALUE) ?? '',
        () => formerPlace(address)?.zone,
      ),
    ),
    zoneHints: hints ? decodeHints(hints, 'forZones', interning) : NO_NAMES,
    nodeHints: hints ? decodeHints(hints, 'forNodes', interning) : NO_NAMES,
  };
}

const NO_NAMES: readonly string[] = Object.freeze([]);

function decodeHints(
  hints: Fields<V1EndpointHints>,
  list: 'forZones' | 'forNodes',
  interning: Interning,
): readonly string[] {
  const rule = list === 'forZones' ? LABEL_VALUE : DNS_SUBDOMAIN;
  return interning.list(Array.from(hints.children(list), (hint) => hint.name('name', rule) ?? ''));
}

/** See {@link SliceContext.formerPlace}. The endpoints are listed at the first call: nearly always, none is needed. */
function placesByAddress(former: SliceEndpoints | undefined): SliceContext['formerPlace'] {
  let found: Map<string, Place> | undefined;
  return (text) => {
    found ??= new Map([...(former ?? [])].map((endpoint) => [endpoint.address, endpoint]));
    const address = canonicalAddress(text);
    return address === undefined ? undefined : found.get(address);
  };
}
