// Changes between iptables mode and nftables mode under traffic, with iptables-nft.
// Needs: conntrack, nftables, bridge filter

import { testSwitches } from '../support/disruptions/switchTests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('nft');
testSwitches(['iptables', 'nftables'], '10s');
