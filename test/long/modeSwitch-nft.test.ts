// A change of the mode under traffic, with iptables-nft, which most nodes use.
// Needs: ipvs, dummy device, nftables
import { testModeSwitch } from '../support/disruptions/modeSwitchTests.js';

testModeSwitch('nft', '30s');
