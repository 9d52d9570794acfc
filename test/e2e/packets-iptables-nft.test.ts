// Real packets in iptables mode with iptables-nft, compared with test/support/packets/packetTable.ts.
// Needs: nftables, bridge filter
import { testIptablesPackets } from '../support/packets/iptablesPackets.js';

testIptablesPackets('nft');
