// Hostile text in objects, in the answers of the agent and in rules of other programs: the output of commands, in every format,
// has no line and no escape that came from it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { AgentState } from '../../src/command/agent/agentReport.js';
import { NoAnswer } from '../../src/command/cli/agentClient.js';
import { decodeFrontends } from '../../src/command/cli/agentFrontends.js';
import { check } from '../../src/command/cli/check/check.js';
import { checkLines } from '../../src/command/cli/check/report.js';
import { diffLines, diffReport } from '../../src/command/cli/diff.js';
import { frontendAt, reasonWithoutEndpoints } from '../../src/command/cli/explain/objects.js';
import { explanationLines } from '../../src/command/cli/explain/text.js';
import { COLOURS, styleFor } from '../../src/command/cli/output/colours.js';
import { type Format, type Layout, type Output, writeReport } from '../../src/command/cli/output/output.js';
import { planLines, planReport } from '../../src/command/cli/plan.js';
import { frontendsInventory } from '../../src/command/cli/services/frontendsInventory.js';
import type { Inventory } from '../../src/command/cli/services/inventory.js';
import { namesOf } from '../../src/command/cli/services/names.js';
import { ipvsInventory } from '../../src/command/cli/services/openInventory.js';
import { printServices } from '../../src/command/cli/services/services.js';
import { showTop } from '../../src/command/cli/services/top.js';
import {
  decodeAgentReport,
  decodeHealth,
  statusLines,
  statusReport,
} from '../../src/command/cli/status/report.js';
import { readInputFlags } from '../../src/command/config/commandLine.js';
import { frontendsIn } from '../../src/command/explain/iptables/inventory.js';
import { describeProblem, escapedControls } from '../../src/kernel/errors.js';
import type { Family } from '../../src/kernel/net/address.js';
import type { FakeKernel } from '../../src/kernel/testing/index.js';
import { namedFrontends } from '../../src/proxy/services/namedFrontends.js';
import { nodeFacts } from '../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../src/proxy/services/serviceCache.js';
import { sample } from '../support/extent.js';
import { assertCleanLines } from '../support/hostile/clean.js';
import { addForeignRules } from '../support/hostile/foreignRules.js';
import { HOSTILE, type Hostile, MARK, OTHER, type Part } from '../support/hostile/objects.js';
import { EXPLAIN, type ModeName, proxyOf, recordingKernel } from '../support/hostile/proxies.js';
import { listOf, type Read, SOURCES } from '../support/hostile/sources.js';

const SOURCE_COUNT = Object.keys(SOURCES).length;

/** A client of packets that are explained, and an address of the node. */
const CLIENT = { 4: '203.0.113.7', 6: '2001:db8::7' } as const;
const NODE_ADDRESS = { 4: '192.168.50.250', 6: 'fd00:192:168:50::250' } as const;

/** An output format, and whether it has colours. */
type Form = readonly [format: Format, coloured: boolean];

const FORMS: readonly Form[] = [
  ...(['text', 'wide', 'json', 'yaml'] as const).map((format) => [format, false] as const),
  ...(['text', 'wide'] as const).map((format) => [format, true] as const),
];

/** The forms in which commands are shown: all of them, unless a test has too many outputs for it. */
let forms = FORMS;

/** Calls back with an output of each form, and asserts that what is written is clean. */
async function inEachForm(told: string, show: (output: Output) => Promise<void> | void): Promise<string> {
  let all = '';
  for (const [format, coloured] of forms) {
    let text = '';
    const write = (part: string) => {
      text += part;
    };
    await show({ format, columns: 80, style: styleFor(coloured), write, note: write });
    assert.notEqual(text, '', `${told} -o ${format}`);
    const plain = text.split(COLOURS).filter((_, i) => i % 2 === 0);
    assertCleanLines(coloured ? plain.join('') : text, `${told} -o ${format}`);
    all += text;
  }
  return all;
}

