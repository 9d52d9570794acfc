// A log as it is written, which a test keeps.
import { openLog } from '../../../src/command/agent/log.js';

/** A log of a format, and what was written to it. */
export function keptLog(format: 'text' | 'json') {
  let text = '';
  const write = (line: string) => {
    text += line;
  };
  return { log: openLog({ verbosity: 6, format }, { write }), text: () => text };
}
