// An agent in ipvs mode with rules of nf_tables, with the seccomp profile of deploy/ and one capability.
// Needs: ipvs, nftables, dummy device, command, seccomp
import { testSealedAgent } from '../support/sealing/sealedAgent.js';
import { SEALED_IPVS_TABLES } from '../support/sealing/sealedModes.js';

testSealedAgent(SEALED_IPVS_TABLES);
