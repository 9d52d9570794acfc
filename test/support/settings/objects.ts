// Services and slices with annotations of settings.

import { SETTING_NAMES, type SettingName } from '../../../src/proxy/input/settingNames.js';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import type { EndpointSlice, ObjectChange, Service } from '../../../src/proxy/objects/types.js';
import type { SettingRules } from '../../../src/proxy/services/settings/types.js';
import { decodedSlice } from '../clusters/decodedSlice.js';

/** All settings are allowed, and have an effect. */
export const ALL_SETTINGS: SettingRules = new Map(SETTING_NAMES.map((name) => [name, undefined]));

/** The annotations of settings by their names, and others by theirs. */
export function annotations(settings: Readonly<Record<string, string>>): Record<string, string> {
  const known: readonly string[] = SETTING_NAMES satisfies readonly SettingName[];
  return Object.fromEntries(
    Object.entries(settings).map(([name, text]) => [
      known.includes(name) ? `kube-netlink-proxy.io/${name}` : name,
      text,
    ]),
  );
}

/** A Service `demo/web` of both families with TCP port 80 and UDP port 53, client-IP affinity if asked for, and settings. */
export function settingService(
  settings: Readonly<Record<string, string>>,
  affinity = false,
  udp = true,
): Service {
  const { object } = decodeObject({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'demo', name: 'web', annotations: annotations(settings) },
    spec: {
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1', 'fd00:96::1'],
      ipFamilies: ['IPv4', 'IPv6'],
      ports: [{ name: 'http', port: 80 }, ...(udp ? [{ name: 'log', port: 53, protocol: 'UDP' }] : [])],
      ...(affinity ? { sessionAffinity: 'ClientIP' } : {}),
    },
  });
  return object as Service;
}

/** A slice of `demo/web` with these ready endpoints, and settings. */
export function settingSlice(
  name: string,
  addresses: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): EndpointSlice {
  return decodedSlice(name, annotations(settings), {
    addressType: addresses[0]?.includes(':') ? 'IPv6' : 'IPv4',
    ports: [
      { name: 'http', port: 8080 },
      { name: 'log', port: 5353, protocol: 'UDP' },
    ],
    endpoints: addresses.map((address) => ({ addresses: [address] })),
  });
}

/** The report of an object. */
export function set(object: ObjectChange['object']): ObjectChange {
  return { type: 'set', object };
}
