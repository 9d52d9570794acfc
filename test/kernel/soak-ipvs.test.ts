// The same as soak.test.ts for IPVS, with fewer operations: they take longer in a virtual machine.
// Needs: ipvs, dummy device
import { soakTests } from '../support/measures/soakTests.js';

soakTests(['ipvs'], 5000, 50);
