// The time limit of plan and diff for an API server that does not answer.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AnswerLimit } from '../../../../src/command/cli/answerLimit.js';
import type { Source, SourceEvents } from '../../../../src/proxy/source/source.js';

const NEXT_STEP =
  'check --kubeconfig, --master and the network, set a longer --timeout, or read objects from files with --manifests';

const EVENTS: SourceEvents = { changed() {}, synced() {}, problems() {} };

/** A source whose server never answers; its start resolves when it is stopped, as that of the API server's does. */
function silent(): Source {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { start: () => promise, stop: () => resolve() };
}

it('ends the start of a source without an answer, and names the next step', async () => {
  const limit = new AnswerLimit(0.02);
  await assert.rejects(limit.around(silent()).start(EVENTS), {
    message: 'the API server did not send its objects within 0.02 s',
    nextStep: NEXT_STEP,
  });
  assert.throws(() => limit.check(), /within 0\.02 s/);
  await assert.rejects(limit.around(silent()).start(EVENTS), /within 0\.02 s/);
});

it('names the last error of the server', async () => {
  const limit = new AnswerLimit(0.02);
  limit.failed(new Error('ECONNREFUSED: first'));
  limit.failed(new Error('ERR_STATUS: 401'));
  await assert.rejects(
    limit.around(silent()).start(EVENTS),
    /within 0\.02 s; the last error: ERR_STATUS: 401$/,
  );
});

it('does not limit what follows the objects', async () => {
  const limit = new AnswerLimit(0.02);
  const source: Source = { start: async ({ synced }) => synced(), stop() {} };
  let reported = false;
  const synced = () => {
    reported = true;
  };
  await limit.around(source).start({ ...EVENTS, synced });
  assert.ok(reported);
  await new Promise((resolve) => setTimeout(resolve, 60));
  limit.check();
});

it('passes on every event of a source, and leaves no listener', async () => {
  const limit = new AnswerLimit(60);
  const { signal } = limit;
  const listeners = { added: 0, removed: 0 };
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners.added++;
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners.removed++;
    remove(...given);
  };
  const source: Source = {
    async start(events) {
      events.changed([]);
      events.problems([]);
      events.mended?.([]);
      events.incomplete?.(['a.yaml']);
      events.synced();
    },
    stop() {},
  };
  const seen: string[] = [];
  await limit.around(source).start({
    changed: () => seen.push('changed'),
    problems: () => seen.push('problems'),
    mended: () => seen.push('mended'),
    incomplete: (unread) => seen.push(`incomplete ${unread.join()}`),
    synced: () => seen.push('synced'),
  } satisfies Required<SourceEvents>);
  assert.deepEqual(seen, ['changed', 'problems', 'mended', 'incomplete a.yaml', 'synced']);
  assert.deepEqual(listeners, { added: 1, removed: 1 });
});
