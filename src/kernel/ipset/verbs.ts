// The verbs of ipset that send operations.
import { checkOptions } from '../shared/arguments.js';
import type { RecordPacking } from '../shared/batch.js';
import { checkConfirmation } from '../shared/confirmation.js';
import { verbOf } from '../shared/reported.js';
import type { CallOptions, OperationResult } from '../shared/types.js';
import { Applier } from '../shared/verbs.js';
import { grow } from './grow.js';
import { OPERATION } from './layouts.js';
import { attemptOf } from './names.js';
import { checkName, writeOperation } from './records.js';
import type * as types from './types.js';
import { DESTROY_ALL_CONFIRMATION, FLUSH_ALL_CONFIRMATION } from './types.js';

/** How operations of ipset become records. */
export const PACKING: RecordPacking<types.IpsetOperation> = {
  family: 'ipset',
  recordSize: OPERATION.SIZE,
  write: writeOperation,
  attempt: attemptOf,
  nameOf: verbOf,
};

/** The verbs that a client of ipset and its fake have in common. */
export abstract class IpsetVerbs extends Applier<types.IpsetOperation> implements Partial<types.Ipset> {
  abstract get(name: string, options?: CallOptions): Promise<types.SetState | undefined>;

  create(set: types.SetDefinition, options?: types.ChangeOptions): Promise<void> {
    return this.sendChange({ do: 'create', set }, options);
  }

  add(set: types.SetReference, entry: types.EntryOf, options?: types.ChangeOptions): Promise<void> {
    return this.sendChange({ do: 'add', set, entry } as types.IpsetOperation, options);
  }

  delete(set: types.SetReference, entry: types.EntryOf, options?: types.ChangeOptions): Promise<void> {
    return this.sendChange({ do: 'delete', set, entry } as types.IpsetOperation, options);
  }

  flush(name: string, options?: CallOptions): Promise<void> {
    return this.send({ do: 'flush', name }, options);
  }

  async flushAll(options: types.FlushAllOptions): Promise<void> {
    checkConfirmation('ipset.flushAll', FLUSH_ALL_CONFIRMATION, options);
    await this.send({ do: 'flushAll', confirm: FLUSH_ALL_CONFIRMATION }, { signal: options.signal });
  }

  destroy(name: string, options?: CallOptions): Promise<void> {
    return this.send({ do: 'destroy', name }, options);
  }

  async destroyAll(options: types.DestroyAllOptions): Promise<void> {
    checkConfirmation('ipset.destroyAll', DESTROY_ALL_CONFIRMATION, options);
    await this.send({ do: 'destroyAll', confirm: DESTROY_ALL_CONFIRMATION }, { signal: options.signal });
  }

  rename(name: string, newName: string, options?: CallOptions): Promise<void> {
    return this.send({ do: 'rename', name, newName }, options);
  }

  swap(name: string, other: string, options?: CallOptions): Promise<void> {
    return this.send({ do: 'swap', name, other }, options);
  }

  async grow(name: string, larger: types.LargerSet, options: CallOptions = {}): Promise<void> {
    checkName(name, 'ipset.grow');
    await grow(this, name, larger, options);
  }

  apply(operations: readonly types.IpsetOperation[], options?: CallOptions): Promise<OperationResult[]> {
    return this.applyAll(operations, PACKING, options);
  }

  /** Sends an operation that may be strict. */
  protected async sendChange(
    operation: types.IpsetOperation,
    options: types.ChangeOptions = {},
  ): Promise<void> {
    checkOptions(`ipset.${operation.do}`, options);
    const { strict, ...call } = options;
    await this.send({ ...operation, strict } as types.IpsetOperation, call);
  }

  protected send(operation: types.IpsetOperation, options?: CallOptions): Promise<void> {
    return this.applyOne(operation, PACKING, options);
  }
}
