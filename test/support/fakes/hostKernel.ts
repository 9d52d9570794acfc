// The kernel in memory, as the parts of a host that every mode opens. Nothing is reported by its watches.
import { FakeKernel } from '../../../src/kernel/testing/index.js';

export function fakeHostKernel() {
  const watch = async () => ({ close() {}, follow() {} });
  return Object.assign(new FakeKernel(), { watchHost: watch, watchNodes: watch, close() {} });
}
