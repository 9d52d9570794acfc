// An agent in nftables mode has as many changes as histories of the judge have in 24 hours, and does not grow.
// Needs: conntrack, nftables, bridge filter, command
import { memoryTests } from '../support/judge/memoryTests.js';

memoryTests('nftables', 40_000);
