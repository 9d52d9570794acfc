// The verbs of IPVS that send operations.
import type { RecordPacking } from '../shared/batch.js';
import { checkConfirmation } from '../shared/confirmation.js';
import { verbOf } from '../shared/reported.js';
import type { CallOptions, OperationResult } from '../shared/types.js';
import { Applier } from '../shared/verbs.js';
import { OPERATION } from './layouts.js';
import { attemptOf } from './names.js';
import { writeOperation } from './operations.js';
import type * as types from './types.js';
import { FLUSH_CONFIRMATION } from './types.js';

/** How operations of IPVS become records. */
export const PACKING: RecordPacking<types.IpvsOperation> = {
  family: 'ipvs',
  recordSize: OPERATION.SIZE,
  write: writeOperation,
  attempt: attemptOf,
  nameOf: verbOf,
};

/** The verbs that a client of IPVS and its fake have in common. */
export abstract class IpvsVerbs extends Applier<types.IpvsOperation> implements Partial<types.Ipvs> {
  add(service: types.VirtualServiceInput, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addService', service }, options);
  }

  update(service: types.VirtualServiceInput, options?: CallOptions): Promise<void> {
    return this.send({ do: 'updateService', service }, options);
  }

  delete(id: types.VirtualServiceId, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteService', service: id }, options);
  }

  addRealServer(
    id: types.VirtualServiceId,
    realServer: types.RealServerInput,
    options?: CallOptions,
  ): Promise<void> {
    return this.send({ do: 'addRealServer', service: id, realServer }, options);
  }

  updateRealServer(
    id: types.VirtualServiceId,
    realServer: types.RealServerInput,
    options?: CallOptions,
  ): Promise<void> {
    return this.send({ do: 'updateRealServer', service: id, realServer }, options);
  }

  deleteRealServer(
    id: types.VirtualServiceId,
    realServer: types.RealServerIdInput,
    options?: CallOptions,
  ): Promise<void> {
    return this.send({ do: 'deleteRealServer', service: id, realServer }, options);
  }

  apply(operations: readonly types.IpvsOperation[], options?: CallOptions): Promise<OperationResult[]> {
    return this.applyAll(operations, PACKING, options);
  }

  zero(id?: types.VirtualServiceId, options?: CallOptions): Promise<void> {
    return this.send({ do: 'zero', service: id }, options);
  }

  async flush(options: types.IpvsFlushOptions): Promise<void> {
    checkConfirmation('ipvs.flush', FLUSH_CONFIRMATION, options);
    await this.send({ do: 'flush', confirm: FLUSH_CONFIRMATION }, { signal: options.signal });
  }

  setTimeouts(timeouts: types.IpvsTimeoutsInput, options?: CallOptions): Promise<void> {
    return this.send({ do: 'setTimeouts', timeouts }, options);
  }

  startDaemon(daemon: types.SyncDaemonInput, options?: CallOptions): Promise<void> {
    return this.send({ do: 'startDaemon', daemon }, options);
  }

  stopDaemon(state: types.SyncDaemonState, options?: CallOptions): Promise<void> {
    return this.send({ do: 'stopDaemon', state }, options);
  }

  protected send(operation: types.IpvsOperation, options?: CallOptions): Promise<void> {
    return this.applyOne(operation, PACKING, options);
  }
}
