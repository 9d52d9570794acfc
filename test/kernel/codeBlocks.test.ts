// The programs in the documents whose code block has the word `run`: each runs, and does not fail.
// Needs: ipvs, dummy device
import { runPrograms } from '../support/documents/runPrograms.js';

// Those with nftables need another test machine (codeBlocks-nftables.test.ts).
runPrograms((text) => !text.includes('kube-netlink-proxy/nftables'));
