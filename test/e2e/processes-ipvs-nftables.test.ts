// The processes that a running proxy starts in ipvs mode with rules of nf_tables: none.
// Needs: ipvs, dummy device, nftables
import { testProcesses } from '../support/processes/processTests.js';

testProcesses('nftables', 20);
