// Real packets in iptables mode with iptables-nft, compared with test/support/packetTable.ts.
import { testIptablesPackets } from '../support/iptablesPackets.js';

testIptablesPackets('nft');
