// Real packets in ipvs mode, compared with test/support/packets/packetTable.ts.
// Needs: ipvs, dummy device
import { testIpvsPackets } from '../support/packets/ipvsPackets.js';

testIpvsPackets('iptables');
