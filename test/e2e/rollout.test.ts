// A rolling replacement of backends in ipvs mode.
import { IPVS_ROLLOUT } from '../support/rolloutModes.js';
import { testRollout } from '../support/rolloutTests.js';

testRollout(IPVS_ROLLOUT);
