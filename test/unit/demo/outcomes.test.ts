// Failures of the demonstration are counted: every kind, in the phase and at the time of each.
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type Flow, Outcomes } from '../../../demo/outcomes.js';
import type { Outcome } from '../../laboratory/labHost.js';

const FLOW: Flow = { name: 'ClusterIP' };
const OPEN: Flow = { name: 'open', server: 'b' };
const ALL = { name: 'start', servers: ['a', 'b'] };
const REST = { name: 'terminating', servers: ['a'] };

let outcomes: Outcomes;

/** An answer that took 5 ms. */
const by = (server: string, kept?: boolean): Outcome => ({
  by: server,
  sees: '10.0.0.1',
  milliseconds: 5,
  ...(kept === undefined ? {} : { kept }),
});

/** Requests that begin and end now, at 3.5 s. */
const record = (flow: Flow, ...given: readonly Outcome[]) => {
  for (const outcome of given) outcomes.record(flow, outcomes.now, outcome, 4500);
};

beforeEach(() => {
  outcomes = new Outcomes(1000);
  outcomes.begin(ALL);
});

describe('the outcomes of requests', () => {
  it('counts answers by flow, phase and server', () => {
    record(FLOW, by('a'), by('b'), by('a'));
    record(OPEN, by('b', true));
    outcomes.change('terminating');
    outcomes.begin(REST);
    record(FLOW, by('a'));
    const counts = [ALL, REST].map((phase) =>
      ['a', 'b'].map((server) => outcomes.count('ClusterIP', phase, server)),
    );
    assert.deepEqual(counts, [
      [2, 1],
      [1, 0],
    ]);
    assert.equal(outcomes.count('open', ALL, 'b'), 1);
    assert.equal(outcomes.requests, 5);
    assert.deepEqual(outcomes.failures, []);
  });

  it('keeps the longest time of an answer', () => {
    record(FLOW, by('a'), { ...by('a'), milliseconds: 80 }, by('a'), {
      error: 'no answer',
      milliseconds: 5000,
    });
    assert.equal(outcomes.slowest, 80);
  });

  const faults: [what: string, flow: Flow, outcome: Outcome, failure: string][] = [
    [
      'a request that is not answered',
      FLOW,
      { error: 'ECONNREFUSED', milliseconds: 1 },
      '3.5 s, phase terminating: ClusterIP: not answered: ECONNREFUSED',
    ],
    [
      'an answer of a server that should have no new connection',
      FLOW,
      by('b'),
      '3.5 s, phase terminating: ClusterIP: b answered, and should have had no new connection',
    ],
    [
      'an open connection that was lost and opened again',
      OPEN,
      by('a', false),
      '3.5 s, phase terminating: open: the open connection to b is lost: a answered over a new one',
    ],
    [
      'an open connection that was opened again to the same server',
      OPEN,
      by('b', false),
      '3.5 s, phase terminating: open: the open connection to b is lost: b answered over a new one',
    ],
    [
      'an open connection that leads elsewhere',
      OPEN,
      by('a', true),
      '3.5 s, phase terminating: open: the open connection to b is lost: a answered over it',
    ],
  ];
  for (const [what, flow, outcome, failure] of faults) {
    it(`reports ${what}`, () => {
      outcomes.begin(REST);
      record(flow, outcome);
      assert.deepEqual(outcomes.failures, [failure]);
      assert.deepEqual([outcomes.failuresIn(ALL), outcomes.failuresIn(REST)], [0, 1]);
    });
  }

  it('lets the open connection go on to a server that has no new ones', () => {
    outcomes.begin(REST);
    record(OPEN, by('b', true));
    assert.deepEqual(outcomes.failures, []);
  });

  it('allows old and new servers while a change is being programmed, and counts them for no phase', () => {
    const before = outcomes.now;
    outcomes.change('terminating');
    record(FLOW, by('b'));
    const meanwhile = outcomes.now;
    outcomes.begin(REST);
    outcomes.record(FLOW, before, by('b'), 4500);
    outcomes.record(FLOW, meanwhile, by('b'), 4500);
    assert.deepEqual(outcomes.failures, []);
    assert.deepEqual([outcomes.count('ClusterIP', ALL, 'b'), outcomes.count('ClusterIP', REST, 'b')], [0, 0]);
    assert.deepEqual([outcomes.requests, outcomes.meanwhile], [3, 3]);
  });

  it('still reports a request that fails meanwhile, for the phase that follows', () => {
    outcomes.change('terminating');
    record(FLOW, { error: 'ECONNRESET', milliseconds: 1 });
    outcomes.begin(REST);
    const failure = '3.5 s, phase terminating, being programmed: ClusterIP: not answered: ECONNRESET';
    assert.deepEqual(outcomes.failures, [failure]);
    assert.deepEqual([outcomes.failuresIn(ALL), outcomes.failuresIn(REST)], [0, 1]);
  });

  it('reports a server with less than its share, and one without any request', () => {
    record(FLOW, by('a'), by('a'), by('a'), by('b'));
    outcomes.judgeShares([FLOW, OPEN], 4500);
    assert.deepEqual(outcomes.failures, [
      '3.5 s, phase start: ClusterIP: b answered 1 requests, and should have had 2',
      '3.5 s, phase start: open: b answered 0 requests, and should have had 1',
    ]);
  });

  it('finds even shares in order, an odd request included', () => {
    record(FLOW, by('a'), by('b'), by('a'));
    outcomes.judgeShares([FLOW], 4500);
    assert.deepEqual(outcomes.failures, []);
  });
});
