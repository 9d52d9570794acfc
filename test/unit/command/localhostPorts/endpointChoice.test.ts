// The endpoint of each connection: at random, or with session affinity the last one.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EndpointChoice } from '../../../../src/command/localhostPorts/endpointChoice.js';
import { AddressPorts } from '../../../../src/kernel/net/addressPorts.js';

const list = (...texts: string[]) => AddressPorts.ofTexts(4, texts) as AddressPorts;
const THREE = list('10.0.0.1:80', '10.0.0.2:80', '10.0.0.3:80');

/** A choice with the clock and the random numbers of the test. */
function choice(endpoints: AddressPorts, affinitySeconds: number) {
  const chance = { time: 0, number: 0 };
  const made = new EndpointChoice(
    { endpoints, affinitySeconds },
    { now: () => chance.time, random: () => chance.number },
  );
  const next = (number: number, time = chance.time) => {
    Object.assign(chance, { number, time });
    const { address, port } = made.next();
    return `${address}:${port}`;
  };
  return { made, next };
}

it('without affinity, each connection has a random endpoint', () => {
  const { next } = choice(THREE, 0);
  const found = [0, 0.34, 0.99999, 0.5, 0.1].map((number) => next(number));
  assert.deepEqual(found, ['10.0.0.1:80', '10.0.0.2:80', '10.0.0.3:80', '10.0.0.2:80', '10.0.0.1:80']);
});

it('with affinity, the endpoint stays, and each connection prolongs it', () => {
  const { next } = choice(THREE, 10);
  assert.equal(next(0.99, 0), '10.0.0.3:80');
  assert.equal(next(0, 10_000), '10.0.0.3:80');
  assert.equal(next(0, 20_000), '10.0.0.3:80');
  assert.equal(next(0, 30_001), '10.0.0.1:80');
});

it('an endpoint that is gone is replaced, and others keep their place', () => {
  const { made, next } = choice(THREE, 10);
  assert.equal(next(0.99), '10.0.0.3:80');
  made.update({ endpoints: list('10.0.0.2:80', '10.0.0.3:80', '10.0.0.9:80'), affinitySeconds: 10 });
  assert.equal(next(0), '10.0.0.3:80');
  made.update({ endpoints: list('10.0.0.2:80'), affinitySeconds: 10 });
  assert.equal(next(0), '10.0.0.2:80');
});

it('another time of affinity, or none, ends the selection', () => {
  const { made, next } = choice(THREE, 10);
  assert.equal(next(0.99), '10.0.0.3:80');
  made.update({ endpoints: THREE, affinitySeconds: 20 });
  assert.equal(next(0), '10.0.0.1:80');
  made.update({ endpoints: THREE, affinitySeconds: 0 });
  assert.equal(next(0.5), '10.0.0.2:80');
  assert.equal(next(0.99), '10.0.0.3:80');
});
