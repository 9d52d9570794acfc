// Rounds of questions to neighbours.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NeighbourRounds } from '../../../../src/proxy/nodes/neighbourRounds.js';

/** A neighbour that has answered a first question, at 0 ms. */
function asked() {
  const rounds = new NeighbourRounds();
  rounds.add('node-b', 'eth0', '10.0.0.2');
  const round = (now: number) => rounds.round(now).verdicts;
  const states = (now: number) =>
    rounds.round(now).operations.map((each) => each.map((it) => it.neighbour.state));
  const answer = () => rounds.heard('eth0', '10.0.0.2', 'reachable').verdict;
  assert.deepEqual(states(0), [['none']], 'its hardware address is asked for');
  assert.deepEqual([rounds.answered, rounds.heard('eth0', '10.0.0.2', 'reachable')], [0, { isFirst: true }]);
  assert.equal(rounds.answered, 1);
  return { rounds, round, states, answer };
}

const verdict = (reachable: boolean) => ({ node: 'node-b', address: '10.0.0.2', reachable });

it('five questions in a row without an answer condemn it, and the first answer takes that back', () => {
  const { rounds, round, answer } = asked();
  for (const now of [1000, 1300, 1600, 1900, 2200]) assert.deepEqual(round(now), []);
  assert.deepEqual(round(2500), [verdict(false)]);
  assert.deepEqual(round(2800), [], 'once');
  rounds.heard('eth0', '10.0.0.2', 'failed');
  assert.deepEqual(answer(), verdict(true));
  assert.equal(answer(), undefined);
});

it('one that has never answered is not judged', () => {
  const rounds = new NeighbourRounds();
  rounds.add('node-b', 'eth0', '10.0.0.2');
  for (let now = 0; now < 60_000; now += 300) assert.deepEqual(rounds.round(now).verdicts, []);
});

it('an answer ends a series, and another neighbour is not its', () => {
  const { rounds, round, answer } = asked();
  for (let series = 1; series < 10; series++) {
    for (let i = 0; i < 5; i++) assert.deepEqual(round(series * 10_000 + i * 300), []);
    answer();
  }
  for (const [link, address] of [
    ['eth1', '10.0.0.2'],
    ['eth0', '10.0.0.3'],
  ] as const)
    assert.deepEqual(rounds.heard(link, address, 'reachable'), { isFirst: false });
});

it('time in which a process was stopped does not count, nor does a question that the kernel refused', () => {
  const { rounds, round } = asked();
  for (const now of [1000, 1300]) round(now);
  assert.deepEqual(round(600_000), []);
  for (let now = 601_000; now < 660_000; now += 1000) {
    assert.deepEqual(round(now), []);
    rounds.refused('eth0', '10.0.0.2');
  }
});

it('questions are forgiven whose answers may have been lost', () => {
  const { rounds, round } = asked();
  for (const now of [1000, 1300, 1600, 1900, 2200]) round(now);
  rounds.forgive();
  assert.deepEqual(round(3200), []);
});

it('is asked once a second, and each 300 ms while it owes an answer; the kernel asks at once', () => {
  const { rounds, states, answer } = asked();
  assert.deepEqual([rounds.dueIn(0), rounds.dueIn(999)], [1000, 1]);
  assert.deepEqual(states(999), []);
  assert.deepEqual(states(1000), [['probe']]);
  assert.equal(rounds.dueIn(1000), 300);
  assert.deepEqual([states(1299), states(1300)], [[], [['stale', 'probe']]]);
  rounds.heard('eth0', '10.0.0.2', 'failed');
  assert.deepEqual(states(1600), [['none']]);
  answer();
  assert.equal(rounds.dueIn(1600), 1000);
  rounds.heard('eth0', '10.0.0.2', undefined);
  assert.deepEqual(states(2600), [['none']], 'the kernel has forgotten it');
  rounds.remove('eth0', '10.0.0.2');
  assert.deepEqual([rounds.size, states(9999)], [0, []]);
});
