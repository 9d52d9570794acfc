// A change of the mode under traffic, on a node that is overloaded: other processes want several times the CPU that there is. Clients
// then renew their connections slowly, so that the drain timeout is longer than on an idle node.

import { startBusyLoops } from '../support/busyLoops.js';
import { closeAfter } from '../support/closeAfter.js';
import { selectBackend } from '../support/iptablesBackend.js';
import { testModeSwitch } from '../support/modeSwitchTests.js';

const LOOPS = 4;

selectBackend('legacy');
closeAfter(startBusyLoops(LOOPS));
testModeSwitch('120s');
