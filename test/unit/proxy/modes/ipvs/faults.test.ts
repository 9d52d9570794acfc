// Every operation of every recorded cluster fails once. The random clusters, which have most operations, and smaller groups of
// operations are in test/long.
import { failEveryOperation } from '../../../../support/clusters/everyFault.js';
import { sample } from '../../../../support/extent.js';
import { isRandom, scenarios } from '../../../../support/oracle/oracle.js';

failEveryOperation(
  sample(
    scenarios('ipvs').filter((recording) => !isRandom(recording)),
    4,
  ),
  20,
);
