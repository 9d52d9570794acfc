// Changes between ipvs mode and nftables mode under traffic, with the layout of kube-proxy.
// Of the test machines, only QEMU has both IPVS and NAT in nftables. There, clients renew their connections so slowly that a shorter drain
// timeout would end some, and a start takes minutes beside other tests.
// Needs: ipvs, dummy device, nftables

import { testSwitches } from '../support/disruptions/switchTests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('nft');
testSwitches(['ipvs', 'nftables'], '120s', 600_000);
