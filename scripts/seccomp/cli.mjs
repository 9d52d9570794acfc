// The command line of `npm run task -- seccomp`.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure, reportFailures } from '../lib/failure.mjs';
import { profileOf, textOf } from './profile.mjs';
import { record } from './record.mjs';
import { RUNS } from './runs.mjs';

const RECORDED = join(CHECKOUT, 'scripts/seccomp/recorded.json');
const PROFILE = join(CHECKOUT, 'deploy/seccomp/kube-netlink-proxy.json');

const HELP = `Usage: npm run task -- seccomp COMMAND [OPTIONS]

  record   runs end-to-end tests with their agents under strace, and adds the names of the system calls, and with the image the
           files that were opened, to scripts/seccomp/recorded.json; then as write
  write    writes deploy/seccomp/kube-netlink-proxy.json from the recorded names
  check    exits with 1 if that profile is not what write would write

Options of record:
  --run NAME   only this run; may be repeated: ${RUNS.map(({ name }) => name).join(', ')}
               Those with -image use the programs of the image: \`npm run task -- image\` first.
  --anew       forget the names that were recorded for these runs before
  --keep DIR   leave the output of strace in this folder
`;

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit status
 */
export function main(args) {
  return reportFailures('seccomp', async () => {
    const { command, values } = parse(args);
    if (values.help || command === undefined) {
      process.stdout.write(HELP);
      return values.help ? 0 : 1;
    }
    if (command === 'record') await recordRuns(values);
    else if (command !== 'write' && command !== 'check')
      throw new Failure(`there is no ${command} (see --help)`);
    return command === 'check' ? check() : write();
  });
}

/** @param {readonly string[]} args */
function parse(args) {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        run: { type: 'string', multiple: true },
        anew: { type: 'boolean', default: false },
        keep: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    return { command: positionals[0], values };
  } catch (error) {
    throw new Failure(`${/** @type {Error} */ (error).message} (see --help)`);
  }
}

/**
 * What was recorded, by the name of the run.
 *
 * @typedef {Record<string, { programs: string, calls: string[], files: string[] }>} Recorded
 */

/** @type {Recorded[string]} */
const NOTHING = { programs: '', calls: [], files: [] };

/** @returns {Recorded} */
const recorded = () => JSON.parse(readFileSync(RECORDED, 'utf8'));

/** @param {{ run?: string[] | undefined, anew: boolean, keep?: string | undefined }} options */
async function recordRuns({ run: names, anew, keep }) {
  const unknown = names?.find((name) => !RUNS.some((run) => run.name === name));
  if (unknown !== undefined) throw new Failure(`there is no run ${unknown} (see --help)`);
  if (keep !== undefined) mkdirSync(keep, { recursive: true });
  for (const run of RUNS) {
    if (names !== undefined && !names.includes(run.name)) continue;
    const all = recorded();
    const others = Object.entries(all).flatMap(([name, { calls }]) => (name === run.name ? [] : calls));
    const { programs, calls, files } = await record(run, union(others, []), keep);
    const { calls: former, files: formerFiles } = (anew ? undefined : all[run.name]) ?? NOTHING;
    all[run.name] = { programs, calls: union(former, calls), files: union(formerFiles, files) };
    const sorted = Object.fromEntries(Object.entries(all).sort(([one], [other]) => (one < other ? -1 : 1)));
    writeFileSync(RECORDED, textOf(sorted));
    const news = calls.filter((call) => !former.includes(call));
    process.stdout.write(`${run.name}: ${calls.length} calls, new: ${news.join(' ') || 'none'}\n`);
  }
}

/**
 * @param {readonly string[]} one
 * @param {readonly string[]} other
 */
const union = (one, other) => [...new Set([...one, ...other])].sort();

function current() {
  const calls = Object.values(recorded()).flatMap((run) => run.calls);
  return textOf(profileOf(calls));
}

function write() {
  writeFileSync(PROFILE, current());
  return 0;
}

function check() {
  if (readFileSync(PROFILE, 'utf8') === current()) return 0;
  throw new Failure(`${PROFILE} is not what was recorded: run \`npm run task -- seccomp write\``);
}
