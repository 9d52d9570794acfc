// Operations as a readable diff.

import { describeRules } from '../../iptablesRules/plan/describe.js';
import type { Known } from '../../mode.js';
import { describeSetting } from '../../shared/plan/describeSetting.js';
import type { Item } from './items.js';
import type { Operation } from './operations.js';

/** Lines of a readable diff for the operation: `+` adds, `-` removes, `~` changes. */
export function describe({ key, call }: Operation, known: Known<Item>): string[][] {
  const now = known.get(key);
  if (call.on === 'sysctl') return [[describeSetting(call, now?.kind === 'sysctl' ? now.value : undefined)]];
  const before = now?.kind === 'chain' ? now.rules : now?.kind === 'sharedChain' ? now.tail : undefined;
  return [describeRules(call.operation, before)];
}
