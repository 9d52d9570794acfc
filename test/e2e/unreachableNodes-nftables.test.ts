// Nodes that do not answer, in nftables mode.
// Needs: conntrack, nftables, command
import { testUnreachableNodes } from '../support/failover/unreachableNodeTests.js';

testUnreachableNodes('--proxy-mode=nftables', '--nftables-layout=scalable');
