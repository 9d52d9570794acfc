// A virtual service of a real IPVS that follows what is desired, by the operations of ipvs mode.
import assert from 'node:assert/strict';
import { openIpvs } from '../../../src/kernel/ipvs/index.js';
import { compareServer } from '../../../src/proxy/modes/ipvs/plan/compareServer.js';
import type { VirtualServiceItem } from '../../../src/proxy/modes/ipvs/plan/items.js';
import type { Operation } from '../../../src/proxy/modes/ipvs/plan/operations.js';

/** Follows what is desired. Close it after the test. */
export class FollowingService {
  readonly ipvs: Awaited<ReturnType<typeof openIpvs>>;
  #have: VirtualServiceItem | undefined;

  private constructor(ipvs: FollowingService['ipvs']) {
    this.ipvs = ipvs;
  }

  /** @param netns path of its network namespace */
  static async open(netns: string): Promise<FollowingService> {
    return new FollowingService(await openIpvs({ netns }));
  }

  /** Makes the operations that lead to what is desired; resolves to their number. */
  async become(want: VirtualServiceItem): Promise<number> {
    const operations: Operation[] = [];
    compareServer(operations, 'web', want, this.#have);
    let count = 0;
    for (const { call, size, becomes } of operations) {
      assert.ok(call.on === 'ipvs' && becomes?.kind === 'virtualService');
      const errors = await this.ipvs.applyChanges([{ change: call.change, from: 0, to: size }]);
      assert.deepEqual(errors.filter(Boolean), []);
      this.#have = becomes;
      count += size;
    }
    return count;
  }

  close(): void {
    this.ipvs.close();
  }
}
