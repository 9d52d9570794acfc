// The same of the programs with nftables: User Mode Linux has only its family `bridge`.
// Needs: nftables
import { runPrograms } from '../support/documents/runPrograms.js';

runPrograms((text) => text.includes('kube-netlink-proxy/nftables'));
