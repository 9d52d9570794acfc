// The recordings of iptables mode on a real kernel, with iptables-nft.
// Needs: conntrack, nftables
import { judgeIptables } from '../support/oracle/judgeIptables.js';

judgeIptables('nft');
