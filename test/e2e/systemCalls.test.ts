// An endpoint change makes the same system calls with 1000 Services as with 100; the tier long tries 10 000.
// Needs: ipvs, dummy device, command
import { testSystemCalls } from '../support/processes/systemCallTests.js';

testSystemCalls(1000);
