// A rolling replacement of backends in ipvs mode.
// Needs: ipvs, dummy device
import { IPVS_ROLLOUT } from '../support/disruptions/rolloutModes.js';
import { testRollout } from '../support/disruptions/rolloutTests.js';

testRollout(IPVS_ROLLOUT);
