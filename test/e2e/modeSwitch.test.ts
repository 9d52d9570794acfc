// A change of the mode under traffic, with iptables-legacy.
import { selectBackend } from '../support/iptablesBackend.js';
import { testModeSwitch } from '../support/modeSwitchTests.js';

selectBackend('legacy');
testModeSwitch('10s');
