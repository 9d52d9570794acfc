// Real packets in nftables mode, compared with test/support/packets/packetTable.ts.
// Needs: nftables, bridge filter
import { testNftablesPackets } from '../support/packets/nftablesPackets.js';

testNftablesPackets('kube-proxy');
