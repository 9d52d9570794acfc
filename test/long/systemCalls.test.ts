// An endpoint change makes the same system calls with 10 000 Services as with 100.
import { testSystemCalls } from '../support/processes/systemCallTests.js';

testSystemCalls(10_000);
