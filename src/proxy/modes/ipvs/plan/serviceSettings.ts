// The settings of virtual services and real servers: those that a Service has by annotation, otherwise kube-proxy's. Pure.
import type { SchedulerFlag } from '../../../../kernel/ipvs/types.js';
import {
  COMMON_SETTINGS,
  type RealServers,
  RealServersBuilder,
} from '../../../../kernel/ipvs/values/serverLists.js';
import type { AddressPorts } from '../../../../kernel/net/addressPorts.js';
import type { HashFlag, ServiceSettings } from '../../../services/settings/types.js';
import type { ServicePlanInput, ServicePort } from '../../../services/types.js';
import type { VirtualServiceItem } from './items.js';
import { SLOW_START_STEPS } from './slowStart.js';
import { withoutTunnels } from './tunnels.js';

/** As in kube-proxy, the Maglev scheduler includes the source port in its hash. */
const MAGLEV_FLAGS: readonly SchedulerFlag[] = Object.freeze(['mh-port'] as const);
const NO_FLAGS: readonly SchedulerFlag[] = Object.freeze([]);

/**
 * The virtual service of a frontend's address and port.
 *
 * @param scheduler that of Services without a setting
 */
export function virtualServiceOf(
  { protocol, affinitySeconds, family }: ServicePort,
  address: string,
  port: number,
  scheduler: string,
  settings: ServiceSettings = {},
): VirtualServiceItem['service'] {
  const own = settings.scheduler ?? scheduler;
  const service = {
    ...{ address, port, protocol, scheduler: own },
    schedulerFlags: flagsOf(own, settings.schedulerFlags),
    onePacket: settings.onePacket === true && protocol === 'udp',
  };
  if (affinitySeconds === 0) return service;
  const netmask = settings.persistenceNetmask?.[family] ?? (family === 4 ? 32 : 128);
  return { ...service, persistence: { timeout: affinitySeconds, netmask } };
}

/** The flags of a scheduler, in the order of their bits. */
function flagsOf(scheduler: string, flags: readonly HashFlag[] | undefined): readonly SchedulerFlag[] {
  if (scheduler !== 'mh' && scheduler !== 'sh') return NO_FLAGS;
  if (flags === undefined) return scheduler === 'mh' ? MAGLEV_FLAGS : NO_FLAGS;
  return flags.map((flag): SchedulerFlag => `${scheduler}-${flag}`);
}

/**
 * A virtual service with the scheduler of Services without a setting: the kernel has not the one that is desired. It has no tunnels: without `mh`, the
 * node of an endpoint would choose another one.
 */
export function withScheduler(item: VirtualServiceItem, scheduler: string): VirtualServiceItem {
  const { inOrder: _, realServers, others, ...rest } = item;
  const servers = withoutTunnels({ realServers, ...(others && { others }) });
  return {
    ...rest,
    ...servers,
    service: { ...item.service, scheduler, schedulerFlags: flagsOf(scheduler, undefined) },
  };
}

/**
 * The real servers of some endpoints of a port. Nearly always, all have the common settings: then nothing is made for each of them.
 *
 * @param list some of the port's endpoints
 */
export function realServersAt(
  list: AddressPorts,
  { endpoints }: ServicePort,
  { upperThreshold = 0, lowerThreshold = 0, slowStart }: ServiceSettings = {},
): RealServers {
  if (!endpoints.isWeighted && upperThreshold === 0 && slowStart === undefined) return { realServers: list };
  const times = slowStart === undefined ? 1 : SLOW_START_STEPS;
  const builder = new RealServersBuilder(list.family);
  for (let index = 0; index < list.size; index++) {
    builder.add({
      ...COMMON_SETTINGS,
      address: list.addressAt(index),
      port: list.portAt(index),
      weight: times * endpoints.weightAt(endpoints.addressPorts.indexOf(list, index)),
      upperThreshold,
      lowerThreshold,
    });
  }
  return builder.build();
}

/** The endpoints whose connections are reset; undefined if there are none. */
export function failedAt(
  { family, protocol, endpoints }: ServicePort,
  { settings, failed }: ServicePlanInput,
): AddressPorts | undefined {
  if (settings?.failFast === undefined || protocol !== 'tcp') return undefined;
  const left = failed?.[family];
  const here = settings.failFast === 'not-serving' ? endpoints.notServing : undefined;
  const all = here && left ? here.with(left) : (here ?? left);
  return all && all.size > 0 ? all : undefined;
}
