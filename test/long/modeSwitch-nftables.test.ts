// Changes between ipvs mode and nftables mode under traffic, with the layout of kube-proxy.
// Needs: ipvs, dummy device, nftables
import { testSwitches } from '../support/disruptions/switchTests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('nft');
testSwitches(['ipvs', 'nftables'], '30s');
