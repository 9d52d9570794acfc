// Routes and listening sockets in memory.

import type { ListeningSocket, NetworkRoute, ProcNet } from '../../../src/command/kernel/procNet/types.js';
import type { NetlinkError } from '../../../src/kernel/errors.js';
import { type Family, familyOf } from '../../../src/kernel/net/address.js';
import type { Fault } from '../../../src/kernel/testing/index.js';

/** A fake of the files below /proc/net: it lists the routes and sockets that a test puts into it. */
export class FakeProcNet implements ProcNet {
  readFault: Fault = () => undefined;
  /** Routes of both families. */
  networkRoutes: NetworkRoute[] = [];
  sockets: ListeningSocket[] = [];

  async routes(family: Family): Promise<NetworkRoute[]> {
    this.#check(family === 4 ? 'route' : 'ipv6_route');
    return this.networkRoutes.filter(({ network }) => familyOf(network) === family);
  }

  async listeningSockets(): Promise<ListeningSocket[]> {
    this.#check('tcp');
    return [...this.sockets];
  }

  #check(file: string): void {
    const fault: NetlinkError | undefined = this.readFault('procNet.read', file);
    if (fault) throw fault;
  }
}
