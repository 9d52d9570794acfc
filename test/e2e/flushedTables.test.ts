// Tables that another program flushes while the proxy runs in iptables mode, with iptables-nft.
import { testFlushedTables } from '../support/flushedTables.js';
import { selectBackend } from '../support/iptablesBackend.js';

selectBackend('nft');
testFlushedTables(0);
