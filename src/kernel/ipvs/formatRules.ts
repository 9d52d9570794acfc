// Virtual services and real servers → the text of ipvsadm 1.31, as `ipvsadm -S -n` prints it.
import { familyOf, joinHostPort } from '../net/address.js';
import type { Protocol } from '../net/protocol.js';
import { inPieces } from '../shared/programs/textLines.js';
import { RuleChecker } from './ruleArguments.js';
import type { ForwardingMethod, RealServer, VirtualService, VirtualServiceId } from './types.js';

const SERVICE_OPTION = { tcp: '-t', udp: '-u', sctp: '--sctp-service' } as const;
const FORWARDING_OPTION = { route: '-g', tunnel: '-i', masquerade: '-m' } as const;
const CHECKSUM_OPTION = { none: '--tun-nocsum', full: '--tun-csum', remote: '--tun-remcsum' } as const;

/**
 * The rules that add these virtual services and their real servers, in this order, one a line: the text of `ipvsadm -S -n`, and
 * the thresholds (`-x`, `-y`), which that leaves out. Throws a RangeError that names the object for which ipvsadm has no text: a
 * forwarding method `other`, a netmask that is not a prefix, or a protocol or an encapsulation that is a number; and a TypeError or
 * RangeError that names the field for an invalid value.
 */
export function formatRules(services: Iterable<ServiceWithServers>): string {
  const checker = new RuleChecker(services, 'ipvs.formatRules');
  let text = '';
  for (const service of services) for (const line of linesOf(service, checker)) text += `${line}\n`;
  return text;
}

/** A virtual service with its real servers, as it is listed. */
export type ServiceWithServers = VirtualService & { readonly realServers?: readonly RealServer[] };

/**
 * The text of {@link formatRules} in pieces of about 64 KiB, each of whole lines, written in time slices of 2 ms, between which other
 * callbacks of the event loop run. Throws as that does.
 */
export function formatRulesAsync(
  services: Iterable<ServiceWithServers> | AsyncIterable<ServiceWithServers>,
): AsyncGenerator<string, void, undefined> {
  return inPieces(groupsOf(services, new RuleChecker(services, 'ipvs.formatRulesAsync', true)));
}

async function* groupsOf(
  services: Iterable<ServiceWithServers> | AsyncIterable<ServiceWithServers>,
  checker: RuleChecker,
): AsyncGenerator<Iterable<string>, void, undefined> {
  for await (const service of services) yield linesOf(service, checker);
}

function* linesOf(service: ServiceWithServers, checker: RuleChecker): Generator<string, void> {
  checker.service(service);
  const name = formatId(service);
  yield `-A ${name}${formatSettings(service)}`;
  for (const server of service.realServers ?? []) yield `-a ${name}${formatServer(server)}`;
}

function formatId(id: VirtualServiceId): string {
  if ('firewallMark' in id) return `-f ${id.firewallMark}${id.family === 6 ? ' -6' : ''}`;
  return `${SERVICE_OPTION[id.protocol as Protocol]} ${joinHostPort(id.address, id.port)}`;
}

function formatSettings(service: VirtualService): string {
  const { scheduler, schedulerFlags, onePacket, persistence, persistenceEngine } = service;
  let text = ` -s ${scheduler}`;
  if (persistence) {
    const { timeout, netmask } = persistence;
    const family = 'firewallMark' in service ? service.family : familyOf(service.address);
    text += ` -p ${timeout}`;
    if (netmask < (family === 4 ? 32 : 128)) text += ` -M ${family === 4 ? dottedMask(netmask) : netmask}`;
  }
  if (persistenceEngine) text += ` --pe ${persistenceEngine}`;
  if (onePacket) text += ' -o';
  if (schedulerFlags.length > 0) text += ` -b ${schedulerFlags.join(',')}`;
  return text;
}

function formatServer(server: RealServer): string {
  const { address, port, weight, forwarding, upperThreshold, lowerThreshold, encapsulation } = server;
  const name = joinHostPort(address, port);
  // The checks above have refused every other method and encapsulation.
  let text = ` -r ${name} ${FORWARDING_OPTION[forwarding as Exclude<ForwardingMethod, 'other'>]} -w ${weight}`;
  if (encapsulation && !('flags' in encapsulation)) {
    text += ` --tun-type ${encapsulation.type}`;
    if (encapsulation.type === 'gue') text += ` --tun-port ${encapsulation.port}`;
    if (encapsulation.type !== 'ipip') text += ` ${CHECKSUM_OPTION[encapsulation.checksum]}`;
  }
  if (upperThreshold > 0) text += ` -x ${upperThreshold}`;
  if (lowerThreshold > 0) text += ` -y ${lowerThreshold}`;
  return text;
}

/** The mask of a prefix: `255.255.255.0`. */
export function dottedMask(prefix: number): string {
  const mask = (0xffff_ffff << (32 - prefix)) >>> 0;
  return [24, 16, 8, 0].map((shift) => (mask >>> shift) & 255).join('.');
}
