// The kernel keeps the contracts that test/unit/kernel/testing/contract.test.ts holds the fakes to: IPVS and dummy links.
// Needs: ipvs, dummy device
import { afterEach, describe } from 'node:test';
import { openIpvs } from '../../src/kernel/ipvs/index.js';
import { openRtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { ipvsContract } from '../support/contract/ipvs.js';
import { serverListsContract } from '../support/contract/ipvsServerLists.js';
import { rtnetlinkContract } from '../support/contract/rtnetlink.js';
import { rtnetlinkKindsContract } from '../support/contract/rtnetlinkKinds.js';
import { rtnetlinkStatesContract } from '../support/contract/rtnetlinkStates.js';
import { emptyNamespaces } from '../support/namespaces/netns.js';

const namespaces = emptyNamespaces();
afterEach(() => namespaces.remove());

describe('IPVS', () => {
  const open = async () => namespaces.keep(await openIpvs({ netns: namespaces.add('up') }));
  ipvsContract(open);
  serverListsContract(open);
});
describe('rtnetlink', () => {
  rtnetlinkContract(async () => namespaces.keep(await openRtnetlink({ netns: namespaces.add() })), 'dummy');
  rtnetlinkStatesContract(async () => namespaces.keep(await openRtnetlink({ netns: namespaces.add() })));
  rtnetlinkKindsContract(async () => namespaces.keep(await openRtnetlink({ netns: namespaces.add() })));
});
