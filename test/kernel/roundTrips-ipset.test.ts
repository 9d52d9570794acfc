// What ipset lists is deleted and written again, with ipset(8) as witness.
// Needs: ipset
import { after, describe } from 'node:test';
import { openIpset } from '../../src/kernel/ipset/index.js';
import { makeNamespace } from '../support/namespaces/netns.js';
import { ipsetRoundTrips } from '../support/roundTrips/ipset.js';

const namespace = makeNamespace();
const ipset = await openIpset({ netns: namespace.path });
const revisions = new Map((await ipset.types()).map(({ name, revisions: [, last] }) => [name, last]));
after(async () => {
  await ipset.close();
  namespace.remove();
});

describe('ipset', () => {
  ipsetRoundTrips(
    async () => ipset,
    ({ set, revision = 0 }) => (revisions.get(set.type) ?? -1) >= revision,
    () => namespace.run('ipset', 'save'),
  );
});
