// The judge finds each planted fault of a simulated proxy, shrinks its history, and finds nothing in a correct one.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { generateHistory, type Kinds } from '../../judge/core/generate.js';
import { describeEvent, FAULTS, type FaultName, type History } from '../../judge/core/history.js';
import { parseReplay, replayText } from '../../judge/core/replay.js';
import type { RuleName } from '../../judge/core/rules.js';
import { shrink } from '../../judge/core/shrink.js';
import { judge } from '../../judge/core/verdict.js';
import { FLAWS, type Flaw } from '../../judge/simulated/flaws.js';
import { SIMULATED_BOUNDS, simulate } from '../../judge/simulated/simulate.js';
import { sample, WHOLE } from '../../support/extent.js';

const KINDS: Kinds = { steps: 30, pause: 400, faults: Object.keys(FAULTS) as FaultName[], faultTime: 1000 };
/** Seeds on which the correct proxy is judged, and most seeds until a planted fault must be found. */
const CORRECT_SEEDS = WHOLE ? 30 : 4;
const MOST_SEEDS = 60;

/** The rules that may be broken by each fault; which one is first depends on the seed. */
const BROKEN: Readonly<Record<Flaw, readonly RuleName[]>> = {
  lostRemoval: ['removed-not-chosen', 'stale-stream', 'terminating-not-chosen', 'own-endpoints'],
  staleStream: ['stale-stream'],
  endpointNeverChosen: ['every-endpoint'],
  unhealedDamage: ['ready-answers', 'stream-answers'],
  wrongSource: ['source-address'],
  rangesIgnored: ['source-ranges'],
  affinityLost: ['affinity'],
  affinityStays: ['affinity-ends'],
  establishedReset: ['established-kept'],
  readyAgainLost: ['ready-answers', 'every-endpoint'],
  terminatingChosen: ['terminating-not-chosen'],
  notReadyChosen: ['not-ready-not-chosen', 'terminating-not-chosen'],
  localIgnored: ['local-policy'],
  nodePortMissing: ['ready-answers', 'stream-answers'],
  familyMissing: ['ready-answers', 'stream-answers'],
  protocolMissing: ['ready-answers', 'stream-answers'],
  late: ['ready-answers', 'removed-not-chosen'],
  hintsIgnored: ['hints'],
  serviceLeft: ['own-endpoints', 'stale-stream'],
  lostWhileDown: ['removed-not-chosen', 'ready-answers', 'own-endpoints'],
  flushedAtStart: ['ready-answers', 'stream-answers'],
  silentWhenEmpty: ['refused'],
  olderStays: ['own-endpoints', 'removed-not-chosen', 'ready-answers'],
  listKeepsDeleted: ['own-endpoints'],
  givesUpWhenForbidden: ['ready-answers', 'removed-not-chosen', 'own-endpoints', 'stream-answers'],
  gapAtModeChange: ['ready-answers', 'stream-answers'],
  zoneIgnored: ['hints', 'every-endpoint'],
  rangesEndFirst: ['source-ranges'],
  unansweredStays: ['stream-answers'],
  flushTakenForOwn: ['ready-answers', 'stream-answers'],
  firstPassKeepsFlows: ['stale-stream'],
  lastFlowsStay: ['stale-stream'],
  leftStreamsEnd: ['stream-answers'],
  alwaysHealthy: ['health-check'],
  localhostMissing: ['ready-answers', 'stream-answers'],
  sctpMissing: ['ready-answers'],
};

/** Flaws that one fault alone shows. With all faults, it is too rare in histories. */
const SHOWN_BY: Readonly<Partial<Record<Flaw, FaultName>>> = {
  olderStays: 'serverOlder',
  listKeepsDeleted: 'serverCompacting',
  givesUpWhenForbidden: 'serverForbidden',
  gapAtModeChange: 'modeChanged',
};

function brokenBy(history: History, flaw?: Flaw): RuleName[] {
  return judge(simulate(history, flaw), SIMULATED_BOUNDS).map(({ rule }) => rule);
}

describe('the judge of histories', () => {
  it(`finds nothing in a correct proxy over ${CORRECT_SEEDS} seeds`, () => {
    let requests = 0;
    for (let seed = 1; seed <= CORRECT_SEEDS; seed++) {
      const recording = simulate(generateHistory(seed, KINDS));
      requests += recording.observations.filter(({ result }) => result === 'answered').length;
      assert.deepEqual(judge(recording, SIMULATED_BOUNDS), [], `seed ${seed}`);
    }
    assert.ok(requests > (WHOLE ? 50_000 : 5_000), `only ${requests} requests were answered`);
  });

  for (const [flaw, says] of sample(Object.entries(FLAWS) as [Flaw, string][], 4)) {
    it(`finds and shrinks: ${says}`, async () => {
      const fault = SHOWN_BY[flaw];
      const kinds: Kinds = fault ? { ...KINDS, faults: [fault] } : KINDS;
      let history: History | undefined;
      let rule: RuleName | undefined;
      for (let seed = 1; seed <= MOST_SEEDS && rule === undefined; seed++) {
        history = generateHistory(seed, kinds);
        rule = brokenBy(history, flaw)[0];
      }
      assert.ok(history && rule, `not found with ${MOST_SEEDS} seeds`);
      assert.ok(BROKEN[flaw].includes(rule), `${rule} is not a rule for it`);
      const shrunk = await shrink(history, (candidate) => brokenBy(candidate, flaw).includes(rule));
      assert.ok(shrunk);
      const story = shrunk.steps.map(({ after, event }) => `+${after} ${describeEvent(event)}`).join('\n');
      assert.ok(shrunk.steps.length <= 10, `${shrunk.steps.length} events:\n${story}`);
      // The file replays it, and a correct proxy keeps the promise.
      const replayed = parseReplay(replayText(shrunk));
      assert.ok(brokenBy(replayed, flaw).includes(rule));
      assert.deepEqual(brokenBy(replayed), []);
    });
  }

  it('does not shrink a history that holds when it is played again', async () => {
    const played: History[] = [];
    const holds = (candidate: History) => {
      played.push(candidate);
      return false;
    };
    const history = generateHistory(1, KINDS);
    assert.equal(await shrink(history, holds), undefined);
    assert.deepEqual(played, [history]);
  });
});