/** A report in each format. */
function reported(told: string, report: object, lines: (layout: Layout) => readonly string[]) {
  return inEachForm(told, (output) => writeReport(output, report, lines));
}

/** Reads the objects from a source. */
function readFrom(source: string, hostile: Hostile, part: Part): Promise<Read> {
  const read = SOURCES[source];
  assert.ok(read);
  return read(hostile, part);
}

/** plan and diff. */
async function showPreview(
  kernel: FakeKernel,
  mode: ModeName,
  { objects }: Pick<Read, 'objects'>,
  told: string,
) {
  const proxy = proxyOf(kernel, mode, objects);
  const found = { operations: await proxy.plan(), unread: [] };
  await proxy.stop();
  const plan = await reported(`${told}: plan`, planReport(found), (layout) => planLines(found, layout));
  const report = diffReport(found);
  return plan + (await reported(`${told}: diff`, report, (layout) => diffLines(report, layout)));
}

/** services and top. */
async function showInventory<Listing>(inventory: Inventory<Listing>, told: string): Promise<void> {
  await inEachForm(`${told}: services`, (output) =>
    printServices({ inventory, isFiltered: false, interval: 0, output }),
  );
  const top = { inventory, interval: 0.001, order: 'name', count: 1 } as const;
  await inEachForm(`${told}: top`, (output) => showTop(top, { output }));
}

/** services, top and explain, with the names of objects. */
async function showServices(kernel: FakeKernel, mode: ModeName, { objects }: Read, told: string) {
  const cache = new ServiceCache();
  for (const object of objects) cache.apply({ type: 'set', object });
  const node = nodeFacts(OTHER.nodeName, { node: cache.node(OTHER.nodeName) });
  const frontends = [...namedFrontends(cache, node)];
  const names = namesOf({ source: 'manifests' }, frontends);
  await showInventory(ipvsInventory(kernel.ipvs, names, []), told);
  const list = async () => [...(await programmed(kernel, 4)), ...(await programmed(kernel, 6))];
  await showInventory(frontendsInventory(list, names, []), told);
  for (const { family, address, port, protocol } of frontends.filter((_, i) => i % 20 === 0)) {
    const dialled = { address: address || NODE_ADDRESS[family], port, protocol };
    const from = CLIENT[family];
    const explanation = await EXPLAIN[mode](kernel, { ...dialled, from });
    const owner = frontendAt(cache, node, dialled);
    assert.ok(owner);
    const { service } = owner;
    const reason = reasonWithoutEndpoints(owner, cache.slices(owner.service));
    const named = { service, portName: owner.port.portName, ...(reason === undefined ? {} : { reason }) };
    await reported(`${told}: explain`, { ...explanation, service: named }, () =>
      explanationLines(explanation, named, 80),
    );
  }
}

/** The frontends in the rules of a family. */
async function programmed(kernel: FakeKernel, family: Family) {
  const counted = [...(await kernel.iptables.save(family))].map(
    ([id, texts]) => [id, texts.map((text) => ({ text, packets: 1, bytes: 60 }))] as const,
  );
  return frontendsIn(family, new Map(counted));
}

/** status of an agent that has these problems. */
async function showStatus({ problems }: Read, told: string) {
  const about = { version: '0.1.0', node: OTHER.nodeName, mode: 'ipvs', families: [4, 6] as const };
  const lines = problems.map(describeProblem);
  const now = Date.parse('2026-01-01T00:00:00Z');
  const state = new AgentState(
    { ...about, startedAt: '2026-01-01T00:00:00Z' },
    { lines: () => lines },
    () => now,
  );
  const agent = decodeAgentReport(JSON.stringify(state.report()));
  assert.ok(agent);
  const report = statusReport({ healthy: true, nodeEligible: true, unread: [] }, agent);
  await reported(`${told}: status`, report, (layout) => statusLines(report, now, layout));
}

