// An endpoint change makes the same system calls with 10 000 Services as with 100.
// Needs: ipvs, dummy device, command
import { testSystemCalls } from '../support/processes/systemCallTests.js';

testSystemCalls(10_000);
