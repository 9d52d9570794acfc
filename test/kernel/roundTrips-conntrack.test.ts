// What conntrack lists is deleted and added again, with conntrack(8) as witness.
// Needs: conntrack, nat
import { after, describe } from 'node:test';
import { openConntrack } from '../../src/kernel/conntrack/index.js';
import { TrackingNamespace } from '../support/namespaces/flows.js';
import { conntrackRoundTrips } from '../support/roundTrips/conntrack.js';

const tracking = new TrackingNamespace(`knp-round-${process.pid}`);
const conntrack = await openConntrack({ netns: tracking.path });
after(async () => {
  await conntrack.close();
  await tracking.delete();
});

describe('conntrack', () => {
  conntrackRoundTrips(
    async () => {
      await conntrack.flush({ confirm: 'delete every flow' });
      return conntrack;
    },
    () => tracking.witness().map((line) => line.replace(/ id=\d+$/, '')),
  );
});