for (const [shift, source] of Object.keys(SOURCES).entries()) {
  it(`no command shows a line or an escape of an object: ${source}`, async (t) => {
    t.after(() => {
      forms = FORMS;
    });
    for (const [i, [name, hostile]] of sample([...Object.entries(HOSTILE).entries()], 2)) {
      // Over all sources, each place is hostile with each text, and each text is shown in each form: all at once would take minutes.
      const read = await readFrom(source, hostile, { every: SOURCE_COUNT, from: i + shift });
      const modes = ['iptables', (i + shift) % 2 === 0 ? 'ipvs' : 'ipvs tables'] as const;
      for (const [second, mode] of modes.entries()) {
        forms = [FORMS[(i + 2 * shift + second) % FORMS.length] as Form];
        const told = `${name}, ${mode} mode`;
        const { kernel } = recordingKernel();
        await showPreview(kernel, mode, read, told);
        const proxy = proxyOf(kernel, mode, read.objects);
        await proxy.once();
        await proxy.stop();
        await showServices(kernel, mode, read, told);
      }
      await showStatus(read, name);
    }
  });
}

it('the command check shows no line and no escape of a manifest, whose bytes may be no UTF-8', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-hostile-'));
  try {
    for (const [name, hostile] of Object.entries(HOSTILE)) {
      const path = join(folder, 'all.json');
      writeFileSync(path, listOf(hostile));
      const report = await check([path], readInputFlags([]));
      assert.ok(report.problems.length > 0, name);
      await reported(`${name}: check`, report, (layout) => checkLines(report, layout));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('no command shows a line or an escape of another program that answers on the ports of the agent', async () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  for (const [name, hostile] of Object.entries(HOSTILE)) {
    const text = String(hostile);
    const failure = { item: text, services: [text], fields: [text], code: text, message: text };
    const pass = { endedAt: text, full: false, services: 1, operations: 1, failed: 1, unknown: 1 };
    const times = { planMilliseconds: 1, kernelMilliseconds: 1 };
    const agent = decodeAgentReport(
      JSON.stringify({
        ...{ version: text, node: text, mode: text, families: [text], startedAt: text, kernelError: text },
        lastPass: { ...pass, ...times, failures: [failure] },
        formerModes: [{ mode: text, connections: 1, error: text }],
        ...{ repaired: 1, draining: 1, leftOut: 1, problems: [text] },
      }),
    );
    const health = decodeHealth(503, JSON.stringify({ currentTime: text, unread: [text] }));
    assert.ok(agent && health);
    const report = statusReport(health, agent);
    await reported(`${name}: status`, report, (layout) => statusLines(report, now, layout));
    const frontend = { service: text, portName: text, kind: text, address: text, protocol: text, port: 80 };
    const answer = JSON.stringify({ frontends: [frontend] });
    if (escapedControls(text) === text)
      assertCleanLines(JSON.stringify(decodeFrontends(answer, 'here')), name);
    else assert.throws(() => decodeFrontends(answer, 'here'), NoAnswer, name);
  }
});

it('plan, diff and explain show no escape of a rule that another program made', async () => {
  for (const mode of ['iptables', 'ipvs', 'ipvs tables'] as const) {
    const { kernel } = recordingKernel();
    const { objects } = await readFrom('manifests in JSON', 'web', { every: 8, from: 0 });
    const proxy = proxyOf(kernel, mode, objects);
    await proxy.once();
    await proxy.stop();
    await addForeignRules(kernel, mode, `\u001b[2J\u009b2J${MARK}`);
    const shown = await showPreview(kernel, mode, { objects }, mode);
    assert.ok(shown.includes(MARK), `${mode}: the rule is shown`);
    const question = { address: OTHER.address, port: 80, protocol: 'tcp', from: CLIENT[4] } as const;
    const explanation = await EXPLAIN[mode](kernel, question);
    const text = await reported(`${mode}: explain`, explanation, () =>
      explanationLines(explanation, undefined, 80),
    );
    // It shows the rules of a table that are ours: a watch finds others at once.
    assert.equal(text.includes(MARK), mode !== 'ipvs tables', `${mode}: explain shows the rule`);
  }
});
