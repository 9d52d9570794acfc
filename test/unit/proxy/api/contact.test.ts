// The contact with the API server: when it is lost, and what shows that the server is heard.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Contact, type ContactState } from '../../../../src/proxy/api/contact.js';
import { Follower, QUICK, until } from '../../../support/apiServer/cluster.js';
import { NODES, SERVICES, SLICES, startServer, watches } from '../../../support/apiServer/scene.js';
import { closeAfter } from '../../../support/closeAfter.js';

const ERROR = new Error('ECONNREFUSED');

describe('contact', () => {
  const begin = ({ timers }: TestContext['mock']) => {
    timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000 });
    const changes: [from: ContactState, to: ContactState][] = [];
    const contact = closeAfter(
      new Contact('services', (now, before) => changes.push([before.state, now.state]), 30_000),
    );
    return { contact, changes };
  };

  it('is lost 30 s after the first failure, and not before; further failures neither hasten nor postpone it', (t) => {
    const { contact, changes } = begin(t.mock);
    contact.heard();
    t.mock.timers.tick(100_000);
    contact.failed(ERROR);
    t.mock.timers.tick(29_000);
    contact.heard();
    contact.failed(ERROR);
    t.mock.timers.tick(20_000);
    contact.failed(new Error('ERR_TIMEOUT'));
    t.mock.timers.tick(9_999);
    assert.deepEqual(changes, [['starting', 'current']]);
    t.mock.timers.tick(1);
    assert.deepEqual(contact.now, {
      ...{ resource: 'services', state: 'lost', since: 160_000, lastContact: 130_000, error: 'ERR_TIMEOUT' },
    });
    contact.failed(ERROR);
    t.mock.timers.tick(90_000);
    contact.heard();
    assert.deepEqual(changes.slice(1), [
      ['current', 'lost'],
      ['lost', 'current'],
    ]);
    assert.deepEqual([contact.now.error, contact.now.lastContact], [undefined, 250_000]);
  });

  it('is lost 30 s after the start, or after the last page of the first list', (t) => {
    const { contact, changes } = begin(t.mock);
    t.mock.timers.tick(20_000);
    contact.heard(false);
    t.mock.timers.tick(29_999);
    assert.deepEqual(changes, []);
    t.mock.timers.tick(1);
    assert.deepEqual(changes, [['starting', 'lost']]);
    assert.equal(contact.now.error, 'no answer');
  });

  it('with a server that does not have the resource is not lost', (t) => {
    const { contact, changes } = begin(t.mock);
    contact.failed(ERROR);
    contact.absent();
    t.mock.timers.tick(100_000);
    assert.deepEqual(changes, [['starting', 'absent']]);
  });
});

describe('the server is heard', () => {
  const CHECK = /resourceVersionMatch=NotOlderThan/;

  it('if a watch is open and not silent, though it refuses lists', async () => {
    const server = await startServer();
    const check = { interval: [5, 10], pause: 5 } as const;
    const { source, follower } = await Follower.open(
      { master: server.url },
      { times: { ...QUICK, lost: 20, check } },
    );
    closeAfter(follower).start();
    await watches(server);
    await until('the Node is watched', () => server.watching(NODES) === 1);
    server.lasting = { matches: CHECK, fault: { status: 500 } };
    await until('it was refused several times', () => follower.troubles.length >= 6);
    const contacts = source.contacts();
    assert.deepEqual(
      [...new Set(contacts.map(({ state, error }) => `${state} ${error}`))],
      ['current undefined'],
    );
  });

  it('if it answers a question after a silence without bookmarks', async () => {
    const server = await startServer();
    const { source, follower } = await Follower.open(
      { master: server.url },
      { times: { ...QUICK, silence: 50, check: { interval: [600_000, 600_000], pause: 5 } } },
    );
    closeAfter(follower).start();
    await watches(server);
    const asked = (path: string) =>
      server.requests.filter((request) => request.path === path && 'resourceVersionMatch' in request.query);
    await until('it is asked', () => [SERVICES, SLICES, NODES].every((path) => asked(path).length >= 2));
    assert.deepEqual(follower.troubles, []);
    assert.ok(source.contacts().every(({ state }) => state === 'current'));
  });
});
