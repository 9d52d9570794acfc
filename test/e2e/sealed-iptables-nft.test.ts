// An agent in iptables mode with the seccomp profile of deploy/ and one capability, with iptables-nft.
// Needs: nftables, conntrack, command, seccomp
import { selectBackend } from '../support/namespaces/iptablesBackend.js';
import { testSealedAgent } from '../support/sealing/sealedAgent.js';
import { SEALED_IPTABLES_NFT } from '../support/sealing/sealedModes.js';

selectBackend('nft');
testSealedAgent(SEALED_IPTABLES_NFT);
