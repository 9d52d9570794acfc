// A change of the mode under traffic, on a node that is overloaded: other processes want several times the CPU that there is. Clients
// then renew their connections slowly, so that the drain timeout is longer than on an idle node.
// Needs: ipvs, dummy device, idle

import { closeAfter } from '../support/closeAfter.js';
import { testModeSwitch } from '../support/disruptions/modeSwitchTests.js';
import { startBusyLoops } from '../support/processes/busyLoops.js';

const LOOPS = 4;

closeAfter(startBusyLoops(LOOPS));
testModeSwitch('legacy', '120s');
