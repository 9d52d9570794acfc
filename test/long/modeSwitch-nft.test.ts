// A change of the mode under traffic, with iptables-nft, which most nodes use.
// Needs: ipvs, dummy device, nftables
import { testModeSwitch } from '../support/disruptions/modeSwitchTests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('nft');
testModeSwitch('30s');
