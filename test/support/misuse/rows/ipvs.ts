// Valid calls of IPVS.
import type {
  EncapsulationInput,
  Ipvs,
  IpvsOperation,
  RealServerInput,
  SyncDaemonInput,
  VirtualServiceId,
  VirtualServiceInput,
} from '../../../../src/kernel/ipvs/types.js';
import { alone, CALL, type Rows } from './row.js';

const ADDRESS: VirtualServiceId = { address: '10.0.0.1', port: 80, protocol: 'tcp' };
const MARK: VirtualServiceId = { firewallMark: 1, family: 4 };
const SETTINGS = {
  scheduler: 'sh',
  schedulerFlags: ['sh-port'],
  onePacket: true,
  persistence: { timeout: 300, netmask: 24 },
  persistenceEngine: 'sip',
} as const;
const SERVICES: readonly VirtualServiceInput[] = [
  { ...ADDRESS, protocol: 'udp', ...SETTINGS },
  { ...MARK, ...SETTINGS },
];
const ENCAPSULATIONS: readonly EncapsulationInput[] = [
  { type: 'ipip' },
  { type: 'gue', port: 6080, checksum: 'full' },
  { type: 'gre', checksum: 'none' },
  { type: 7, port: 1, flags: 2 },
];
const SERVERS: readonly RealServerInput[] = ENCAPSULATIONS.map((encapsulation) => ({
  ...{ address: '10.1.0.1', port: 8080, weight: 2, forwarding: 'tunnel', encapsulation },
  ...{ upperThreshold: 10, lowerThreshold: 5 },
}));
const SERVER = { address: '10.1.0.1', port: 8080 };
const TIMEOUTS = { tcp: 1, tcpFin: 2, udp: 3 };
const DAEMON: SyncDaemonInput = {
  ...{ state: 'master', interface: 'lo', syncId: 1, maxLength: 1400 },
  ...{ group: '224.0.0.82', port: 8849, ttl: 2 },
};
const IDS = [ADDRESS, MARK];

/** Valid calls of each verb. */
export const IPVS: Rows<Ipvs> = {
  list: [[CALL]],
  listServices: [[CALL]],
  listRealServers: [[IDS, CALL]],
  get: IDS.map((id) => [id, CALL]),
  add: SERVICES.map((service) => [service, CALL]),
  update: SERVICES.map((service) => [service, CALL]),
  delete: IDS.map((id) => [id, CALL]),
  addRealServer: [...SERVERS.map((server) => [ADDRESS, server, CALL] as const), [MARK, SERVER, CALL]],
  updateRealServer: [...SERVERS.map((server) => [ADDRESS, server, CALL] as const), [MARK, SERVER, CALL]],
  deleteRealServer: IDS.map((id) => [id, SERVER, CALL]),
  apply: alone<IpvsOperation>(
    ...SERVICES.map((service) => ({ do: 'addService', service }) as const),
    ...SERVICES.map((service) => ({ do: 'updateService', service }) as const),
    ...IDS.map((service) => ({ do: 'deleteService', service }) as const),
    ...SERVERS.map((realServer) => ({ do: 'addRealServer', service: ADDRESS, realServer }) as const),
    { do: 'updateRealServer', service: MARK, realServer: SERVER },
    { do: 'deleteRealServer', service: ADDRESS, realServer: SERVER },
    { do: 'zero', service: ADDRESS },
    { do: 'flush', confirm: 'delete every virtual service' },
    { do: 'setTimeouts', timeouts: TIMEOUTS },
    { do: 'startDaemon', daemon: DAEMON },
    { do: 'stopDaemon', state: 'backup' },
  ),
  zero: [[ADDRESS, CALL], [MARK]],
  flush: [[{ confirm: 'delete every virtual service', ...CALL }]],
  info: [[CALL]],
  timeouts: [[CALL]],
  setTimeouts: [[TIMEOUTS, CALL]],
  listDaemons: [[CALL]],
  startDaemon: [[DAEMON, CALL]],
  stopDaemon: [['master', CALL]],
  connections: [
    [
      {
        ...{ protocol: 'tcp', template: false, state: 'ESTABLISHED', client: SERVER },
        ...{ virtual: SERVER, destination: SERVER },
      },
      CALL,
    ],
  ],
  capabilities: [[CALL]],
};
