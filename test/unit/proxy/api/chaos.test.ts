// Faults and changes at random, from a seed: whatever happens, the proxy ends up knowing what the server has.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Fault } from '../../../support/apiServer/answers.js';
import { agrees } from '../../../support/apiServer/cluster.js';
import { node, service, slice } from '../../../support/apiServer/objects.js';
import { NODES, SERVICES, SLICES, startBoth } from '../../../support/apiServer/scene.js';
import type { ApiServer } from '../../../support/apiServer/server.js';
import { randomFrom } from '../../../support/clusters/randomCluster.js';

/** Steps between two looks at whether both agree, and looks. */
const STEPS = 25;
const LOOKS = 8;

/** Something happens. */
async function act(server: ApiServer, random: () => number): Promise<void> {
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(values: readonly T[]) => values[below(values.length)] as T;
  const chance = random();
  if (chance < 0.6) change(server, random);
  else if (chance < 0.75)
    server.fail(pick([/limit=/, /watch=true/, /services/, /slices/, /./]), fault(random));
  else if (chance < 0.8) server.resetConnections();
  else if (chance < 0.86) server.endWatches(pick([SERVICES, SLICES, NODES]));
  else if (chance < 0.92) server.bookmark(pick([SERVICES, SLICES, NODES]));
  else if (chance < 0.96) server.store.compact();
  else {
    await server.close();
    change(server, random);
    await wait(below(60));
    await server.start();
  }
}

/** An object is created, changed or deleted. */
function change({ store }: ApiServer, random: () => number): void {
  const number = Math.floor(random() * 30);
  const name = `s${number}`;
  const address = `10.96.1.${Math.floor(random() * 200)}`;
  const kind = random();
  const label = random() < 0.1 ? { 'service.kubernetes.io/headless': '' } : {};
  const other = random() < 0.1 ? { 'service.kubernetes.io/service-proxy-name': 'x' } : {};
  const object =
    kind < 0.45
      ? service(name, random() < 0.1 ? 'None' : address, other)
      : kind < 0.9
        ? slice(name, [address], label)
        : node(random() < 0.5 ? 'node-a' : 'node-b', { address });
  const there = store.list(object.kind, ({ metadata }) => metadata.name === object.metadata.name).length > 0;
  if (there && random() < 0.4) store.delete(object);
  else store.set(object);
}

function fault(random: () => number): Fault {
  const bytes = Math.floor(random() * 400);
  const faults: Fault[] = [
    { status: 500 },
    { status: 410, reason: 'Expired' },
    { status: 503, after: 10 },
    { reset: bytes },
    { cut: bytes },
    { pieces: 1 + bytes },
    { garbage: '{"type":"MODIFIED"\n' },
    { garbage: '<html>502 Bad Gateway</html>\n' },
  ];
  return faults[Math.floor(random() * faults.length)] as Fault;
}

describe('chaos', () => {
  for (const seed of [1, 2, 3, 4]) {
    it(`of seed ${seed}`, async () => {
      const { server, follower } = await startBoth();
      const random = randomFrom(seed);
      for (let look = 0; look < LOOKS; look++) {
        for (let step = 0; step < STEPS; step++) {
          await act(server, random);
          if (random() < 0.5) await wait(Math.floor(random() * 8));
        }
        await agrees(follower, server);
      }
      // What the source itself got wrong would be told so.
      assert.deepEqual(
        follower.troubles.filter(({ error }) => error.code === 'ERR_UNEXPECTED'),
        [],
      );
      assert.deepEqual([follower.problems, follower.synced], [[], 1]);
      assert.ok(follower.troubles.length > 10, `${follower.troubles.length} troubles`);
    });
  }
});
