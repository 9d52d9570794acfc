// Real packets in iptables mode with iptables-nft, compared with test/support/packets/packetTable.ts.
import { testIptablesPackets } from '../support/packets/iptablesPackets.js';

testIptablesPackets('nft');
