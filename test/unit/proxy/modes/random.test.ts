// Random changes of random clusters; the tier long tries 400 more.
import { testRandomChanges } from '../../../support/clusters/randomChanges.js';
import { WHOLE } from '../../../support/extent.js';

testRandomChanges(1, WHOLE ? 100 : 8);
