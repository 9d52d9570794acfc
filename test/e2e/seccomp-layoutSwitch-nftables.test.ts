// The tests of layoutSwitch-nftables.test.ts, with the proxy under the seccomp profile of deploy/.
// Needs: conntrack, nftables, bridge filter, seccomp
import { seccompProfile, underProfile } from '../support/sealing/seccompProfile.js';

process.env['KNP_LAUNCHER'] ??= underProfile(seccompProfile()).join(' ');
await import('./layoutSwitch-nftables.test.js');
