// A change of the mode under traffic, with iptables-nft, which most nodes use. Of the test machines, only QEMU has both IPVS and NAT in
// nftables. There, clients renew their connections so slowly that the drain timeout of the quicker test machines would end some.
// Needs: ipvs, dummy device, nftables, idle

import { testModeSwitch } from '../support/disruptions/modeSwitchTests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('nft');
testModeSwitch('120s');
