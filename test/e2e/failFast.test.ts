// Connections with endpoints that failed, in ipvs mode.
// Needs: ipvs, dummy device
import { testFailFast } from '../support/disruptions/failFastTests.js';

testFailFast({ flags: [], resetsRemoved: true });
