// The processes that a running proxy starts in ipvs mode: none.
// Needs: ipvs, dummy device
import { testProcesses } from '../support/processes/processTests.js';

testProcesses('iptables', 100);
