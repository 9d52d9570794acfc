// Hostile text in every text of Services, EndpointSlices and Nodes, as bytes from manifests and from an API server: none of it
// makes a line or an escape in the input of iptables-restore, in the log, in /statusz, in metrics or in events.
// hostileCommands.test.ts has the commands.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { logEvents } from '../../src/command/agent/logEvents.js';
import { describeProblem, type Problem } from '../../src/kernel/errors.js';
import type { FakeKernel } from '../../src/kernel/testing/index.js';
import { decodeObject } from '../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../src/proxy/objects/types.js';
import { sample } from '../support/extent.js';
import { assertCleanInput, assertCleanLines } from '../support/hostile/clean.js';
import { keptLog } from '../support/hostile/keptLog.js';
import {
  HOSTILE,
  type Hostile,
  hostileObjects,
  MARK,
  OTHER,
  otherObjects,
} from '../support/hostile/objects.js';
import { type ModeName, proxyOf, recordingKernel } from '../support/hostile/proxies.js';
import { SOURCES } from '../support/hostile/sources.js';
import { toldAbout } from '../support/hostile/told.js';

const MODE_NAMES: readonly ModeName[] = ['iptables', 'ipvs', 'ipvs tables'];

/** /statusz, the metrics and the events of an agent that has these problems. */
async function assertCleanlyTold(problems: readonly Problem[], name: string): Promise<void> {
  const { pages, events } = await toldAbout(problems);
  assertCleanLines(pages, `${name}: pages`);
  assert.ok(pages.includes('Left out: ') && pages.includes('kube_netlink_proxy_left_out_objects{'), name);
  for (const line of pages.slice(pages.indexOf('# HELP')).split('\n'))
    assert.match(line, METRIC, `${name}: ${line}`);
  const ofObjects = problems.filter(({ reference }) => reference !== undefined);
  assert.ok(events.length > 0 || ofObjects.length === 0, `${name}: no event`);
  for (const { path, body } of events) {
    assert.match(path, /^\/apis\/events\.k8s\.io\/v1\/namespaces\/[a-z0-9-]+\/events$/, name);
    assert.ok(Buffer.byteLength(body.note) <= 1024, name);
    assertCleanLines(`${body.note} ${body.regarding.name}`, `${name}: event`);
    // Its own line breaks would be lines of an event.
    assert.ok(!body.note.includes('\n'), name);
  }
}

/** A line of Prometheus' text format; no text of an object is a label. */
const METRIC = /^(# (HELP|TYPE) \w+ .*|\w+(\{(\w+="[\w.+:/-]*",?)*\})? \S+|)$/;

/** What has the addresses of Services. */
function servedBy(mode: ModeName, kernel: FakeKernel, input: string): string {
  if (mode === 'iptables') return input;
  return mode === 'ipvs' ? kernel.ipset.dump() : kernel.nftables.dump();
}

for (const [source, read] of Object.entries(SOURCES)) {
  it(`no text of an object makes a line or an escape: ${source}`, async () => {
    for (const [name, hostile] of sample(Object.entries(HOSTILE), 2)) {
      const { objects, problems } = await read(hostile);
      // A file with bytes that are not UTF-8 is refused as a whole; the API server's bytes are read as U+FFFD.
      const isRefused = source.startsWith('manifests') && typeof hostile !== 'string';
      if (isRefused)
        assert.match(
          problems.map(describeProblem).join('\n'),
          /^\/[^\n]*\/all\.\w+: [^\n]*it is not UTF-8$/,
          name,
        );
      else assert.ok(problems.length > 20, `${name}: ${problems.length} problems`);
      await assertCleanlyTold(problems, name);
      for (const mode of MODE_NAMES) {
        const told = `${name}, ${mode} mode`;
        const { kernel, input } = recordingKernel();
        const { log, text } = keptLog(mode === 'ipvs' ? 'text' : 'json');
        const events = logEvents(log);
        const proxy = proxyOf(kernel, mode, objects, events);
        const { failures } = await proxy.once();
        await proxy.stop();
        assert.deepEqual(failures, [], told);
        const served = servedBy(mode, kernel, input());
        if (mode === 'ipvs tables') assert.ok(!served.includes(MARK) && input() === '', told);
        else assertCleanInput(input(), told);
        for (const address of [OTHER.address, OTHER.address6])
          assert.ok(served.includes(address), `${told}: ${address} of the other Service is served`);
        events.problems(problems);
        events.mended?.(problems);
        for (const object of objects) log.info({ object }, String(object.name));
        assertCleanLines(text(), told);
      }
    }
  });
}

for (const format of ['text', 'json'] as const) {
  it(`the log in ${format} has no line and no escape of its messages, the names and the values of its fields`, () => {
    const { log, text } = keptLog(format);
    for (const hostile of Object.values(HOSTILE)) {
      const found = String(hostile);
      log.info({ [found]: found, err: new Error(found), nested: { [found]: [found] } }, found);
    }
    assertCleanLines(text(), format);
  });
}

it('a record of JSON has the text that was logged', () => {
  const { log, text } = keptLog('json');
  const value = `\u009b\u2028\u202e\ud800\u0000a"\\\n`;
  log.info({ value, [value]: 1 }, value);
  const record = JSON.parse(text());
  assert.deepEqual([record.value, record[value], record.msg], [value, 1, value]);
});

/** Services whose names and port names nothing has validated, as a source of the library's user may report them. */
function unvalidated(hostile: Hostile): KubernetesObject[] {
  const decoded = (raws: readonly object[]) => raws.flatMap((raw) => decodeObject(raw).object ?? []);
  const services = decoded(hostileObjects('web')).flatMap((object) =>
    object.kind === 'Service' ? [object] : [],
  );
  const text = String(hostile);
  const [first, second, third] = services.filter(({ name }) => /^s\d+$/.test(name));
  assert.ok(first && second && third);
  const named = (service: typeof first) => service.ports.map((port) => ({ ...port, name: text }));
  return [
    ...decoded(otherObjects()),
    { ...first, name: text },
    { ...second, namespace: text },
    { ...third, ports: named(third) },
  ];
}

/** The texts that no rule can have. Of the others, some are escaped, and some are only text. */
const REFUSED: ReadonlySet<string> = new Set([
  ...['another rule', 'another table', 'a carriage return', 'ESC', 'DEL', 'NUL', 'a line separator'],
  ...['CSI of C1', 'NEL and other controls of C1', 'a long text', 'a line of the length of a buffer'],
]);

it('objects that nothing has validated make no line and no argument either, and the others are served', async () => {
  for (const [name, hostile] of Object.entries(HOSTILE)) {
    const { kernel, input } = recordingKernel();
    const { log, text } = keptLog('text');
    const proxy = proxyOf(kernel, 'iptables', unvalidated(hostile), logEvents(log));
    const { failures } = await proxy.once();
    await proxy.stop();
    assertCleanInput(input(), name, true);
    assertCleanLines(text(), name);
    assert.ok(input().includes(`${OTHER.address}/32`), `${name}: the other Service is served`);
    for (const { error } of failures) assert.equal(error.code, 'ERR_INVALID_ARGUMENT', name);
    assert.equal(failures.length > 0, REFUSED.has(name), name);
    assert.equal(input().includes(MARK), !REFUSED.has(name), name);
  }
});
