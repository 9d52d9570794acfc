// Random changes of 400 random clusters more than the tier unit tries.
import { testRandomChanges } from '../support/clusters/randomChanges.js';

testRandomChanges(101, 500);
