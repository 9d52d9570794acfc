// Tables that another program flushes while the proxy runs in iptables mode, with iptables-nft.
// Needs: conntrack, nftables, bridge filter
import { testFlushedTables } from '../support/disruptions/flushedTables.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('nft');
testFlushedTables(0);
