// A rolling replacement of backends in nftables mode with layout scalable.
// Needs: conntrack, nftables, bridge filter

import { nftablesRollout } from '../support/disruptions/rolloutModes.js';
import { testRollout } from '../support/disruptions/rolloutTests.js';

testRollout(nftablesRollout('scalable'));
