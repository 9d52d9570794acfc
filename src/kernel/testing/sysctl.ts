// Kernel settings in memory.
import { NetlinkError } from '../errors.js';
import { changed } from '../shared/reported.js';
import type { Batch } from '../shared/types.js';
import { checkSetting, type Sysctl, type SysctlWrite } from '../sysctl/index.js';
import type { Fault, Faults } from './faults.js';

/** A fake of /proc/sys; knows the settings of a kernel with ip_vs loaded, each at the kernel's default. */
export class FakeSysctl implements Sysctl, Faults {
  fault: Fault = () => undefined;
  readFault: Fault = () => undefined;
  onBatch: ((batch: Batch<SysctlWrite>) => void) | undefined = undefined;
  readonly values = new Map([
    ['net/ipv4/vs/conntrack', '0'],
    ['net/ipv4/vs/conn_reuse_mode', '1'],
    ['net/ipv4/vs/expire_nodest_conn', '0'],
    ['net/ipv4/vs/expire_quiescent_template', '0'],
    ['net/ipv4/vs/sloppy_tcp', '0'],
    ['net/ipv4/ip_forward', '0'],
    ['net/ipv4/conf/all/arp_ignore', '0'],
    ['net/ipv4/conf/all/arp_announce', '0'],
    ['net/ipv4/conf/all/route_localnet', '0'],
  ]);

  async read(name: string): Promise<string | undefined> {
    checkSetting('sysctl.read', name);
    const fault = this.readFault('sysctl.read', name);
    if (fault) throw fault;
    return this.values.get(name);
  }

  write(name: string, value: string): Promise<void> {
    return changed(this, { do: 'write', name, value }, async () => {
      checkSetting('sysctl.write', name, value);
      const fault = this.fault('sysctl.write', name);
      if (fault) throw fault;
      if (!this.values.has(name)) {
        throw new NetlinkError({ code: 'ENOENT', errno: 2, operation: 'sysctl.write', target: name });
      }
      this.values.set(name, value);
    });
  }
}
