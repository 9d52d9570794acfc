// What has to hold before ipvs mode can do anything, found out and set at the start: better one error that names what is
// missing than every virtual service failing in turn.
import { NetlinkError } from '../../errors.js';
import { findModule } from '../../kernel/modules.js';
import type { IpvsKernel } from './kernel.js';
import type { IpvsOptions } from './options.js';
import { sysctls } from './planNode.js';

/** kube-proxy's own probe: an address that is set aside for documentation (TEST-NET-2, RFC 5737). */
const PROBE = { address: '198.51.100.0', port: 20_000, protocol: 'tcp' } as const;

/** Probes the scheduler, and makes the settings of the kernel that are not right. Rejects with the first NetlinkError. */
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
 * Makes a virtual service with the scheduler, and takes it away again; nothing, if one that uses it is there. Rejects with
 * the NetlinkError of the attempt: `ENOENT` when there is no such scheduler, its hint names the module.
 */
export async function probeScheduler({ ipvs }: Pick<IpvsKernel, 'ipvs'>, scheduler: string): Promise<void> {
  if ((await ipvs.listServices()).some((service) => service.scheduler === scheduler)) return;
  const service = { ...PROBE, scheduler, flags: 0, timeout: 0, netmask: 32 };
  const [refused] = await ipvs.apply([{ do: 'addService', service }]);
  // Somebody's, or that of a probe whose process ended between its two steps.
  if (refused?.code === 'EEXIST') return;
  if (refused) throw refused;
  const [left] = await ipvs.apply([{ do: 'deleteService', service }]);
  if (left) throw left;
}

/**
 * Looks for the scheduler and changes nothing: no virtual service is made, no module is loaded. Rejects with a NetlinkError
 * `ENOENT` when the kernel has no such scheduler.
 *
 * @param find looks for a kernel module
 * @returns a sentence where this host cannot know, else undefined
 */
export async function checkScheduler(
  { ipvs }: Pick<IpvsKernel, 'ipvs'>,
  scheduler: string,
  find: typeof findModule = findModule,
): Promise<string | undefined> {
  if ((await ipvs.listServices()).some((service) => service.scheduler === scheduler)) return undefined;
  const module = `ip_vs_${scheduler}`;
  switch (await find(module)) {
    case 'there':
      return undefined;
    case 'missing':
      throw new NetlinkError({
        code: 'ENOENT',
        operation: 'ipvs.checkScheduler',
        target: scheduler,
        hint: `the scheduler needs the kernel module ${module}`,
      });
    case 'unknown':
      return `the scheduler ${scheduler} could not be checked: the kernel's modules are not at hand`;
  }
}
