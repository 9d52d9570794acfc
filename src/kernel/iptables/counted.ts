// Rules with their counters: the output of `iptables-save -c`.
import { TimeSlice } from '../../timeSlice.js';
import { normalized } from './saved.js';
import type { CountedRule, CountedRules } from './types.js';

/** Reads the output, in time slices. Lines that are no rule with counters are ignored. */
export async function parseCounted(output: string): Promise<CountedRules> {
  const rules = new Map<string, CountedRule[]>();
  const slice = new TimeSlice();
  let table = '';
  for (const line of output.split('\n')) {
    if (slice.spend(1)) await slice.yield();
    if (line.startsWith('*')) table = line.slice(1).trim();
    const [, packets, bytes, chain, text = ''] = /^\[(\d+):(\d+)\] -A (\S+) (.*?)\s*$/.exec(line) ?? [];
    if (chain === undefined) continue;
    const id = `${table}/${chain}`;
    const rule = { text: normalized(text), packets: Number(packets), bytes: Number(bytes) };
    const known = rules.get(id);
    if (known) known.push(rule);
    else rules.set(id, [rule]);
  }
  return rules;
}
