// The settings of virtual services and real servers that kube-proxy never sets, as text. Pure.
import { familyOf } from '../../net/address.js';
import type { RealServer, VirtualService } from '../types.js';

/**
 * Words for the settings of a virtual service that differ from those of kube-proxy, without scheduler and time of persistence:
 * `sh-port`, `one-packet`, `netmask 24`.
 */
export function ownSettings(service: VirtualService): string[] {
  const { scheduler, schedulerFlags, onePacket, persistence } = service;
  const family = 'address' in service ? familyOf(service.address) : service.family;
  const usual = scheduler === 'mh' ? 'mh-port' : '';
  const whole = family === 4 ? 32 : 128;
  return [
    ...(schedulerFlags.join() === usual ? [] : schedulerFlags.length === 0 ? ['no flags'] : schedulerFlags),
    ...(onePacket ? ['one-packet'] : []),
    ...(persistence && persistence.netmask !== whole ? [`netmask ${persistence.netmask}`] : []),
  ];
}

/** `upper 10 lower 4`; empty without thresholds. */
export function thresholdsText({
  upperThreshold,
  lowerThreshold,
}: Pick<RealServer, 'upperThreshold' | 'lowerThreshold'>): string {
  return upperThreshold === 0 ? '' : `upper ${upperThreshold} lower ${lowerThreshold}`;
}
