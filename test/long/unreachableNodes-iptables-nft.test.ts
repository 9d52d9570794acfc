// Nodes that do not answer, in iptables mode with iptables-nft.
// Needs: conntrack, nftables, command
import { testUnreachableNodes } from '../support/failover/unreachableNodeTests.js';

testUnreachableNodes('--proxy-mode=iptables');
