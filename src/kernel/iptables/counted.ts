// Rules with their counters: the output of `iptables-save -c`.
import { Lines } from './lines.js';
import { normalized } from './saved.js';
import type { CountedRule, CountedRules } from './types.js';

/** Reads the output, in pieces of at most a few ms. Lines that are not rules with counters are ignored. */
export async function readCounted(output: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<CountedRules> {
  const rules = new Map<string, CountedRule[]>();
  let table = '';
  const lines = new Lines((line) => {
    if (line.startsWith('*')) table = line.slice(1).trim();
    const [, packets, bytes, chain, text = ''] = /^\[(\d+):(\d+)\] -A (\S+) (.*?)\s*$/.exec(line) ?? [];
    if (chain === undefined) return;
    const id = `${table}/${chain}`;
    const rule = { text: normalized(text), packets: Number(packets), bytes: Number(bytes) };
    const known = rules.get(id);
    if (known) known.push(rule);
    else rules.set(id, [rule]);
  });
  for await (const piece of output) lines.read(piece);
  lines.end();
  return rules;
}
