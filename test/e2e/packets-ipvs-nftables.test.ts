// Real packets in ipvs mode with rules of nf_tables, compared with the same table as with those of iptables.
// Needs: ipvs, nftables, dummy device, bridge filter
import { testIpvsPackets } from '../support/packets/ipvsPackets.js';

testIpvsPackets('nftables');
