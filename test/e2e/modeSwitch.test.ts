// A change of the mode under traffic, with iptables-legacy.
// Needs: ipvs, dummy device

import { testModeSwitch } from '../support/disruptions/modeSwitchTests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('legacy');
testModeSwitch('30s');
