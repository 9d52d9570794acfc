import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTime, healthHandler } from '../../../../src/command/health/answers.js';
import type { Request, Response } from '../../../../src/command/servers/handler.js';
import { TrackedHealth } from '../../../support/fakes/trackedHealth.js';

const START = Date.parse('2026-11-20T17:32:31.830Z');
/** Twice ipvs.syncPeriod, in ms. */
const TIMEOUT = 60_000;

/** A health server with a manual clock. */
function setUp(synced = true) {
  let passed = 0;
  const counted: string[] = [];
  const health = new TrackedHealth(TIMEOUT, { now: () => START + passed, elapsed: () => passed });
  const handler = healthHandler(health.state, (probe, status) => counted.push(`${probe} ${status}`));
  if (synced) health.completed();
  return {
    health,
    counted,
    pass: (milliseconds: number) => {
      passed += milliseconds;
    },
    get: (path: string) => handler({ path } as Request) as Response,
  };
}

const HEADERS = { 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff' };

describe('the health server', () => {
  it('responds with 200 and no status before the first update', () => {
    const { get } = setUp();
    assert.deepEqual(get('/healthz'), {
      status: 200,
      headers: HEADERS,
      body: '{"lastUpdated":"2026-11-20T17:32:31.83Z","currentTime":"2026-11-20T17:32:31.83Z","nodeEligible":true,"healthy":true}',
    });
    assert.deepEqual(get('/livez'), {
      status: 200,
      headers: HEADERS,
      body: '{"lastUpdated":"2026-11-20T17:32:31.83Z","currentTime":"2026-11-20T17:32:31.83Z","healthy":true}',
    });
  });

  it('responds with 503 to /healthz, and 200 to /livez, until a pass is complete', () => {
    const { health, get } = setUp(false);
    health.updated(4);
    assert.equal(get('/healthz').status, 503);
    assert.equal(get('/livez').status, 200);
    health.completed();
    assert.equal(get('/healthz').status, 200);
  });

  it('lists each family, IPv4 first, with the current time as the last update while healthy', () => {
    const { health, get, pass } = setUp();
    health.updated(6);
    pass(170);
    health.updated(4);
    pass(1001);
    const status =
      '"status":{"IPv4":{"lastUpdated":"2026-11-20T17:32:32Z","healthy":true},"IPv6":{"lastUpdated":"2026-11-20T17:32:31.83Z","healthy":true}}';
    const times = '"lastUpdated":"2026-11-20T17:32:33.001Z","currentTime":"2026-11-20T17:32:33.001Z"';
    assert.equal(get('/healthz').body, `{${times},"nodeEligible":true,"healthy":true,${status}}`);
    assert.equal(get('/livez').body, `{${times},"healthy":true,${status}}`);
  });

  it('stays alive, but not healthy, while what a restart does not help waits too long', () => {
    const { health, get, pass } = setUp();
    const codes = () => ['/healthz', '/livez'].map((path) => get(path).status);
    for (const family of [4, 6] as const) health.updated(family);
    health.needsNoRestart(4);
    pass(TIMEOUT);
    assert.deepEqual(codes(), [503, 200]);
    assert.match(String(get('/healthz').body), /"healthy":false,"status":{"IPv4":{[^}]*"healthy":false}/);
    assert.match(String(get('/livez').body), /"healthy":true,"status":{"IPv4":{[^}]*"healthy":true}/);
    health.queued(4);
    pass(TIMEOUT - 1);
    assert.deepEqual(codes(), [503, 200]);
    pass(1);
    assert.deepEqual(codes(), [503, 503], 'a change has waited too long');
    health.needsNoRestart(4);
    assert.deepEqual(codes(), [503, 200], 'it is programmed');
    health.updated(4);
    assert.deepEqual(codes(), [200, 200]);
  });

  it('lists unreadable inputs, and stays healthy', () => {
    const { health, get } = setUp();
    health.updated(4);
    const before = get('/healthz');
    health.setUnread('configuration', ['config.conf']);
    health.setUnread('objects', ['web.yaml']);
    const { status, body } = get('/healthz');
    assert.equal(status, 200);
    assert.equal(body, `${String(before.body).slice(0, -1)},"unread":["web.yaml","config.conf"]}`);
    health.setUnread('configuration', []);
    assert.deepEqual(health.state().unread, ['web.yaml']);
    health.setUnread('objects', []);
    assert.deepEqual(get('/healthz'), before);
  });

  it('responds with 503 after a change has waited for the timeout, with the last update of any family', () => {
    const { health, get, pass, counted } = setUp();
    health.updated(4);
    health.updated(6);
    pass(1000);
    health.queued(6);
    pass(TIMEOUT - 1);
    health.queued(6);
    health.updated(4);
    assert.equal(get('/healthz').status, 200);
    assert.ok(health.healthy);
    pass(1);
    const status =
      '"status":{"IPv4":{"lastUpdated":"2026-11-20T17:33:32.829Z","healthy":true},"IPv6":{"lastUpdated":"2026-11-20T17:32:31.83Z","healthy":false}}';
    const times = '"lastUpdated":"2026-11-20T17:33:32.829Z","currentTime":"2026-11-20T17:33:32.83Z"';
    assert.deepEqual(get('/healthz'), {
      status: 503,
      headers: HEADERS,
      body: `{${times},"nodeEligible":true,"healthy":false,${status}}`,
    });
    assert.deepEqual(get('/livez'), {
      status: 503,
      headers: HEADERS,
      body: `{${times},"healthy":false,${status}}`,
    });
    assert.ok(!health.healthy);
    health.updated(6);
    assert.equal(get('/healthz').status, 200);
    assert.deepEqual(counted, ['healthz 200', 'healthz 503', 'livez 503', 'healthz 200']);
  });

  it('ignores a family that has not been updated, because it is starting', () => {
    const { health, get, pass } = setUp();
    health.queued(4);
    pass(2 * TIMEOUT);
    assert.equal(get('/livez').status, 200);
  });

  it('responds with 503 only to /healthz while the node is not eligible', () => {
    const { health, get, pass } = setUp();
    health.updated(4);
    health.setNodeEligible(false);
    pass(5);
    assert.deepEqual(get('/healthz'), {
      status: 503,
      headers: HEADERS,
      body: '{"lastUpdated":"2026-11-20T17:32:31.83Z","currentTime":"2026-11-20T17:32:31.835Z","nodeEligible":false,"healthy":true,"status":{"IPv4":{"lastUpdated":"2026-11-20T17:32:31.83Z","healthy":true}}}',
    });
    assert.equal(get('/livez').status, 200);
    assert.ok(health.healthy);
    health.setNodeEligible(true);
    assert.equal(get('/healthz').status, 200);
  });

  it('has the year 1 before the first update of a node that is not eligible', () => {
    const { health, get } = setUp();
    health.setNodeEligible(false);
    assert.match(`${get('/healthz').body}`, /^\{"lastUpdated":"0001-01-01T00:00:00Z",/);
  });

  it('responds with 404 to other paths, without counting them', () => {
    const { get, counted } = setUp();
    for (const path of ['/', '/healthz/', '/livez/x', '/metrics', '']) {
      const { status, body } = get(path);
      assert.deepEqual([status, body], [404, '404 page not found\n'], path);
    }
    assert.deepEqual(counted, []);
  });
});

describe('formatTime', () => {
  const cases: [milliseconds: number, text: string][] = [
    [0, '1970-01-01T00:00:00Z'],
    [10_000, '1970-01-01T00:00:10Z'],
    [1, '1970-01-01T00:00:00.001Z'],
    [10, '1970-01-01T00:00:00.01Z'],
    [100, '1970-01-01T00:00:00.1Z'],
    [START, '2026-11-20T17:32:31.83Z'],
  ];
  for (const [milliseconds, text] of cases) {
    it(`formats ${text} like Go`, () => assert.equal(formatTime(milliseconds), text));
  }
});
