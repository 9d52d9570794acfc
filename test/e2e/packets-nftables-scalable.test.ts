// Real packets in nftables mode with layout scalable, compared with test/support/packets/packetTable.ts.
// Needs: nftables, bridge filter, time
import { testNftablesPackets } from '../support/packets/nftablesPackets.js';

testNftablesPackets('scalable');
