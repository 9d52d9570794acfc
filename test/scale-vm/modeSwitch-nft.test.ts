// A change of the mode under traffic, with iptables-nft, which most nodes use. Of the test machines, only QEMU has both IPVS and NAT in
// nftables. There, clients renew their connections so slowly that the drain timeout of the quicker test machines would end some.
import { selectBackend } from '../support/namespaces/iptablesBackend.js';
import { testModeSwitch } from '../support/disruptions/modeSwitchTests.js';

selectBackend('nft');
testModeSwitch('120s');
