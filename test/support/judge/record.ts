// The record of the judge: faults of proxies that were found, and the histories that replay them.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { History } from '../../judge/core/history.js';
import { parseReplay } from '../../judge/core/replay.js';
import type { RuleName } from '../../judge/core/rules.js';
import type { Flaw } from '../../judge/simulated/flaws.js';
import { ROOT } from '../paths.js';

/** The folder of the histories. */
export const RECORD = join(ROOT, 'test/judge/record');

/** An entry: the rule that its history shows to be broken, and the flaw of a simulated proxy that has the fault. */
export interface RecordEntry {
  readonly rule: RuleName;
  readonly flaw: Flaw;
}

/** The entries by the name of their file. docs/judge.md says where each fault was. */
export const ENTRIES: Readonly<Record<string, RecordEntry>> = {
  'ranges-end-first': { rule: 'source-ranges', flaw: 'rangesEndFirst' },
  'stream-during-damage': { rule: 'stream-answers', flaw: 'unansweredStays' },
  'flush-beside-a-change': { rule: 'ready-answers', flaw: 'flushTakenForOwn' },
  'flows-of-the-former-mode': { rule: 'stale-stream', flaw: 'firstPassKeepsFlows' },
  'last-endpoint-of-udp': { rule: 'stale-stream', flaw: 'lastFlowsStay' },
  'first-endpoint-of-udp': { rule: 'stream-answers', flaw: 'unansweredStays' },
  'endpoint-of-udp-returns': { rule: 'stream-answers', flaw: 'leftStreamsEnd' },
  'flows-after-a-failed-restore': { rule: 'stale-stream', flaw: 'firstPassKeepsFlows' },
  'ready-again-after-a-restart': { rule: 'ready-answers', flaw: 'readyAgainLost' },
  'terminating-connection': { rule: 'established-kept', flaw: 'establishedReset' },
  'affinity-never-ends': { rule: 'affinity-ends', flaw: 'affinityStays' },
  'rules-gone-at-the-start': { rule: 'ready-answers', flaw: 'flushedAtStart' },
  'healthy-without-endpoint': { rule: 'health-check', flaw: 'alwaysHealthy' },
  'node-port-at-localhost': { rule: 'ready-answers', flaw: 'localhostMissing' },
};

/** The histories of the folder by the name of their file. */
export function recordedHistories(): Map<string, History> {
  const files = readdirSync(RECORD).sort();
  return new Map(
    files.map((file) => [basename(file, '.json'), parseReplay(readFileSync(join(RECORD, file), 'utf8'))]),
  );
}
