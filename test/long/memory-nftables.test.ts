// An agent in nftables mode has as many changes as histories of the judge have in 24 hours, and its memory and descriptors do not grow with them.
// Needs: conntrack, nftables, bridge filter, command
import { memoryTests } from '../support/judge/memoryTests.js';

memoryTests('nftables', 40_000);
