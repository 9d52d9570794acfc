// The kernel keeps the contract of nftables that test/unit/kernel/testing/contract.test.ts holds the fake to.
// Needs: nftables
import { afterEach, describe } from 'node:test';
import { openNftables } from '../../src/kernel/nftables/index.js';
import { nftablesContract } from '../support/contract/nftables.js';
import { nftablesElementBytesContract } from '../support/contract/nftablesElementBytes.js';
import { nftablesObjectsContract } from '../support/contract/nftablesObjects.js';
import { emptyNamespaces } from '../support/namespaces/netns.js';

const namespaces = emptyNamespaces();
afterEach(() => namespaces.remove());

const open = async () => namespaces.keep(await openNftables({ netns: namespaces.add() }));

describe('nftables', () => {
  nftablesContract(open);
  nftablesObjectsContract(open);
  nftablesElementBytesContract(open);
});
