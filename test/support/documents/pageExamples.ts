// The examples of docs/troubleshooting.md, run beside an agent on the node of examples/.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { type Lab, openLab } from '../../laboratory/lab.js';
import { NODE_A } from '../../laboratory/places.js';
import { COMMAND, ProxyProcess } from '../../laboratory/proxyProcess.js';
import { closeAfter } from '../closeAfter.js';
import { ROOT } from '../paths.js';
import { type Example, examplesOf, VARIES } from './commandExamples.js';
import { steady } from './steadyOutput.js';

const PAGE = 'docs/troubleshooting.md';
/** In ms. A fault and its repair wait until the agent has programmed a change. */
const LIMIT = 120_000;

let lab: Lab;
let folder: string;

/**
 * Registers a test for each example of a mode: the fault, the command with its output and its status, the repair.
 *
 * @param mode of the agent; an example is of the mode that a comment above it names, otherwise of ipvs mode
 */
export function testPage(mode: 'ipvs' | 'nftables'): void {
  const { examples, files } = examplesOf(PAGE);
  const own = examples.filter(({ marks }) => (marks[0] ?? 'ipvs') === mode);
  assert.ok(own.length > 0);
  before(async () => {
    lab = closeAfter(openLab([]));
    folder = mkdtempSync(join(tmpdir(), 'knp-page-'));
    closeAfter({ close: () => rmSync(folder, { recursive: true }) });
    cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
    for (const [name, text] of files) writeFileSync(join(folder, name), text);
    // Without an audit, the agent does not repair the faults.
    const flags = [`--proxy-mode=${mode}`, '--ipvs-sync-period=1h'];
    const agent = closeAfter(new ProxyProcess(lab.namespace(NODE_A), join(folder, 'examples'), flags));
    await agent.programmed();
  });
  for (const example of own) test(`$ ${example.command}`, () => check(example));
}

function check({ command, output, status, fault, repair }: Example): void {
  if (fault !== undefined) succeed(fault);
  try {
    const result = run(command);
    if (output !== VARIES) assert.equal(steadyPage(result.text), steadyPage(output));
    assert.equal(result.status, status, result.text);
  } finally {
    if (repair !== undefined) succeed(repair);
  }
}

function succeed(script: string): void {
  const { status, text } = run(script);
  assert.equal(status, 0, `${script}: ${text}`);
}

/** Runs a script on the node, and returns its output and exit status. */
function run(script: string): { readonly status: number | null; readonly text: string } {
  const named = script.replaceAll(/\bkube-netlink-proxy (?=[a-z])/g, `'${process.execPath}' '${COMMAND}' `);
  const args = ['netns', 'exec', lab.namespace(NODE_A), 'bash', '-c', named];
  const { status, stdout, stderr } = spawnSync('ip', args, { encoding: 'utf8', cwd: folder, timeout: LIMIT });
  return { status, text: stdout + stderr };
}

/** Beside what {@link steady} replaces: the timeouts of flows. */
function steadyPage(text: string): string {
  return steady(text).replaceAll(/^(udp|tcp)( +\d+) \d+ /gm, '$1$2 TIMEOUT ');
}
