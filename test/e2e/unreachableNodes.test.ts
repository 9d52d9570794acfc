// Nodes that do not answer, in ipvs mode.
// Needs: ipvs, dummy device, iptables-legacy, command
import { testUnreachableNodes } from '../support/failover/unreachableNodeTests.js';

testUnreachableNodes('--proxy-mode=ipvs');
