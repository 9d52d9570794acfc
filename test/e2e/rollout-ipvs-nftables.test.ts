// A rolling replacement of backends in ipvs mode with rules of nf_tables.
// Needs: ipvs, dummy device, nftables, bridge filter
import { IPVS_TABLES_ROLLOUT } from '../support/disruptions/rolloutModes.js';
import { testRollout } from '../support/disruptions/rolloutTests.js';

testRollout(IPVS_TABLES_ROLLOUT);
