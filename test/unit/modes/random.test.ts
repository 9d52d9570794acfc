// Random changes of 100 random clusters; the tier long tries 400 more.
import { testRandomChanges } from '../../support/clusters/randomChanges.js';

testRandomChanges(1, 100);
