// A change of the mode under traffic, with iptables-nft, which most nodes use.
import { selectBackend } from '../support/iptablesBackend.js';
import { testModeSwitch } from '../support/modeSwitchTests.js';

selectBackend('nft');
testModeSwitch();
