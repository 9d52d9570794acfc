// A change of the mode under traffic, with iptables-legacy.
// Needs: ipvs, dummy device

import { testModeSwitch } from '../support/disruptions/modeSwitchTests.js';

testModeSwitch('legacy', '30s');
