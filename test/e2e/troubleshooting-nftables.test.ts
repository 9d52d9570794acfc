// The commands of docs/troubleshooting.md that are for nftables mode.
// Needs: nftables, bridge filter
import { testPage } from '../support/documents/pageExamples.js';

testPage('nftables');
