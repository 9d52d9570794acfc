// An agent in iptables mode has as many changes as histories of the judge have in 24 hours, and its memory and descriptors do not grow with them.
// Needs: conntrack, nftables, bridge filter, command
import { memoryTests } from '../support/judge/memoryTests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('nft');
memoryTests('iptables', 40_000);
