// Checks and sets the prerequisites of ipvs mode at the start: one error that names the missing module is better than a
// failure of every virtual service.
import { NetlinkError } from '../../../../kernel/errors.js';
import { HOST, type Machine, stateOfModule } from '../../../../kernel/shared/hints.js';
import type { IpvsOptions } from '../plan/options.js';
import { sysctls } from '../plan/planNode.js';
import type { IpvsKernel } from './kernel.js';

/** kube-proxy's probe: an address that is reserved for documentation (TEST-NET-2, RFC 5737). */
const PROBE = { address: '198.51.100.0', port: 20_000, protocol: 'tcp' } as const;

/** Probes the scheduler, and changes the kernel settings that differ. Rejects with the first NetlinkError. */
export async function prepare(
  kernel: Pick<IpvsKernel, 'ipvs' | 'sysctl'>,
  options: IpvsOptions,
): Promise<void> {
  await probeScheduler(kernel, options.scheduler);
  for (const [name, value] of sysctls(options)) {
    if ((await kernel.sysctl.read(name)) !== value) await kernel.sysctl.write(name, value);
  }
  const { timeouts } = options;
  if (Object.values(timeouts).some((seconds) => seconds > 0)) await kernel.ipvs.setTimeouts(timeouts);
}

/**
 * Adds a virtual service with the scheduler and deletes it, unless a virtual service already uses the scheduler.
 * Rejects with a NetlinkError: `ENOENT` if the kernel has no such scheduler; the hint names the module.
 */
export async function probeScheduler({ ipvs }: Pick<IpvsKernel, 'ipvs'>, scheduler: string): Promise<void> {
  if ((await ipvs.listServices()).some((service) => service.scheduler === scheduler)) return;
  const service = { ...PROBE, scheduler };
  const [refused] = await ipvs.apply([{ do: 'addService', service }]);
  // It belongs to another program, or to a probe whose process ended before the deletion.
  if (refused?.code === 'EEXIST') return;
  if (refused) throw refused;
  const [left] = await ipvs.apply([{ do: 'deleteService', service }]);
  if (left) throw left;
}

/**
 * Checks whether the scheduler is available, without adding a virtual service or loading a module. Rejects with a
 * NetlinkError `ENOENT` if it is not.
 *
 * @returns a warning if the result cannot be determined on this host, otherwise undefined
 */
export async function checkScheduler(
  { ipvs }: Pick<IpvsKernel, 'ipvs'>,
  scheduler: string,
  machine: Machine = HOST,
): Promise<string | undefined> {
  if ((await ipvs.listServices()).some((service) => service.scheduler === scheduler)) return undefined;
  const module = `ip_vs_${scheduler}`;
  switch (stateOfModule(module, machine)) {
    case 'missing':
      throw new NetlinkError({
        code: 'ENOENT',
        operation: 'ipvs.checkScheduler',
        target: scheduler,
        hint: `the scheduler needs the kernel module ${module}`,
      });
    case 'unknown':
      return `the scheduler ${scheduler} could not be checked: the kernel modules of this host cannot be read`;
    default:
      return undefined;
  }
}
