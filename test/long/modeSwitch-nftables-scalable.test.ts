// Changes between ipvs mode and nftables mode under traffic, with the layout scalable.
// Needs: ipvs, dummy device, nftables
import { testSwitches } from '../support/disruptions/switchTests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('nft');
testSwitches(['ipvs', 'nftables scalable'], '30s');
