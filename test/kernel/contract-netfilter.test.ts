// The kernel keeps the contracts that test/unit/kernel/testing/contract.test.ts holds the fakes to: ipset, conntrack and bridges.
// Needs: conntrack, ipset, nat
import { release } from 'node:os';
import { after, afterEach, before, describe } from 'node:test';
import { openConntrack } from '../../src/kernel/conntrack/index.js';
import { openIpset } from '../../src/kernel/ipset/index.js';
import { openRtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { conntrackContract } from '../support/contract/conntrack.js';
import { ipsetContract } from '../support/contract/ipset.js';
import { rtnetlinkContract } from '../support/contract/rtnetlink.js';
import { rtnetlinkObjectsContract } from '../support/contract/rtnetlinkObjects.js';
import { TrackingNamespace } from '../support/namespaces/flows.js';
import { emptyNamespaces } from '../support/namespaces/netns.js';

const namespaces = emptyNamespaces();
afterEach(() => namespaces.remove());

describe('ipset', () =>
  ipsetContract(async () => namespaces.keep(await openIpset({ netns: namespaces.add() }))));
describe('rtnetlink', () => {
  rtnetlinkContract(async () => namespaces.keep(await openRtnetlink({ netns: namespaces.add() })), 'bridge');
  const [major = 0, minor = 0] = release().split('.').map(Number);
  rtnetlinkObjectsContract(
    async () => namespaces.keep(await openRtnetlink({ netns: namespaces.add() })),
    major > 6 || (major === 6 && minor >= 2),
  );
});
describe('conntrack', () => {
  let tracking: TrackingNamespace;
  before(() => {
    tracking = new TrackingNamespace(`knp-contract-${process.pid}`);
  });
  after(() => tracking.delete());
  conntrackContract(async (...datagrams) => {
    const conntrack = namespaces.keep(await openConntrack({ netns: tracking.path }));
    tracking.conntrack('-F');
    await tracking.send(...datagrams);
    return conntrack;
  });
});
