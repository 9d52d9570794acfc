// Hostile text in objects, in names of files, in rules of other programs and in answers of the kernel: what --once and --cleanup print
// and log has no line and no escape that came from it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type PassParts, runCleanUp, runOnce } from '../../src/command/cli/passes.js';
import { readInputFlags } from '../../src/command/config/commandLine.js';
import { loadConfiguration } from '../../src/command/config/load.js';
import { MODES as KNOWN_MODES } from '../../src/command/modes/select.js';
import { NetlinkError } from '../../src/kernel/errors.js';
import { nodeFacts } from '../../src/proxy/services/nodeFacts.js';
import type { Source } from '../../src/proxy/source/source.js';
import { sample } from '../support/extent.js';
import { assertCleanLines } from '../support/hostile/clean.js';
import { addForeignRules } from '../support/hostile/foreignRules.js';
import { keptLog } from '../support/hostile/keptLog.js';
import { HOSTILE, MARK, OTHER } from '../support/hostile/objects.js';
import { MODES, type ModeName, proxyOf, recordingKernel } from '../support/hostile/proxies.js';
import { type Read, SOURCES } from '../support/hostile/sources.js';

const { configuration } = loadConfiguration(readInputFlags([]), KNOWN_MODES);

/** A source of these objects, which cannot read a file of this name. */
function sourceOf({ objects, problems }: Read, unread: string): Source {
  return {
    async start(events) {
      events.changed(objects.map((object) => ({ type: 'set', object })));
      events.problems(problems);
      events.incomplete?.([unread]);
      events.synced();
    },
    stop() {},
  };
}

/** A kernel in which another program made rules, and which takes no more of them, and answers with the text. */
async function refusingKernel(mode: ModeName, read: Read, text: string) {
  const { kernel } = recordingKernel();
  const proxy = proxyOf(kernel, mode, read.objects);
  await proxy.once();
  await proxy.stop();
  // The kernel keeps a comment without line breaks and NUL, and not a longer one.
  const comment = text.replace(/[\n\0"]/g, '').slice(0, 200);
  await addForeignRules(kernel, mode, comment);
  const refused = (operation: string) =>
    new NetlinkError({ code: 'ERR_PROCESS', operation, target: text, kernelMessage: text });
  kernel.iptables.restore = async (_, operations) => operations.map(() => refused('iptables.restore'));
  kernel.nftables.apply = async (operations) => operations.map(() => refused('nftables.apply'));
  return kernel;
}

for (const mode of ['iptables', 'ipvs', 'ipvs tables'] as const) {
  it(`--once and --cleanup print and log no line and no escape: ${mode} mode`, async () => {
    for (const [name, hostile] of sample(Object.entries(HOSTILE), 4)) {
      const text = String(hostile);
      const read = (await SOURCES['manifests in JSON']?.(hostile, { every: 16, from: 0 })) as Read;
      const kernel = await refusingKernel(mode, read, text);
      const opened = { mode: MODES[mode](kernel) as PassParts['opened']['mode'], kernel };
      const { log, text: logged } = keptLog(mode === 'ipvs' ? 'text' : 'json');
      let printed = '';
      const print = (part: string) => {
        printed += part;
      };
      const node = nodeFacts(OTHER.nodeName);
      assert.equal(
        await runOnce({ opened, node, configuration, log, print, source: sourceOf(read, text) }),
        1,
        name,
      );
      const unread = printed.split('\n').filter((line) => line.includes('unreadable manifests'));
      assert.ok(unread.length === 1 && unread[0]?.includes(MARK), `${name}: ${printed}`);
      const open = async () => ({ mode: opened.mode, close() {} });
      const unusable = [{ family: 6, inKernel: true, reason: text }] as const;
      assert.equal(await runCleanUp({ modes: [{ name: mode, open }], unusable, log, print }), 1, name);
      assert.match(printed, /\nleft:\n {2}\S/, name);
      assertCleanLines(printed, `${name}: printed`);
      assertCleanLines(logged(), `${name}: logged`);
      assert.ok(logged().includes('cannot remove the rules of IPv6'), name);
    }
  });
}
