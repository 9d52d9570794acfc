// The flags of a virtual service (`IP_VS_SVC_F_…`, include/uapi/linux/ip_vs.h) ↔ readable values.
import { shown } from '../shared/arguments.js';
import type { RecordWriter } from '../shared/records/recordWriter.js';
import type { Scheduler, SchedulerFlag, VirtualServiceInput } from './types.js';

const PERSISTENT = 0x1;
const ONE_PACKET = 0x4;
/** `IP_VS_SVC_F_SCHED1`, `2` and `3` are three bits from this place on. */
const SCHEDULER_SHIFT = 3;

type Names = readonly [SchedulerFlag, SchedulerFlag, SchedulerFlag];
const PLAIN: Names = ['flag-1', 'flag-2', 'flag-3'];
const NAMES: Readonly<Record<string, Names>> = {
  sh: ['sh-fallback', 'sh-port', 'flag-3'],
  mh: ['mh-fallback', 'mh-port', 'flag-3'],
};

/** The flags for each sum of the three bits: listings share them. */
const LISTED = new Map(Object.entries({ '': PLAIN, ...NAMES }).map(([name, flags]) => [name, sums(flags)]));

function sums(names: Names): readonly (readonly SchedulerFlag[])[] {
  return Array.from({ length: 8 }, (_, sum) =>
    Object.freeze(names.filter((_name, bit) => (sum & (1 << bit)) !== 0)),
  );
}

/** The kernel's flags of a virtual service. Unknown schedulerFlags are noted as invalid. */
export function flagsOf(service: VirtualServiceInput, scheduler: Scheduler, writer: RecordWriter): number {
  const { schedulerFlags, onePacket = false } = service;
  let flags = service.persistence === undefined ? 0 : PERSISTENT;
  if (typeof onePacket !== 'boolean') {
    writer.fail('service.onePacket', onePacket, 'must be true or false', true);
  } else if (onePacket) {
    flags |= ONE_PACKET;
    if ('protocol' in service && !('firewallMark' in service) && service.protocol !== 'udp') {
      writer.fail('service.onePacket', onePacket, 'must be false without UDP or a firewall mark');
    }
  }
  if (schedulerFlags === undefined) return flags;
  if (!Array.isArray(schedulerFlags)) {
    writer.fail('service.schedulerFlags', schedulerFlags, 'must be an array', true);
    return flags;
  }
  for (const flag of schedulerFlags) flags |= schedulerBit(flag, scheduler, writer) << SCHEDULER_SHIFT;
  return flags;
}

function schedulerBit(flag: SchedulerFlag, scheduler: Scheduler, writer: RecordWriter): number {
  const isNamed = typeof scheduler === 'string' && Object.hasOwn(NAMES, scheduler);
  const names = isNamed ? NAMES[scheduler] : undefined;
  const bit = Math.max(PLAIN.indexOf(flag), names?.indexOf(flag) ?? -1);
  if (bit >= 0) return 1 << bit;
  const known = [...new Set([...(names ?? []), ...PLAIN])].join(', ');
  writer.fail('service.schedulerFlags', flag, `must be of ${known} for the scheduler ${shown(scheduler)}`);
  return 0;
}

/** Whether these flags of the kernel are those of a persistent service. */
export function isPersistent(flags: number): boolean {
  return (flags & PERSISTENT) !== 0;
}

/** Whether these flags of the kernel schedule every packet by itself. */
export function isOnePacket(flags: number): boolean {
  return (flags & ONE_PACKET) !== 0;
}

/** The scheduler's flags among the kernel's. */
export function schedulerFlagsOf(flags: number, scheduler: Scheduler): readonly SchedulerFlag[] {
  const listed = LISTED.get(scheduler) ?? LISTED.get('');
  return listed?.[(flags >> SCHEDULER_SHIFT) & 7] ?? [];
}
