// The small parts of the API source.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { patience, readStatus } from '../../../../src/proxy/api/client.js';
import { ApiError, asApiError, redact, refusalText } from '../../../../src/proxy/api/error.js';
import { RateLimit } from '../../../../src/proxy/api/rateLimit.js';
import { BACKOFF, RetryPace } from '../../../../src/proxy/api/retryPace.js';

describe('the pace of retries', () => {
  const failure = (facts: object) =>
    new ApiError({ code: 'ERR_STATUS', operation: 'watch services', ...facts });
  const reset = failure({ code: 'ECONNRESET' });
  const paceOf = (random = 0) => new RetryPace({ repeat: 1_000, backoff: BACKOFF }, () => random);

  it("is client-go's for closed connections: ten times after a second, then one pause that doubles", () => {
    const pace = paceOf();
    const pauses = Array.from({ length: 33 }, () => pace.next(reset));
    const ten = Array(10).fill(1_000);
    assert.deepEqual(pauses, [...ten, 800, ...ten, 1600, ...ten, 3200]);
    const longest = paceOf(0.999);
    assert.ok(longest.next(reset) < 1_500);
    let [outage, pause] = [0, 0];
    for (const late = paceOf(0.999); outage < 20_000; outage += pause) pause = late.next(reset);
    assert.ok(outage < 22_000, `${outage} ms until the first try after an outage of 20 s`);
  });

  it('backs off at once when a server refuses connections, and when a list was answered in part', () => {
    const refused = failure({ code: 'ECONNREFUSED' });
    for (const next of [
      (pace: RetryPace) => pace.next(refused),
      (pace: RetryPace) => pace.next(reset, true),
    ]) {
      const pace = paceOf();
      assert.deepEqual(
        Array.from({ length: 4 }, () => next(pace)),
        [800, 1600, 3200, 6400],
      );
    }
  });

  it('is the pause that the server asks for, ten times, when it is busy or failing', () => {
    for (const status of [429, 503]) {
      const pace = paceOf();
      const asked = failure({ status, retryAfter: 2_000 });
      const pauses = Array.from({ length: 13 }, () => pace.next(asked));
      assert.deepEqual(pauses, Array(13).fill(2_000));
      assert.deepEqual([pace.next(failure({ status }))], [1_600], 'the eleventh is the back-off');
    }
    assert.equal(paceOf().next(failure({ status: 410, retryAfter: 100 })), 800);
  });

  it('starts over after a success', () => {
    const pace = paceOf();
    for (let i = 0; i < 12; i++) pace.next(reset);
    pace.reset();
    assert.deepEqual(
      [...Array.from({ length: 11 }, () => pace.next(reset))],
      [...Array(10).fill(1_000), 800],
    );
  });
});

describe('the rate limit', () => {
  it('lets a burst through, then one at a time', async () => {
    let now = 0;
    const limit = new RateLimit({ qps: 2, burst: 2 }, () => now);
    const took = async (takes: number) => {
      const started = performance.now();
      for (let i = 0; i < takes; i++) await limit.take();
      return performance.now() - started;
    };
    // Without a timer: however slow the machine is.
    const atOnce = async () => {
      let taken = false;
      void limit.take().then(() => {
        taken = true;
      });
      await turn();
      return taken;
    };
    assert.deepEqual([await atOnce(), await atOnce()], [true, true]);
    assert.ok((await took(1)) >= 490);
    now = 60_000;
    assert.deepEqual([await atOnce(), await atOnce()], [true, true], 'it is full again');
    assert.ok((await took(1)) >= 490, 'and no fuller');
    await assert.rejects(limit.take(AbortSignal.abort()), { name: 'AbortError' });
  });

  it('keeps no place for aborted requests', async () => {
    const limit = new RateLimit({ qps: 2, burst: 1 }, () => 0);
    await limit.take();
    for (let i = 0; i < 10; i++) {
      const end = new AbortController();
      const waiting = limit.take(end.signal);
      end.abort();
      await assert.rejects(waiting, { name: 'AbortError' });
    }
    const started = performance.now();
    await limit.take();
    assert.ok(performance.now() - started < 5_000, 'one place, and not eleven');
  });

  it('takes zero for the default, and less for none', async () => {
    const none = new RateLimit({ qps: -1, burst: 1 });
    let taken = 0;
    for (let i = 0; i < 1000; i++) void none.take().then(() => taken++);
    await turn();
    assert.equal(taken, 1000, 'none waits');
    const usual = new RateLimit({ qps: 0, burst: 0 }, () => 0);
    for (let i = 0; i < 10; i++) await usual.take();
    const end = new AbortController();
    const waiting = usual.take(end.signal);
    end.abort();
    await assert.rejects(waiting, { name: 'AbortError' });
  });
});

describe('errors', () => {
  it('show no secret', () => {
    const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';
    const key = '-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----';
    const text = `GET https://u:p@host/x with Authorization: Bearer abc.def, ${token}, ${key} done`;
    assert.equal(
      redact(text),
      'GET https://[redacted]@host/x with Authorization: Bearer [redacted], [redacted], [redacted] done',
    );
    assert.doesNotMatch(asApiError(new Error(`bad ${token}`), 'x').message, /eyJ/);
  });

  it('start with their code, and keep that of the system', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const several = new AggregateError([new Error('x'), refused]);
    for (const thrown of [refused, several]) {
      const error = asApiError(thrown, 'GET x');
      assert.equal(error.message, 'ECONNREFUSED: GET x: connect ECONNREFUSED');
      assert.equal(asApiError(error, 'other'), error);
    }
    assert.equal(asApiError('text', 'GET x').message, 'ERR_UNEXPECTED: GET x: text');
  });

  it('have the status, the reason and the message of a refusal, each once', () => {
    assert.equal(refusalText(401, 'Unauthorized', 'Unauthorized'), '401 Unauthorized');
    assert.equal(
      refusalText(403, 'nodes is forbidden: no right', 'Forbidden'),
      '403 nodes is forbidden: no right',
    );
    assert.equal(
      refusalText(410, 'too old resource version: 1 (2)', 'Expired'),
      '410 Expired: too old resource version: 1 (2)',
    );
    assert.equal(refusalText(503, 'Service Unavailable'), '503 Service Unavailable');
    assert.equal(refusalText(410, '', 'Gone'), '410 Gone');
    assert.equal(refusalText(500, ''), '500');
  });

  it('know when a version is too old', () => {
    const error = (facts: object) => new ApiError({ code: 'ERR_STATUS', operation: 'x', ...facts });
    assert.ok(error({ status: 410 }).expired);
    assert.ok(error({ status: 500, reason: 'Expired' }).expired);
    assert.equal(error({ status: 500 }).expired, false);
  });

  it('read a Status, and a pause of five minutes at most', () => {
    assert.deepEqual(
      readStatus({ kind: 'Status', message: 'm', reason: 'r', details: { retryAfterSeconds: 3 } }),
      { message: 'm', reason: 'r', retryAfterSeconds: 3, tooLarge: false },
    );
    const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
    assert.equal(readStatus({ kind: 'Status', details: { causes } }).tooLarge, true);
    const nothing = { message: '', reason: '', retryAfterSeconds: undefined, tooLarge: false };
    for (const raw of [undefined, 'x', {}, { kind: 'Pod', message: 'm' }]) {
      assert.deepEqual(readStatus(raw), nothing);
    }
    assert.deepEqual(['2', 2, '9e9', '0', -1, undefined, null, 'Mon'].map(patience), [
      2_000,
      2_000,
      300_000,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
