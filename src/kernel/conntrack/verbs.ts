// The verbs of conntrack that change flows.
import { checkConfirmation } from '../shared/confirmation.js';
import { changed, reported, verbOf } from '../shared/reported.js';
import type { CallOptions, OperationResult } from '../shared/types.js';
import { Applier } from '../shared/verbs.js';
import { PACKING } from './packing.js';
import { deletionFilter } from './selections.js';
import type * as types from './types.js';
import { FLUSH_CONFIRMATION } from './types.js';

/** The verbs that a client of conntrack and its fake have in common. */
export abstract class ConntrackVerbs extends Applier<types.FlowChange> implements Partial<types.Conntrack> {
  add(flow: types.NewFlow, options?: CallOptions): Promise<void> {
    return this.applyOne<types.FlowOperation>({ do: 'addFlow', flow }, PACKING, options);
  }

  update(flow: types.FlowId, changes: types.FlowChanges, options?: CallOptions): Promise<void> {
    return this.applyOne<types.FlowOperation>({ do: 'updateFlow', flow, changes }, PACKING, options);
  }

  async delete(filter: types.FlowFilter, options?: CallOptions): Promise<types.FlowDeletion> {
    deletionFilter(filter); // checks it
    let deletion: types.FlowDeletion = { deleted: 0, failures: [] };
    await reported<types.FlowChange, OperationResult>(this, [{ do: 'delete', filter }], verbOf, async () => {
      deletion = await this.deleteEach(filter, options);
      return [deletion.failures[0]];
    });
    return deletion;
  }

  apply(operations: readonly types.FlowOperation[], options?: CallOptions): Promise<OperationResult[]> {
    return this.applyAll(operations, PACKING, options);
  }

  async flush(options: types.FlushOptions): Promise<void> {
    checkConfirmation('conntrack.flush', FLUSH_CONFIRMATION, options);
    const call = { signal: options.signal };
    await changed<types.FlowChange>(this, { do: 'flush' }, () => this.deleteAll(call));
  }

  /** Deletes each flow that a filter selects. */
  protected abstract deleteEach(filter: types.FlowFilter, options?: CallOptions): Promise<types.FlowDeletion>;

  /** Deletes every flow. */
  protected abstract deleteAll(options: CallOptions): Promise<void>;
}
